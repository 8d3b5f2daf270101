package acceptance

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/statusz"
)

// readEvacuation makes every server of the test report what is in the Secret of region us, as those of us do.
func (o *operator) readEvacuation(network string) {
	o.t.Helper()
	reported := &statusz.Evacuated{}
	// The operator may delete the Secret at any time, so it is read once.
	if secret := new(corev1.Secret); o.exists(secret, render.EvacuationSecret(network, "us")) {
		var file auth.EvacuationFile
		require.NoError(o.t, json.Unmarshal(secret.Data[render.EvacuationFile], &file))
		for _, region := range file.Regions {
			read := statusz.EvacuatedRegion{Region: region.Region}
			for _, key := range region.ServerKeys {
				read.ServerKeys = append(read.ServerKeys, statusz.Key{ID: key.ID, Valid: true})
			}
			reported.Regions = append(reported.Regions, read)
		}
	}
	o.servers.all(func(s *server) { s.status.Evacuated = reported })
}

// evacuate sets or removes evacuateTo of region eu.
func (o *operator) evacuate(network string, to v1alpha1.RegionCode) {
	o.t.Helper()
	o.edit(network, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[1].EvacuateTo = to })
}

// TestEvacuation loses the cluster of region eu, evacuates it to us, rolls a change out in the meantime, and returns.
func TestEvacuation(t *testing.T) {
	o, eu, sg := hub(t)
	sn := inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu, "sg": sg})
	sn.Spec.Rollout.Soak = "0s"
	o.apply(sn)
	o.migrate(sn.Name)
	serveAll(sn.Name, map[v1alpha1.RegionCode]*operator{"us": o, "eu": eu.operator, "sg": sg.operator})
	o.readEvacuation(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.condition(sn.Name, v1alpha1.ConditionEvacuationsApplied, "True", v1alpha1.ReasonNoEvacuation)
	require.False(t, o.exists(&corev1.Service{}, "acme-eu"))

	eu.gate.shut(true)
	o.condition(sn.Name, v1alpha1.ConditionReady, "False", v1alpha1.ReasonClusterUnreachable)
	o.evacuate(sn.Name, "us")
	o.condition(sn.Name, v1alpha1.ConditionEvacuationsApplied, "False", v1alpha1.ReasonEvacuationStarting)
	o.condition(sn.Name, v1alpha1.ConditionReconciling, "True", v1alpha1.ReasonEvacuationStarting)
	require.Equal(t, render.RegionSelector("acme", "us"), get(o, &corev1.Service{}, "acme-eu").Spec.Selector)
	key := serverKey(t, get(eu.operator, &corev1.Secret{}, "acme-eu-server-keys"))
	content := string(get(o, &corev1.Secret{}, "acme-us-evacuation").Data[render.EvacuationFile])
	require.Contains(t, content, auth.KeyDigest(key), "the digest was recorded while the cluster could be reached")
	for _, mounted := range []string{"acme-us-evacuation", "acme-us-server-keys", "acme-server-key-digests"} {
		require.NotContains(t, fmt.Sprintf("%s", get(o, &corev1.Secret{}, mounted).Data), key, "the servers of other regions do not have the key")
	}
	o.readEvacuation(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionEvacuationsApplied, "True", v1alpha1.ReasonEvacuated)
	o.awaitRegion(sn.Name, "eu", v1alpha1.RegionEvacuated, "True", v1alpha1.ReasonEvacuated)
	o.awaitRegion(sn.Name, "eu", v1alpha1.RegionAvailable, "Unknown", v1alpha1.ReasonClusterUnreachable)
	ready := o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonEvacuated)
	require.Contains(t, ready.Message, "eu")
	status := get(o, &v1alpha1.SocialNetwork{}, sn.Name).Status
	require.Equal(t, "2/3", status.RegionsReady)
	require.Equal(t, v1alpha1.RegionUS, status.Regions[1].EvacuatedTo)

	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) {
		for i := range sn.Spec.Regions {
			sn.Spec.Regions[i].PodAnnotations = map[string]string{"example.com/rolled": "true"}
		}
	})
	o.finishRollouts(sn.Name, map[v1alpha1.RegionCode]*operator{"us": o, "sg": sg.operator})
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonEvacuated)

	eu.gate.shut(false)
	o.finishRollouts(sn.Name, map[v1alpha1.RegionCode]*operator{"eu": eu.operator})
	o.awaitRegion(sn.Name, "eu", v1alpha1.RegionAvailable, "True", v1alpha1.ReasonServing)
	o.evacuate(sn.Name, "")
	o.condition(sn.Name, v1alpha1.ConditionEvacuationsApplied, "False", v1alpha1.ReasonEvacuationEnding)
	o.eventually("the objects of the evacuation to be deleted", func() string {
		if o.exists(&corev1.Service{}, "acme-eu") || o.exists(&corev1.Secret{}, "acme-us-evacuation") {
			return fmt.Sprint(o.objects())
		}
		return ""
	})
	o.readEvacuation(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionEvacuationsApplied, "True", v1alpha1.ReasonNoEvacuation)
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	require.Positive(t, o.count(v1alpha1.ReasonEvacuationStarting), "events")
	require.Empty(t, get(o, &v1alpha1.SocialNetwork{}, sn.Name).Status.Regions[1].EvacuatedTo)
}

