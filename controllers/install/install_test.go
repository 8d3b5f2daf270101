//go:build install

package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// networks is the namespace that config/namespaced watches.
const networks = "plaza"

// TestForTheCluster installs config/default and runs a network.
func TestForTheCluster(t *testing.T) {
	c := startCluster(t)
	c.namespace(networks)
	c.installOptionalKinds()
	manifests := c.install("default")
	c.install("prometheus")
	p := c.startProgram()
	c.live(p)
	p.stop()
	c.comparePermissions(c.rightsOf(manifests, "ClusterRole"), rare)
}

// TestForSingleNamespaces installs config/namespaced; the operator has no access to other namespaces.
func TestForSingleNamespaces(t *testing.T) {
	c := startCluster(t)
	c.namespace(networks)
	c.namespace("elsewhere")
	c.installOptionalKinds()
	manifests := c.install("namespaced")
	other := c.network("elsewhere")
	require.Eventually(t, func() bool { // the API server may not serve the CRD yet
		return client.IgnoreAlreadyExists(c.client.Create(t.Context(), other)) == nil
	}, testenv.Patience, 100*time.Millisecond)
	p := c.startProgram()
	c.live(p)
	p.stop()
	c.comparePermissions(c.rightsOf(manifests, "Role"), rare)
	require.NoError(t, c.client.Get(t.Context(), client.ObjectKeyFromObject(other), other))
	require.Empty(t, other.Status.Conditions)
	// The operator's own namespace has the kubeconfigs of member clusters.
	for namespace, want := range map[string]bool{networks: true, "elsewhere": false, system: true, "": false} {
		require.Equal(t, want, c.mayListSecrets(namespace), "in namespace %q", namespace)
	}
}

// mayListSecrets reports whether the operator may list the Secrets of a namespace; "" means all namespaces.
func (c *cluster) mayListSecrets(namespace string) bool {
	c.t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               fmt.Sprintf("system:serviceaccount:%s:%s", system, account),
		Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + system, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "secrets", Namespace: namespace},
	}}
	require.NoError(c.t, c.client.Create(context.Background(), review))
	return review.Status.Allowed
}

// network is the sample with all kinds of regions, and its database's Secret.
func (c *cluster) network(namespace string) *v1alpha1.SocialNetwork {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "config", "samples", "socialnetwork.yaml"))
	require.NoError(c.t, err)
	var sn v1alpha1.SocialNetwork
	require.NoError(c.t, yaml.UnmarshalStrict(text, &sn))
	require.Len(c.t, sn.Spec.Regions, 3)
	sn.Namespace = namespace
	sn.Spec.Regions[0].Ingress = &v1alpha1.Ingress{ClassName: "nginx"}
	sn.Spec.Regions[1].Gateway = &v1alpha1.Gateway{ParentRef: v1alpha1.GatewayReference{Name: "public"}}
	sn.Spec.Monitoring = v1alpha1.Monitoring{
		ServiceMonitor: true, Dashboards: true, Alerts: v1alpha1.Alerts{Enabled: true},
		Probe: &v1alpha1.Probe{Prober: "blackbox-exporter.monitoring:9115"},
	}
	sn.Spec.NetworkPolicy.Enabled = true
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: sn.Spec.Database.SecretRef.Name, Namespace: namespace},
		StringData: map[string]string{"url": "postgres://plaza:secret@db.example/plaza"},
	}
	require.NoError(c.t, c.client.Create(context.Background(), secret))
	return &sn
}

// live walks a network through its life cycle, as far as that is possible without nodes.
func (c *cluster) live(p *program) {
	c.t.Helper()
	c.eventually("the probes", func() string {
		for _, path := range []string{"/healthz", "/readyz"} {
			if code, text := p.get(p.health, path); code != 200 {
				return fmt.Sprintf("%s: %d %s", path, code, text)
			}
		}
		return ""
	})
	sn := c.network(networks)
	require.NoError(c.t, c.client.Create(context.Background(), sn))
	c.migrate(sn.Name)
	c.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "True", v1alpha1.ReasonMigrated)
	c.condition(sn.Name, v1alpha1.ConditionRegionsAvailable, "False", v1alpha1.ReasonProgressing)
	c.condition(sn.Name, v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
	for _, region := range sn.Spec.Regions {
		name := render.RegionName(sn.Name, region.Code)
		for _, kind := range []string{"deployment", "service", "serviceaccount", "configmap", "poddisruptionbudget", "networkpolicy"} {
			c.has(kind, name)
		}
	}
	for kind, name := range map[string]string{
		"ingress": "acme-us", "httproute": "acme-eu", "secret": "acme-eu-server-keys", "servicemonitor": "acme", "prometheusrule": "acme",
		"probe": "acme-eu", "grafanadashboard": "acme-dashboard",
	} {
		c.has(kind, name)
	}
	c.change(sn.Name)
	c.checkLeadership(p, sn.Name)
	log := strings.ToLower(p.log.String())
	require.NotContains(c.t, log, "forbidden")
}

