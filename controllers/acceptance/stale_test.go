package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// behind delays the watches of an operator's cache, and counts conflicts. While hold is locked, watches of Secrets deliver nothing.
type behind struct {
	next      http.RoundTripper
	by        time.Duration
	hold      *sync.RWMutex
	conflicts *atomic.Int32
}

func (b behind) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusConflict {
		b.conflicts.Add(1)
	}
	if req.URL.Query().Get("watch") != "" {
		late := &lateBody{ReadCloser: resp.Body, by: b.by, hold: &sync.RWMutex{}}
		if strings.HasSuffix(req.URL.Path, "/secrets") {
			late.hold = b.hold
		}
		resp.Body = late
	}
	return resp, nil
}

// lateBody delays what is read, for a time and while hold is locked.
type lateBody struct {
	io.ReadCloser
	by   time.Duration
	hold *sync.RWMutex
}

func (l *lateBody) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	<-time.NewTimer(l.by).C
	l.hold.RLock()
	defer l.hold.RUnlock()
	return n, err
}

// TestConflictAndStaleCache runs an operator with a stale cache while others edit the same objects: nothing is created
// twice, no key is rotated twice, and the network converges.
func TestConflictAndStaleCache(t *testing.T) {
	ctx := t.Context()
	o := prepare(t)
	var conflicts atomic.Int32
	var hold sync.RWMutex
	o.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return behind{next: next, by: 700 * time.Millisecond, hold: &hold, conflicts: &conflicts}
	})
	o.run()
	t.Cleanup(o.end)
	sn := o.up(sample(t, "socialnetwork"))
	o.waitStates("acme", "Active", "us", "eu", "sg")

	hold.Lock()
	release := sync.OnceFunc(hold.Unlock)
	t.Cleanup(release)
	for _, region := range sn.Spec.Regions {
		secret := &corev1.Secret{}
		secret.Namespace, secret.Name = o.namespace, "acme-"+string(region.Code)+"-server-keys"
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"other.example/n":"1"}}}`))
		require.NoError(t, o.client.Patch(ctx, secret, patch, client.FieldOwner("user")))
	}
	before := conflicts.Load()
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRotate: "now"})
	})
	o.eventually("conflicts", func() string {
		if n := conflicts.Load() - before; n < 3 {
			return fmt.Sprintf("only %d", n)
		}
		return ""
	})
	release()
	o.waitStates("acme", "Active Retiring", "us", "eu", "sg")
	o.happened(3, v1alpha1.ReasonRotationStarted)
	o.happened(6, v1alpha1.ReasonKeyActivated)
	o.happened(7, v1alpha1.ReasonKeysCreated)
	var jobs batchv1.JobList
	require.NoError(t, o.client.List(ctx, &jobs, client.InNamespace(o.namespace)))
	require.Len(t, jobs.Items, 1)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}
