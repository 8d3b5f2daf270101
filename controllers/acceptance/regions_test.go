package acceptance

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

// regionCondition waits for a condition of a region that is of the network's generation. After a change of anything else than the spec,
// such as a Deployment, it may be older than the change: seen waits until it is not.
func (o *operator) regionCondition(network string, code v1alpha1.RegionCode, kind string, reason v1alpha1.Reason) metav1.Condition {
	o.t.Helper()
	var found metav1.Condition
	o.eventually(kind+" of region "+string(code)+" to be for "+string(reason), func() string {
		sn := get(o, &v1alpha1.SocialNetwork{}, network)
		for _, region := range sn.Status.Regions {
			if c := meta.FindStatusCondition(region.Conditions, kind); c != nil && region.Code == code {
				found = *c
				switch {
				case c.Reason != string(reason):
					return c.Reason + ": " + c.Message
				case c.ObservedGeneration != sn.Generation:
					return "it is of an older generation"
				}
				return ""
			}
		}
		return "it does not exist"
	})
	return found
}

// completeRollout makes the pods of a region ready, and waits until the operator has seen it and reports that they are up to date.
func (o *operator) completeRollout(network string, code v1alpha1.RegionCode) {
	o.t.Helper()
	d := o.deployment(network, code)
	o.setReady(d)
	o.seen(network, d)
	o.regionCondition(network, code, v1alpha1.RegionUpdated, v1alpha1.ReasonUpToDate)
}

// logLevel changes the pod template of every region.
func logLevel(level string) func(*v1alpha1.SocialNetwork) {
	return func(sn *v1alpha1.SocialNetwork) {
		for i := range sn.Spec.Regions {
			sn.Spec.Regions[i].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL", Value: level}}
		}
	}
}

// levelOf returns the log level in the template of a region's Deployment.
func (o *operator) levelOf(network string, code v1alpha1.RegionCode) string {
	for _, e := range o.deployment(network, code).Spec.Template.Spec.Containers[0].Env {
		if e.Name == "PLAZA_LOG_LEVEL" {
			return e.Value
		}
	}
	return ""
}

func (o *operator) waitLevel(network string, code v1alpha1.RegionCode, level string) {
	o.t.Helper()
	o.eventually("region "+string(code)+" to get the template "+level, func() string {
		if have := o.levelOf(network, code); have != level {
			return "it has " + have
		}
		return ""
	})
}

// TestRegionsRollOneByOne changes the template: regions are updated one at a time, each after the soak of the previous
// one. A stuck region stops the rollout, and a fixed spec reaches that region first.
func TestRegionsRollOneByOne(t *testing.T) {
	o := start(t)
	sn := sample(t, "socialnetwork")
	sn.Spec.Rollout.Soak = "10m"
	o.apply(sn)
	o.migrate("acme")
	for _, region := range sn.Spec.Regions {
		o.serve("acme", region.Code)
	}
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.clock.add(11 * time.Minute)

	o.edit("acme", logLevel("debug"))
	o.waitLevel("acme", "us", "debug")
	o.condition("acme", v1alpha1.ConditionRegionsAvailable, "False", v1alpha1.ReasonProgressing)
	o.regionCondition("acme", "eu", v1alpha1.RegionUpdated, v1alpha1.ReasonWaitingForRegion)
	o.clock.add(11 * time.Minute)
	o.pass("acme")
	require.Empty(t, o.levelOf("acme", "eu"), "the soak begins when the pods are ready")
	o.completeRollout("acme", "us")
	for range 3 { // it soaks
		o.pass("acme")
		require.Empty(t, o.levelOf("acme", "eu"))
	}
	o.clock.add(11 * time.Minute)
	o.pass("acme")
	o.waitLevel("acme", "eu", "debug")
	require.Empty(t, o.levelOf("acme", "sg"))

	o.setStuck(o.deployment("acme", "eu"))
	stopped := o.condition("acme", v1alpha1.ConditionRegionsAvailable, "False", v1alpha1.ReasonRolloutStopped)
	require.Contains(t, stopped.Message, "eu")
	require.Contains(t, o.regionCondition("acme", "eu", v1alpha1.RegionUpdated, v1alpha1.ReasonRolloutStopped).Message, "too slow")
	o.clock.add(time.Hour)
	o.pass("acme")
	require.Empty(t, o.levelOf("acme", "sg"), "a stopped rollout continues")
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[2].Replicas = new(int32(5)) })
	o.eventually("a number of pods to change while the roll is stopped", func() string {
		if n := *o.deployment("acme", "sg").Spec.Replicas; n != 5 {
			return "it is still the old one"
		}
		return ""
	})
	require.Empty(t, o.levelOf("acme", "sg"))
	o.setReady(o.deployment("acme", "sg"))

	o.edit("acme", logLevel("warn"))
	o.waitLevel("acme", "eu", "warn") // it has unavailable pods, so it is first
	require.Equal(t, "debug", o.levelOf("acme", "us"))
	for _, code := range []v1alpha1.RegionCode{"eu", "us", "sg"} {
		o.waitLevel("acme", code, "warn")
		o.completeRollout("acme", code)
		o.clock.add(11 * time.Minute)
		o.pass("acme")
	}
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}

