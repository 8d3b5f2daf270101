package stage

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

// fixed is a stage with a fixed outcome.
type fixed struct{ outcome Outcome }

func (fixed) Condition() string                    { return "A" }
func (f fixed) Run(context.Context, *Pass) Outcome { return f.outcome }

// TestPrerequisites applies an object only if those that it needs were applied, and records its events only then.
func TestPrerequisites(t *testing.T) {
	config := func(name string) Desired {
		return Desired{
			Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza"}}, Mode: apply.CreateOnly,
			Events: []Event{{Reason: v1alpha1.Reason(name)}},
		}
	}
	for refused, want := range map[string]struct{ exist, events []string }{
		"":       {[]string{"first", "second", "object"}, []string{"first", "second", "object", "all"}},
		"first":  {nil, nil},
		"second": {[]string{"first"}, []string{"first"}},
		"object": {[]string{"first", "second"}, []string{"first", "second"}},
	} {
		refuse := func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if object.GetName() == refused {
				return errors.New("refused")
			}
			return c.Create(ctx, object, options...)
		}
		api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{Create: refuse}).Build()
		sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza"}}
		own := &Cluster{Client: api, APIReader: api, Network: render.Network{SN: sn}}
		p := &Pass{SN: sn, Clusters: []*Cluster{own}, Network: own.Network, Status: &v1alpha1.SocialNetworkStatus{}}
		desired := config("object")
		desired.Prerequisites = []Desired{config("first"), config("second")}
		outcome := True("Fine", "")
		outcome.Objects, outcome.Events = []Desired{desired}, []Event{{Reason: "all"}}
		report := Runner{}.Run(t.Context(), p, []Stage{fixed{outcome}})
		var exist, events []string
		for _, name := range []string{"first", "second", "object"} {
			err := api.Get(t.Context(), client.ObjectKey{Namespace: "plaza", Name: name}, &corev1.ConfigMap{})
			require.NoError(t, client.IgnoreNotFound(err))
			if !apierrors.IsNotFound(err) {
				exist = append(exist, name)
			}
		}
		for _, event := range report.Events {
			events = append(events, string(event.Reason))
		}
		require.Equal(t, want.exist, exist, refused)
		require.Equal(t, want.events, events, refused)
		require.Equal(t, refused != "", len(report.Results[0].Errors) == 1)
	}
}

// TestRunnerWhilePaused checks what a paused network changes: nothing but what ignores the pause, and the finalizers of released keys.
func TestRunnerWhilePaused(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "plaza"} }
	gone := &corev1.ConfigMap{ObjectMeta: meta("gone")}
	watched := &corev1.Secret{ObjectMeta: meta("watched")}
	watched.Labels = map[string]string{"of": "user"}
	released := &corev1.Secret{ObjectMeta: meta("released")}
	released.Finalizers = []string{v1alpha1.FinalizerKeys}
	for _, paused := range []bool{false, true} {
		api := fake.NewClientBuilder().WithObjects(gone, watched, released).WithReturnManagedFields().Build()
		exists := func(object client.Object) bool {
			err := api.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			require.NoError(t, client.IgnoreNotFound(err))
			return err == nil
		}
		p := passOf()
		own, west := p.Clusters[0], p.Clusters[1]
		own.Client, own.APIReader = api, api
		west.Reason = v1alpha1.ReasonClusterUnreachable
		p.SN.Spec.Paused = paused
		outcome := True("Fine", "")
		outcome.Watch(own, watched.DeepCopy())
		outcome.Watch(west, watched.DeepCopy())
		outcome.Pending = []string{"push settings"}
		for _, name := range []string{"waits", "urgent"} {
			object := &corev1.ConfigMap{ObjectMeta: meta(name), Data: map[string]string{"a": "1"}}
			object.Labels = map[string]string{"of": "operator"}
			outcome.Apply(Desired{Object: object, IgnorePause: name == "urgent"})
			outcome.Apply(Desired{Object: object, Cluster: west})
		}
		for _, c := range p.Clusters {
			outcome.Deletions = append(outcome.Deletions, Deletion{Object: gone.DeepCopy(), Cluster: c})
		}
		outcome.Released = []Deletion{{Object: released.DeepCopy(), Cluster: own}}
		outcome.Facts.NetworkID = "id"
		result := Runner{}.Run(t.Context(), p, []Stage{fixed{outcome}}).Results[0]
		require.Empty(t, result.Errors)
		require.Equal(t, "A", result.Condition)
		require.Equal(t, "id", p.Network.NetworkID)
		require.Equal(t, paused, exists(&corev1.ConfigMap{ObjectMeta: meta("gone")}))
		require.Equal(t, !paused, exists(&corev1.ConfigMap{ObjectMeta: meta("waits")}))
		require.True(t, exists(&corev1.ConfigMap{ObjectMeta: meta("urgent")}))
		now := &corev1.Secret{ObjectMeta: meta("watched")}
		require.True(t, exists(now))
		require.Equal(t, !paused, now.Labels[render.LabelWatched] == "true")
		require.Equal(t, "user", now.Labels["of"])
		now = &corev1.Secret{ObjectMeta: meta("released")}
		require.True(t, exists(now))
		require.Empty(t, now.Finalizers)
		if paused {
			require.Equal(t, []string{"push settings", "create ConfigMap waits", "delete ConfigMap gone"}, result.Pending)
			continue
		}
		require.Empty(t, result.Pending)
		p.SN.Spec.Paused, outcome.Pending, outcome.Deletions = true, nil, nil
		require.Empty(t, Runner{}.Run(t.Context(), p, []Stage{fixed{outcome}}).Results[0].Pending, "the objects are as they should be")
	}
}