// finishRollouts waits until regions have the newest template, and makes their pods ready.
func (o *operator) finishRollouts(network string, views map[v1alpha1.RegionCode]*operator) {
	o.t.Helper()
	for _, code := range []v1alpha1.RegionCode{"us", "eu", "sg"} {
		view := views[code]
		if view == nil {
			continue
		}
		o.eventually("the rollout of "+string(code), func() string {
			if view.deployment(network, code).Spec.Template.Annotations["example.com/rolled"] == "" {
				return "the template is old"
			}
			return ""
		})
		view.setReady(view.deployment(network, code))
	}
}

// serverKey returns the first key of a Secret with server keys.
func serverKey(t *testing.T, secret *corev1.Secret) string {
	t.Helper()
	var doc struct {
		Keys []struct{ Key string } `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(secret.Data["server-keys.json"], &doc))
	require.NotEmpty(t, doc.Keys)
	return doc.Keys[0].Key
}

// TestEvacuationInOneCluster evacuates a region whose pods are lost to another one of the same cluster.
func TestEvacuationInOneCluster(t *testing.T) {
	o := start(t)
	sn := o.up(sample(t, "socialnetwork"))
	o.servers.all(func(s *server) { s.status.Evacuated = &statusz.Evacuated{} })
	o.evacuate(sn.Name, "us")
	o.eventually("the Service of eu to select the pods of us", func() string {
		service := get(o, &corev1.Service{}, "acme-eu")
		if service.Spec.Selector[render.LabelRegion] != "us" || len(service.Spec.Ports) != 1 || !o.exists(&corev1.Service{}, "acme-eu-servers") {
			return fmt.Sprint(service.Spec)
		}
		return ""
	})
	o.condition(sn.Name, v1alpha1.ConditionEvacuationsApplied, "False", v1alpha1.ReasonEvacuationStarting)
	o.readEvacuation(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonEvacuated)

	o.evacuate(sn.Name, "")
	o.eventually("the Service of eu to select its own pods", func() string {
		service := get(o, &corev1.Service{}, "acme-eu")
		if service.Spec.Selector[render.LabelRegion] != "eu" || len(service.Spec.Ports) != 2 || o.exists(&corev1.Service{}, "acme-eu-servers") {
			return fmt.Sprint(service.Spec, o.objects())
		}
		return ""
	})
	o.eventually("the Secret to be deleted", func() string {
		if o.exists(&corev1.Secret{}, "acme-us-evacuation") {
			return "it exists"
		}
		return ""
	})
	o.readEvacuation(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}