// change removes optional parts of the network, and uses an autoscaler for a while.
func (c *cluster) change(name string) {
	c.t.Helper()
	c.update(name, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[2].Replicas = nil
		sn.Spec.Regions[2].Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 2, MaxReplicas: 4, TargetCPUUtilization: 70}
	})
	c.has("horizontalpodautoscaler", "acme-sg")
	c.update(name, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[0].Ingress = nil
		sn.Spec.Regions[2].Autoscaling = nil
		sn.Spec.Regions = append(sn.Spec.Regions[:1], sn.Spec.Regions[2])
		sn.Spec.Monitoring = v1alpha1.Monitoring{}
		sn.Spec.ServerKeys.RetainRemoved = "0s"
		sn.Spec.Image = "plaza.example/plaza:next" // another migration target: the old Job is deleted
	})
	for kind, name := range map[string]string{
		"deployment": "acme-eu", "service": "acme-eu", "serviceaccount": "acme-eu", "configmap": "acme-eu", "secret": "acme-eu-server-keys",
		"poddisruptionbudget": "acme-eu", "networkpolicy": "acme-eu", "httproute": "acme-eu", "ingress": "acme-us",
		"horizontalpodautoscaler": "acme-sg", "servicemonitor": "acme", "prometheusrule": "acme",
		"probe": "acme-eu", "grafanadashboard": "acme-dashboard",
	} {
		c.eventually(kind+" "+name+" to go", func() string {
			return strings.TrimSpace(c.kubectl("", "-n", networks, "get", kind, name, "--ignore-not-found", "-o", "name"))
		})
	}
	c.condition(name, v1alpha1.ConditionSwept, "True", v1alpha1.ReasonNothingLeft)
}

func (c *cluster) update(name string, change func(*v1alpha1.SocialNetwork)) {
	c.t.Helper()
	c.eventually("the change", func() string {
		var sn v1alpha1.SocialNetwork
		require.NoError(c.t, c.client.Get(context.Background(), client.ObjectKey{Namespace: networks, Name: name}, &sn))
		change(&sn)
		if err := c.client.Update(context.Background(), &sn); err != nil {
			return err.Error()
		}
		return ""
	})
}

// checkLeadership checks the Lease, the events and the metrics.
func (c *cluster) checkLeadership(p *program, name string) {
	c.t.Helper()
	c.has("events.v1.events.k8s.io", "")
	require.Contains(c.t, c.kubectl("", "-n", system, "get", "lease", "plaza-operator.plaza.social", "-o",
		"jsonpath={.spec.holderIdentity}"), "_")
	c.eventually("the event of the Lease", func() string {
		if text := c.kubectl("", "-n", system, "get", "events", "-o", "name"); text == "" {
			return "it does not exist"
		}
		return ""
	})
	code, text := p.get(p.metrics, "/metrics")
	require.Equal(c.t, 200, code)
	require.Contains(c.t, text, fmt.Sprintf(`plaza_operator_condition{namespace=%q,network=%q`, networks, name))
	require.Contains(c.t, c.kubectl("", "-n", networks, "get", "sn", name), "READY")
}

// has waits for an object in the network's namespace; without a name, for any.
func (c *cluster) has(kind, name string) {
	c.t.Helper()
	args := []string{"-n", networks, "get", kind, "--ignore-not-found", "-o", "name"}
	if name != "" {
		args = append(args, name)
	}
	c.eventually(kind+" "+name, func() string {
		if c.kubectl("", args...) == "" {
			return "it does not exist"
		}
		return ""
	})
}

// migrate completes the network's migration Job like its pod and the Job controller.
func (c *cluster) migrate(name string) {
	c.t.Helper()
	c.eventually("the migration Job", func() string {
		var jobs batchv1.JobList
		require.NoError(c.t, c.client.List(context.Background(), &jobs, client.InNamespace(networks),
			client.MatchingLabels{render.LabelNetwork: name}))
		if len(jobs.Items) != 1 {
			return fmt.Sprintf("%d Jobs", len(jobs.Items))
		}
		job, now := jobs.Items[0], metav1.Now()
		job.Status.StartTime, job.Status.CompletionTime, job.Status.Succeeded = &now, &now, 1
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: now},
		}
		err := c.client.Status().Update(context.Background(), &job)
		if apierrors.IsConflict(err) {
			return err.Error() // retry
		}
		require.NoError(c.t, err)
		return ""
	})
}

// condition waits for a condition of the current generation. No condition may report a missing permission.
func (c *cluster) condition(name, kind string, status metav1.ConditionStatus, reason v1alpha1.Reason) {
	c.t.Helper()
	c.eventually(fmt.Sprintf("%s to be %s, %s", kind, status, reason), func() string {
		var sn v1alpha1.SocialNetwork
		require.NoError(c.t, c.client.Get(context.Background(), client.ObjectKey{Namespace: networks, Name: name}, &sn))
		seen := "it does not exist"
		for _, cond := range sn.Status.Conditions {
			require.NotContains(c.t, cond.Message, "forbidden", cond.Type)
			if cond.Type != kind {
				continue
			}
			if cond.Status == status && cond.Reason == string(reason) && cond.ObservedGeneration == sn.Generation {
				return ""
			}
			seen = fmt.Sprintf("it is %s, %s: %s", cond.Status, cond.Reason, cond.Message)
		}
		return seen
	})
}