// TestManagerAndPrune applies an object with a field manager of its own, and without what a user added to a part of it.
func TestManagerAndPrune(t *testing.T) {
	api := fake.NewClientBuilder().WithReturnManagedFields().Build()
	config := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "plaza"}, Data: data,
		}
	}
	p := passOf()
	p.Own().Client, p.Own().APIReader = api, api
	outcome := True("Fine", "")
	outcome.Apply(Desired{Object: config(map[string]string{"a": "1"}), Manager: "scaler", Prune: []string{"data"}})
	requireApplied := func() *corev1.ConfigMap {
		t.Helper()
		require.Empty(t, Runner{}.Run(t.Context(), p, []Stage{fixed{outcome}}).Results[0].Errors)
		live := config(nil)
		require.NoError(t, api.Get(t.Context(), client.ObjectKeyFromObject(live), live))
		require.Equal(t, map[string]string{"a": "1"}, live.Data)
		return live
	}
	live := requireApplied()
	require.Equal(t, "scaler", live.ManagedFields[0].Manager)
	live.Data["b"] = "2"
	require.NoError(t, api.Update(t.Context(), live, client.FieldOwner("user")))
	requireApplied()
}

// TestFailuresOfTheRunner checks that each kind of change that the API server refuses is reported, and that the others are made.
func TestFailuresOfTheRunner(t *testing.T) {
	secret := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza", Finalizers: []string{v1alpha1.FinalizerKeys}}}
	}
	refuse := interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		return errors.New("refused")
	}}
	watch := func(c *Cluster, o *Outcome) { o.Watch(c, secret("a")) }
	deletion := func(c *Cluster, o *Outcome) { o.Deletions = []Deletion{{Object: secret("a"), Cluster: c}} }
	release := func(c *Cluster, o *Outcome) { o.Released = []Deletion{{Object: secret("a"), Cluster: c}} }
	for name, change := range map[string]func(*Cluster, *Outcome){"label": watch, "delete": deletion, "release": release} {
		api := fake.NewClientBuilder().WithObjects(secret("a")).WithInterceptorFuncs(refuse).Build()
		p := passOf()
		p.Own().Client, p.Own().APIReader = api, api
		outcome := True("Fine", "")
		change(p.Own(), &outcome)
		result := Runner{}.Run(t.Context(), p, []Stage{fixed{outcome}}).Results[0]
		require.Len(t, result.Errors, 1, name)
		require.Equal(t, v1alpha1.ReasonApplyFailed, result.Reason, name)
		require.Contains(t, result.Message, "refused", name)
	}
}
