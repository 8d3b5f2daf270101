// Package stagetest runs single stages against a fake API server and fake platform servers.
package stagetest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Start is the time of a harness's first pass.
var Start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// Harness holds a network, its API server and its platform servers.
type Harness struct {
	T      *testing.T
	Client client.Client
	// Cache is what stages read as the informer cache; nil means Client without the Secrets that have no label.
	Cache   client.Reader
	SN      *v1alpha1.SocialNetwork
	Now     time.Time
	Random  io.Reader
	Servers *Servers
	// Pass and Report are those of the last run.
	Pass   *stage.Pass
	Report *stage.Report
	// Events are the reason and message of each event since the last TakeEvents.
	Events []string
}

// New returns a harness for the network acme with two servers in each region.
func New(t *testing.T, regions ...v1alpha1.RegionCode) *Harness {
	t.Helper()
	h := &Harness{
		T: t, Now: Start, Random: rand.NewChaCha8([32]byte{1}),
		Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithStatusSubresource(&batchv1.Job{}).WithReturnManagedFields().Build(),
		SN: &v1alpha1.SocialNetwork{
			ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza", UID: "uid-1", Generation: 1, Annotations: map[string]string{}},
			Spec: v1alpha1.SocialNetworkSpec{
				Moderation: v1alpha1.Moderation{ReportEnabled: true, FlagLimit: 100},
				ServerKeys: v1alpha1.ServerKeys{Overlap: "1h"},
				Database:   v1alpha1.Database{Localities: map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"}},
			},
		},
	}
	h.Servers = &Servers{harness: h, Pods: map[v1alpha1.RegionCode][]*Pod{}}
	for i, code := range regions {
		h.SN.Spec.Regions = append(h.SN.Spec.Regions, v1alpha1.Region{Code: code})
		for n := range 2 {
			h.Servers.Pods[code] = append(h.Servers.Pods[code], &Pod{
				name: fmt.Sprintf("acme-%s-%d", code, n), ops: fmt.Sprintf("10.0.%d.%d:9080", i, n), code: code,
			})
		}
	}
	return h
}

// labelledSecrets reads like the cache: it holds only the Secrets with the label.
type labelledSecrets struct{ client.Client }

func (l labelledSecrets) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := l.Client.Get(ctx, key, object, options...); err != nil {
		return err
	}
	if secret, ok := object.(*corev1.Secret); ok && secret.Labels[render.LabelWatched] != "true" {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	return nil
}

// Run runs a stage as the reconciler does and returns its result.
func (h *Harness) Run(s stage.Stage) stage.Result {
	h.T.Helper()
	cached := labelledSecrets{h.Client}
	own := &stage.Cluster{
		Client: cached, Cache: cached, APIReader: h.Client, Servers: h.Servers, Network: render.Network{SN: h.SN, NetworkID: h.SN.Status.NetworkID},
	}
	if h.Cache != nil {
		own.Cache = h.Cache
	}
	h.Pass = &stage.Pass{
		SN: h.SN.DeepCopy(), Now: h.Now, Clusters: []*stage.Cluster{own}, Status: h.SN.Status.DeepCopy(), Network: own.Network,
		Reports: h.Servers.reports(),
	}
	h.Pass.Status.PendingChanges = nil
	h.Report = stage.Runner{}.Run(h.T.Context(), h.Pass, []stage.Stage{s})
	h.SN.Status = *h.Report.Status(h.Pass)
	for _, event := range h.Report.Events {
		h.Events = append(h.Events, string(event.Reason)+" "+event.Message)
	}
	return h.Report.Results[0]
}

// RunKeys runs the keys stage once.
func (h *Harness) RunKeys() stage.Result { h.T.Helper(); return h.Run(keys.Stage{Random: h.Random}) }

// SettleKeys runs the keys stage until it writes nothing, and returns the last result.
func (h *Harness) SettleKeys() stage.Result {
	h.T.Helper()
	for range 10 {
		before := h.SecretVersions()
		result := h.RunKeys()
		require.Empty(h.T, result.Errors)
		if before == h.SecretVersions() {
			return result
		}
	}
	require.FailNow(h.T, "the keys stage does not settle")
	return stage.Result{}
}

// SecretVersions returns a text that changes with every write to a Secret.
func (h *Harness) SecretVersions() string {
	var list corev1.SecretList
	require.NoError(h.T, h.Client.List(h.T.Context(), &list))
	var all []string
	for _, secret := range list.Items {
		all = append(all, secret.Name+"="+secret.ResourceVersion)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Secret reads a Secret.
func (h *Harness) Secret(name string) *corev1.Secret {
	h.T.Helper()
	var secret corev1.Secret
	require.NoError(h.T, h.Client.Get(h.T.Context(), client.ObjectKey{Namespace: "plaza", Name: name}, &secret))
	return &secret
}

// EditSecret changes a Secret as a user would.
func (h *Harness) EditSecret(name string, change func(*corev1.Secret)) {
	h.T.Helper()
	secret := h.Secret(name)
	change(secret)
	require.NoError(h.T, h.Client.Update(h.T.Context(), secret, client.FieldOwner("user")))
}

// DeleteSecret deletes a Secret.
func (h *Harness) DeleteSecret(name string) {
	h.T.Helper()
	require.NoError(h.T, h.Client.Delete(h.T.Context(), h.Secret(name)))
}

// LoseSecret deletes a Secret in spite of its finalizers, as the loss of a cluster does.
func (h *Harness) LoseSecret(name string) {
	h.T.Helper()
	h.EditSecret(name, func(s *corev1.Secret) { s.Finalizers = nil })
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza"}}
	require.NoError(h.T, client.IgnoreNotFound(h.Client.Delete(h.T.Context(), secret)))
}

// CreateSecret creates a Secret as a user would.
func (h *Harness) CreateSecret(name string, data map[string]string) {
	h.T.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza"}, Data: map[string][]byte{}}
	for key, text := range data {
		secret.Data[key] = []byte(text)
	}
	require.NoError(h.T, h.Client.Create(h.T.Context(), secret))
}

// TakeEvents returns the reasons of the events since the last call.
func (h *Harness) TakeEvents() string {
	var reasons []string
	for _, event := range h.Events {
		reason, _, _ := strings.Cut(event, " ")
		reasons = append(reasons, reason)
	}
	h.Events = nil
	return strings.Join(reasons, " ")
}
