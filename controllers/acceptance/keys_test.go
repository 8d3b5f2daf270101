package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

// states returns the states of a region's keys in the status, such as "Active Retiring".
func (o *operator) states(network string, code v1alpha1.RegionCode) string {
	var states []string
	for _, region := range get(o, &v1alpha1.SocialNetwork{}, network).Status.Regions {
		for _, key := range region.ServerKeys {
			if region.Code == code {
				states = append(states, string(key.State))
			}
		}
	}
	return strings.Join(states, " ")
}

func (o *operator) waitStates(network, want string, codes ...v1alpha1.RegionCode) {
	o.t.Helper()
	for _, code := range codes {
		o.eventually("the keys of "+string(code)+" to be "+want, func() string {
			if have := o.states(network, code); have != want {
				return "they are " + have
			}
			return ""
		})
	}
}

// TestKeysRotate rotates by annotation and by schedule, with a region that accepts the new key late.
func TestKeysRotate(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	codes := []v1alpha1.RegionCode{"us", "eu", "sg"}
	o.waitStates("acme", "Active", codes...)
	rotations := map[string]func(){
		"annotation": func() {
			o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
				sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRotate: "now"})
			})
		},
		"schedule": func() {
			o.clock.add(721 * time.Hour)
			o.pass("acme")
		},
	}
	for _, name := range []string{"annotation", "schedule"} {
		o.servers.all(func(s *server) { s.refusesKeys = true })
		rotations[name]()
		o.waitStates("acme", "Pending Active", codes...)
		o.condition("acme", v1alpha1.ConditionKeysReady, "True", v1alpha1.ReasonRotationUnderWay)
		o.servers.all(func(s *server) { s.refusesKeys = s.status.Region == "sg" })
		o.waitStates("acme", "Active Retiring", "us", "eu") // asked again every few seconds
		o.waitStates("acme", "Pending Active", "sg")
		o.clock.add(11 * time.Minute)
		o.pass("acme")
		stuck := o.condition("acme", v1alpha1.ConditionKeysReady, "False", v1alpha1.ReasonRotationStuck)
		require.Contains(t, stuck.Message, "sg")
		o.servers.all(func(s *server) { s.refusesKeys = false })
		o.pass("acme") // at the next resync
		o.waitStates("acme", "Active Retiring", codes...)
		o.condition("acme", v1alpha1.ConditionKeysReady, "True", v1alpha1.ReasonKeysVerified)
		o.clock.add(61 * time.Minute)
		o.pass("acme")
		o.waitStates("acme", "Active", codes...)
	}
	o.happened(2*len(codes), v1alpha1.ReasonKeyRevoked)
	o.happened(2*len(codes), v1alpha1.ReasonRotationStarted)
}

// secretTexts returns the secret values of every Secret of the namespace.
func (o *operator) secretTexts() []string {
	o.t.Helper()
	var list corev1.SecretList
	require.NoError(o.t, o.client.List(context.Background(), &list, client.InNamespace(o.namespace)))
	texts := []string{"password-of-the-database"}
	for _, secret := range list.Items {
		for name, value := range secret.Data {
			var file struct {
				Keys []struct{ Key, Seed string } `json:"keys"`
			}
			switch {
			case name == keyring.NetworkIDFile:
			case json.Unmarshal(value, &file) == nil && len(file.Keys) > 0:
				for _, key := range file.Keys {
					texts = append(texts, key.Key+key.Seed)
				}
			default:
				texts = append(texts, strings.TrimSpace(string(value)))
			}
		}
	}
	return texts
}

// TestSecretsAreNotExposed looks for the content of every Secret in everything else that the operator writes.
func TestSecretsAreNotExposed(t *testing.T) {
	ctx := t.Context()
	o := start(t)
	sn := sample(t, "socialnetwork")
	sn.Spec.Regions = sn.Spec.Regions[:1]
	o.apply(sn)
	o.failMigration("acme", "no way to postgres://plaza:password-of-the-database@db.example/plaza")
	o.condition("acme", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrationFailed)
	require.NoError(t, o.client.Delete(ctx, o.job("acme"), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	o.eventually("the second attempt", func() string { return notEqual(o.job("acme").Annotations[render.AnnotationAttempt], "2") })
	o.migrate("acme")
	o.serve("acme", "us")
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	texts := o.secretTexts()
	o.servers.all(func(s *server) { s.refusesKeys = true })
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRotate: "now"})
	})
	o.waitStates("acme", "Pending Active", "us")
	o.servers.all(func(s *server) { s.refusesKeys = false })
	o.waitStates("acme", "Active Retiring", "us")
	texts = append(texts, o.secretTexts()...)
	require.Greater(t, len(texts), 8)

	o.editSecret("acme-us-server-keys", func(broken *corev1.Secret) {
		broken.Data["server-keys.json"] = []byte(`{"keys":[{"id":"k","key":"content-of-a-broken-file"},`)
	})
	texts = append(texts, "content-of-a-broken-file")
	o.condition("acme", v1alpha1.ConditionKeysReady, "False", v1alpha1.ReasonKeyFileBroken)

	everything := map[string]string{"log": logged.text(), "events": fmt.Sprint(o.events())}
	status, err := json.Marshal(get(o, &v1alpha1.SocialNetwork{}, "acme"))
	require.NoError(t, err)
	everything["network"] = string(status)
	for _, child := range o.children() {
		if child.GetKind() != "Secret" {
			text, err := child.MarshalJSON()
			require.NoError(t, err)
			everything[child.GetKind()+" "+child.GetName()] = string(text)
		}
	}
	families, err := o.registry.Gather()
	require.NoError(t, err)
	var metrics strings.Builder
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&metrics, family)
		require.NoError(t, err)
	}
	everything["metrics"] = metrics.String()
	require.NotEmpty(t, everything["log"])
	require.Contains(t, everything["events"], "KeysCreated")
	require.Contains(t, everything["metrics"], "plaza_operator_condition")
	for where, text := range everything {
		for _, secret := range texts {
			require.GreaterOrEqual(t, len(secret), 16)
			if strings.Contains(text, secret) {
				t.Errorf("a secret of %d bytes is in %s", len(secret), where)
			}
		}
	}
}

