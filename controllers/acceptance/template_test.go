package acceptance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// editDeployment edits a region's Deployment by hand, as kubectl edit does.
func (o *operator) editDeployment(network string, code v1alpha1.RegionCode, change func(*appsv1.Deployment)) {
	o.t.Helper()
	d := o.deployment(network, code)
	o.onNewest(d, func() error {
		change(d)
		return o.client.Update(context.Background(), d, client.FieldOwner("kubectl-edit"))
	})
}

// byHand edits a template so that the operator no longer owns some fields.
func byHand(d *appsv1.Deployment) {
	c := &d.Spec.Template.Spec.Containers[0]
	c.Image = "plaza.example/plaza:by-hand"
	c.ReadinessProbe.HTTPGet.Port = intstr.FromInt32(1234)
}

func (o *operator) imageOf(network string, code v1alpha1.RegionCode) string {
	o.t.Helper()
	return o.deployment(network, code).Spec.Template.Spec.Containers[0].Image
}

func (o *operator) waitImage(network string, code v1alpha1.RegionCode, image string) {
	o.t.Helper()
	o.eventually("region "+string(code)+" to have image "+image, func() string { return notEqual(o.imageOf(network, code), image) })
}

// TestTemplateIsRestoredInOrder edits the template of every region by hand: it is restored one region after another,
// each after the soak of the previous one, and other fields immediately.
func TestTemplateIsRestoredInOrder(t *testing.T) {
	o := start(t)
	sn := sample(t, "socialnetwork")
	sn.Spec.Rollout.Soak = "10m"
	o.up(sn)
	o.clock.add(11 * time.Minute)
	o.pass("acme")
	codes := []v1alpha1.RegionCode{"us", "eu", "sg"}
	before := o.deployment("acme", "eu").Spec.Template

	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Paused = true })
	o.condition("acme", v1alpha1.ConditionPaused, "True", v1alpha1.ReasonPausedBySpec)
	for _, code := range codes {
		o.editDeployment("acme", code, byHand)
		o.setReady(o.deployment("acme", code)) // the edit works
	}
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Paused = false })
	for i, code := range codes {
		o.waitImage("acme", code, defaultImage)
		for _, later := range codes[i+1:] {
			drift := o.regionCondition("acme", later, v1alpha1.RegionUpdated, v1alpha1.ReasonTemplateDrift)
			require.Contains(t, drift.Message, "spec.template.")
			o.editDeployment("acme", later, func(d *appsv1.Deployment) {
				d.Spec.MinReadySeconds = 77
				d.Labels[render.LabelComponent] = "else"
			})
			o.eventually("the other fields to be restored", func() string {
				if d := o.deployment("acme", later); d.Spec.MinReadySeconds == 77 || d.Labels[render.LabelComponent] == "else" {
					return "they are as they were made"
				}
				return ""
			})
			held := o.deployment("acme", later).Spec.Template.Spec.Containers[0]
			require.Equal(t, "plaza.example/plaza:by-hand", held.Image)
			require.Equal(t, intstr.FromInt32(1234), held.ReadinessProbe.HTTPGet.Port)
			o.setReady(o.deployment("acme", later))
		}
		o.condition("acme", v1alpha1.ConditionRegionsAvailable, "False", v1alpha1.ReasonProgressing)
		o.completeRollout("acme", code)
		for _, later := range codes[i+1:] { // it soaks
			o.pass("acme")
			require.Equal(t, "plaza.example/plaza:by-hand", o.imageOf("acme", later))
		}
		o.clock.add(11 * time.Minute)
		o.pass("acme")
	}
	require.Equal(t, before, o.deployment("acme", "eu").Spec.Template)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}

// TestBrokenTemplateIsRestored edits a template by hand so that its region has no pods left, while another
// region soaks: the template is restored immediately.
func TestBrokenTemplateIsRestored(t *testing.T) {
	o := start(t)
	sn := sample(t, "socialnetwork")
	sn.Spec.Rollout.Soak = "10m"
	o.up(sn)
	o.clock.add(11 * time.Minute)
	o.pass("acme")
	o.edit("acme", logLevel("debug"))
	o.waitLevel("acme", "us", "debug")
	o.completeRollout("acme", "us") // and soaks

	o.editDeployment("acme", "us", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Command = []string{"/no/such/program"} // no field of the edit is left
		d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL", Value: "by hand"}}
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	})
	o.waitLevel("acme", "us", "debug") // it was its turn
	o.seen("acme", o.deployment("acme", "us"))
	o.regionCondition("acme", "us", v1alpha1.RegionUpdated, v1alpha1.ReasonProgressing)
	o.clock.add(11 * time.Minute)
	o.completeRollout("acme", "us")
	require.Empty(t, o.levelOf("acme", "eu"), "the soak starts again")

	o.clock.add(11 * time.Minute)
	o.pass("acme")
	o.waitLevel("acme", "eu", "debug")
	o.completeRollout("acme", "eu")
	o.editDeployment("acme", "us", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "plaza.example/plaza:by-hand" })
	o.seen("acme", o.deployment("acme", "us"))
	o.regionCondition("acme", "us", v1alpha1.RegionUpdated, v1alpha1.ReasonTemplateDrift)
	require.Equal(t, "plaza.example/plaza:by-hand", o.imageOf("acme", "us"), "eu soaks")
	setStatus(o, o.deployment("acme", "us"), lost)
	o.waitImage("acme", "us", defaultImage)
}