// TestConfigurationWaitsForItsRegion checks that the ConfigMap of a region is updated together with its pods.
func TestConfigurationWaitsForItsRegion(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	before := get(o, &corev1.ConfigMap{}, "acme-eu").Data
	o.clock.add(time.Hour)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Storage = &v1alpha1.Storage{URL: "s3://bucket", Shared: true}
		sn.Spec.Regions[1].Ingress = &v1alpha1.Ingress{ClassName: "nginx"}
	})
	o.eventually("the first region's file", func() string {
		if get(o, &corev1.ConfigMap{}, "acme-us").Data[render.ConfigFile] == before[render.ConfigFile] {
			return "it is the old one"
		}
		return ""
	})
	o.regionCondition("acme", "eu", v1alpha1.RegionUpdated, v1alpha1.ReasonWaitingForRegion)
	require.Equal(t, before, get(o, &corev1.ConfigMap{}, "acme-eu").Data)
	require.Equal(t, int64(2), o.deployment("acme", "us").Generation)
}

// TestPasswordRollsRegions changes the password in the database's Secret: the regions restart one after another.
func TestPasswordRollsRegions(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	o.clock.add(time.Hour)
	o.pass("acme")
	hash := func(code v1alpha1.RegionCode) string {
		return o.deployment("acme", code).Spec.Template.Annotations[render.AnnotationConfiguration]
	}
	before := map[v1alpha1.RegionCode]string{"us": hash("us"), "eu": hash("eu"), "sg": hash("sg")}
	o.editSecret("acme-db", func(secret *corev1.Secret) {
		secret.Data["url"] = []byte("postgres://plaza:another-password@db.example/plaza")
	})
	codes := []v1alpha1.RegionCode{"us", "eu", "sg"}
	for i, code := range codes {
		o.eventually("region "+string(code)+" to restart", func() string {
			if hash(code) == before[code] {
				return "it runs with the old password"
			}
			return ""
		})
		for _, later := range codes[i+1:] {
			require.Equal(t, before[later], hash(later), "%s restarts with %s", later, code)
		}
		o.completeRollout("acme", code)
		o.clock.add(time.Minute)
		o.pass("acme")
	}
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}

// TestAutoscalingTakesOver changes from fixed replicas to an autoscaler and back.
func TestAutoscalingTakesOver(t *testing.T) {
	ctx := t.Context()
	o := start(t)
	sn := sample(t, "socialnetwork-minimal")
	sn.Spec.Regions[0].Replicas = new(int32(4))
	o.up(sn)
	replicas := func() int32 { return *o.deployment("acme-minimal", "us").Spec.Replicas }
	require.Equal(t, int32(4), replicas())

	o.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[0].Replicas = nil
		sn.Spec.Regions[0].Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 2, MaxReplicas: 9, TargetCPUUtilization: 70}
	})
	o.eventually("the number to be handed over", func() string {
		d := o.deployment("acme-minimal", "us")
		if apply.Owns(d, apply.Manager, "spec", "replicas") {
			return "the operator owns it"
		}
		return ""
	})
	require.Equal(t, int32(4), replicas())
	o.pass("acme-minimal")
	require.Equal(t, int32(4), replicas())

	d := o.deployment("acme-minimal", "us")
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}}
	require.NoError(t, o.client.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(scale),
		client.FieldOwner("kube-controller-manager")))
	o.setReady(o.deployment("acme-minimal", "us"))
	for range 3 {
		o.pass("acme-minimal")
		require.Equal(t, int32(7), replicas())
	}
	o.eventually("the number in the status", func() string {
		return notEqual(strconv.Itoa(int(get(o, &v1alpha1.SocialNetwork{}, "acme-minimal").Status.Regions[0].Replicas)), "7")
	})

	o.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[0].Replicas, sn.Spec.Regions[0].Autoscaling = new(int32(3)), nil
	})
	o.eventually("the fixed number", func() string {
		if replicas() != 3 {
			return "it is not back"
		}
		return ""
	})
}

