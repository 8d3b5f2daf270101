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