func notEqual(have, want string) string {
	if have == want {
		return ""
	}
	return "it is " + have
}

// TestDeletion deletes a network: with Retain it owns no Secret with keys, but those with certificates, and with Delete it owns all
// of them. The garbage collector does not run here.
func TestDeletion(t *testing.T) {
	t.Parallel() // the subtests run in parallel, and must not start before the serial tests have ended
	for _, policy := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionRetain, v1alpha1.DeletionDelete} {
		t.Run(string(policy), func(t *testing.T) {
			o := start(t)
			sn := sample(t, "socialnetwork-minimal")
			o.up(sn)
			o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.DeletionPolicy = policy })
			secrets := 0
			o.eventually("the owners of the Secrets", func() string {
				secrets = 0
				for _, child := range o.children() {
					switch n := len(child.GetOwnerReferences()); {
					case strings.Contains(child.GetName(), "-control") && n != 1:
						return child.GetName() + " has no owner"
					case strings.Contains(child.GetName(), "-control"):
					case child.GetKind() != "Secret" && n != 1:
						return child.GetKind() + " has no owner"
					case child.GetKind() == "Secret" && n != 0:
						return child.GetName() + " has an owner: the garbage collector deletes it if it is copied to another cluster"
					case child.GetKind() == "Secret":
						secrets++
					}
				}
				return ""
			})
			require.Equal(t, 5, secrets)
			o.settle(sn.Name)
			require.Len(t, o.series(sn.Name), 9)
			live := get(o, &v1alpha1.SocialNetwork{}, sn.Name)
			id := live.Status.NetworkID
			if policy == v1alpha1.DeletionDelete {
				require.Equal(t, []string{v1alpha1.FinalizerKeys}, live.Finalizers)
			} else {
				require.Empty(t, live.Finalizers)
			}
			require.NoError(t, o.client.Delete(t.Context(), live))
			o.gone(sn.Name)
			for _, name := range []string{"identity", "signing-keys", "api-keys", "us-server-keys", "recovery-keys"} {
				require.Equal(t, policy == v1alpha1.DeletionRetain, o.exists(&corev1.Secret{}, sn.Name+"-"+name), name)
			}
			o.eventually("the metrics to go", func() string {
				return strings.Join(slices.Sorted(maps.Keys(o.series(sn.Name))), " ")
			})
			if policy == v1alpha1.DeletionRetain { // created again, it has the same identity
				again := sample(t, "socialnetwork-minimal")
				o.apply(again)
				o.eventually("the network's id", func() string {
					return notEqual(get(o, &v1alpha1.SocialNetwork{}, sn.Name).Status.NetworkID, id)
				})
			}
		})
	}
}

// TestKeyIsRevoked revokes the active key of a region on request, even while the network is paused; the other regions keep theirs.
func TestKeyIsRevoked(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	o.waitStates("acme", "Active", "us", "eu", "sg")
	active := func() string {
		return get(o, &corev1.Secret{}, "acme-eu-server-keys").Annotations[keyring.AnnotationActive]
	}
	id := active()
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRevoke: id}) })
	o.eventually("another active key", func() string {
		if now := active(); now == "" || now == id {
			return "it is " + now
		}
		return ""
	})
	require.NotContains(t, string(get(o, &corev1.Secret{}, "acme-eu-server-keys").Data[keyring.ServerKeysFile]), id)
	o.waitStates("acme", "Active", "us", "eu", "sg")
	o.happened(1, v1alpha1.ReasonKeyRevoked)

	o.clock.add(time.Hour)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRevoke: id, v1alpha1.AnnotationRotate: "now"})
	})
	o.waitStates("acme", "Active Retiring", "us", "eu", "sg")
	id = get(o, &v1alpha1.SocialNetwork{}, "acme").Status.Regions[0].ServerKeys[1].ID
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Paused = true
		sn.Spec.ServerKeys.Revoke = []string{id}
	})
	o.waitStates("acme", "Active", "us")
	o.waitStates("acme", "Active Retiring", "eu", "sg")
}