// TestDisruptionBudgetFollowsReplicas checks that one pod has no budget, which would block node drains.
func TestDisruptionBudgetFollowsReplicas(t *testing.T) {
	o := start(t)
	sn := sample(t, "socialnetwork-minimal")
	sn.Spec.Regions[0].Replicas = new(int32(2))
	o.up(sn)
	there := func(want bool) {
		t.Helper()
		o.eventually("the budget", func() string {
			return notEqual(strconv.FormatBool(o.exists(&policyv1.PodDisruptionBudget{}, "acme-minimal-us")), strconv.FormatBool(want))
		})
	}
	there(true)
	for _, replicas := range []int32{1, 3, 1} {
		o.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[0].Replicas = new(replicas) })
		there(replicas > 1)
		o.condition("acme-minimal", v1alpha1.ConditionSwept, "True", v1alpha1.ReasonNothingLeft)
	}
}

// TestRegionRemovedAndAdded removes a region from the spec and adds it again.
func TestRegionRemovedAndAdded(t *testing.T) {
	o := start(t)
	sn := o.up(everyKind(t))
	us := sn.Spec.Regions[0]
	count := func() (n int) {
		for _, child := range o.children() {
			if child.GetLabels()[render.LabelRegion] == "us" && child.GetKind() != "Secret" {
				n++
			}
		}
		return n
	}
	keys := get(o, &corev1.Secret{}, "acme-us-server-keys")
	require.Greater(t, count(), 6)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = sn.Spec.Regions[1:] })
	o.eventually("everything of the region to go", func() string {
		if count() > 0 {
			return "something is left"
		}
		return ""
	})
	o.condition("acme", v1alpha1.ConditionSwept, "True", v1alpha1.ReasonNothingLeft)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	read := get(o, &v1alpha1.SocialNetwork{}, "acme")
	require.Equal(t, "1/1", read.Status.RegionsReady)
	require.Len(t, read.Status.Regions, 1)
	require.Len(t, read.Status.RetainedKeys, 1)
	require.Equal(t, v1alpha1.RegionUS, read.Status.RetainedKeys[0].Code)

	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = append(sn.Spec.Regions, us) })
	o.eventually("the region's Deployment", func() string {
		if !o.exists(&appsv1.Deployment{}, "acme-us") {
			return "it does not exist"
		}
		return ""
	})
	o.serve("acme", "us")
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	read = get(o, &v1alpha1.SocialNetwork{}, "acme")
	require.Equal(t, "2/2", read.Status.RegionsReady)
	require.Empty(t, read.Status.RetainedKeys)
	kept := get(o, &corev1.Secret{}, "acme-us-server-keys")
	require.Equal(t, keys.UID, kept.UID, "the region has the keys that it had")
	require.Equal(t, keys.Data, kept.Data)

	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = sn.Spec.Regions[:1] })
	o.eventually("the keys to be retained again", func() string {
		if len(get(o, &v1alpha1.SocialNetwork{}, "acme").Status.RetainedKeys) == 0 {
			return "they are not"
		}
		return ""
	})
	o.clock.add(721 * time.Hour)
	o.pass("acme")
	o.eventually("the keys to be deleted after their retention", func() string {
		if o.exists(&corev1.Secret{}, "acme-us-server-keys") {
			return "they exist"
		}
		return ""
	})
}
