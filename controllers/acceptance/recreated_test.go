package acceptance

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TestStatusOfARecreatedNetwork deletes a network and creates it again, right before the operator writes the status of the first one for
// the first time: the write is refused, and the second one gets its own status.
func TestStatusOfARecreatedNetwork(t *testing.T) {
	o := prepare(t)
	sn := sample(t, "socialnetwork")
	var once sync.Once
	var answer atomic.Int32
	o.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			isFirst := false
			if req.Method == http.MethodPatch && strings.HasSuffix(req.URL.Path, "/socialnetworks/acme/status") {
				once.Do(func() { isFirst = true; o.recreate(req, sn) })
			}
			resp, err := next.RoundTrip(req)
			if isFirst && err == nil {
				answer.Store(int32(resp.StatusCode))
			}
			return resp, err
		})
	})
	o.run()
	t.Cleanup(o.end)
	first := o.apply(sn.DeepCopy())
	o.eventually("the status of the first network to be written", func() string {
		if answer.Load() == 0 {
			return "it is not"
		}
		return ""
	})
	require.Equal(t, int32(http.StatusConflict), answer.Load())
	o.condition("acme", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	require.NotEqual(t, first.UID, get(o, &v1alpha1.SocialNetwork{}, "acme").UID)
}

// recreate deletes the network and creates it again.
func (o *operator) recreate(req *http.Request, sn *v1alpha1.SocialNetwork) {
	again := sn.DeepCopy()
	again.Namespace = o.namespace
	if err := o.client.Delete(req.Context(),
		&v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: sn.Name}}); err != nil {
		o.t.Errorf("deleting the network: %v", err)
	}
	if err := o.client.Create(req.Context(), again); err != nil {
		o.t.Errorf("creating the network again: %v", err)
	}
}
