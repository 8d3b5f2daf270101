package acceptance

import (
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// behind delays the watches of an operator's cache, and counts conflicts. It calls meddle before each of the operator's requests.
type behind struct {
	next      http.RoundTripper
	by        time.Duration
	meddle    func(*http.Request)
	conflicts *atomic.Int32
}

func (b behind) RoundTrip(req *http.Request) (*http.Response, error) {
	b.meddle(req)
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusConflict {
		b.conflicts.Add(1)
	}
	if req.URL.Query().Get("watch") != "" {
		resp.Body = &lateBody{ReadCloser: resp.Body, by: b.by}
	}
	return resp, nil
}

// lateBody delays what is read.
type lateBody struct {
	io.ReadCloser
	by time.Duration
}

func (l *lateBody) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	<-time.NewTimer(l.by).C
	return n, err
}

// meddler edits each Secret with server keys as a user once, right before the operator writes it for the first time since began is set.
type meddler struct {
	o      *operator
	began  atomic.Bool
	edited sync.Map // by the name of the Secret
}

func (m *meddler) meddle(req *http.Request) {
	name := path.Base(req.URL.Path)
	if !m.began.Load() || req.Method == http.MethodGet || !strings.HasSuffix(name, "-server-keys") {
		return
	}
	if _, again := m.edited.LoadOrStore(name, true); again {
		return
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.o.namespace, Name: name}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"other.example/n":"1"}}}`))
	if err := m.o.client.Patch(req.Context(), secret, patch, client.FieldOwner("user")); err != nil {
		m.o.t.Errorf("patching %s: %v", name, err)
	}
}

// TestConflictAndStaleCache runs an operator with a stale cache while others edit the same objects: nothing is created
// twice, no key is rotated twice, and the network converges.
func TestConflictAndStaleCache(t *testing.T) {
	ctx := t.Context()
	o := prepare(t)
	var conflicts atomic.Int32
	user := &meddler{o: o}
	o.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return behind{next: next, by: 200 * time.Millisecond, meddle: user.meddle, conflicts: &conflicts}
	})
	o.run()
	t.Cleanup(o.end)
	o.up(sample(t, "socialnetwork"))
	o.waitStates("acme", "Active", "us", "eu", "sg")

	before := conflicts.Load()
	user.began.Store(true)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRotate: "now"})
	})
	o.waitStates("acme", "Active Retiring", "us", "eu", "sg")
	require.GreaterOrEqual(t, conflicts.Load()-before, int32(3))
	o.happened(3, v1alpha1.ReasonRotationStarted)
	o.happened(6, v1alpha1.ReasonKeyActivated)
	o.happened(7, v1alpha1.ReasonKeysCreated)
	var jobs batchv1.JobList
	require.NoError(t, o.client.List(ctx, &jobs, client.InNamespace(o.namespace)))
	require.Len(t, jobs.Items, 1)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}
