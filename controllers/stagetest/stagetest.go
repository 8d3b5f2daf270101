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
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Start is the time of a harness's first pass.
var Start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// Harness holds a network, its API server and its platform servers.
type Harness struct {
	API // the operator's own cluster

	// Cache is what stages read as the informer cache; nil means Client without the Secrets that have no label.
	Cache   client.Reader
	SN      *v1alpha1.SocialNetwork
	Now     time.Time
	Random  io.Reader
	Servers *Servers
	Members []*Member
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
		API: newAPI(t), Now: Start, Random: rand.NewChaCha8([32]byte{1}),
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

// Join moves a region to a new member cluster.
func (h *Harness) Join(code v1alpha1.RegionCode) *Member {
	m := &Member{API: newAPI(h.T), Name: "cluster-" + string(code)}
	h.Members = append(h.Members, m)
	h.Move(code, m)
	return m
}

// Move moves a region to a member cluster, or to the operator's own if m is nil.
func (h *Harness) Move(code v1alpha1.RegionCode, m *Member) {
	i := slices.IndexFunc(h.SN.Spec.Regions, func(r v1alpha1.Region) bool { return r.Code == code })
	h.SN.Spec.Regions[i].Cluster = ""
	if m != nil {
		h.SN.Spec.Regions[i].Cluster = m.Name
	}
}

// Clusters returns the clusters of a pass.
func (h *Harness) Clusters() []*stage.Cluster {
	cached := labelledSecrets{h.Client}
	own := &stage.Cluster{
		Client: cached, Cache: cached, APIReader: h.Client, Servers: connection{h.Servers, ""},
		Network: render.Network{SN: h.SN, NetworkID: h.SN.Status.NetworkID},
	}
	if h.Cache != nil {
		own.Cache = h.Cache
	}
	all := []*stage.Cluster{own}
	for _, m := range h.Members {
		c := &stage.Cluster{Name: m.Name, Network: own.Network, Reason: m.Reason}
		c.Network.Cluster, c.Network.Namespace = m.Name, h.SN.Namespace
		if m.Reason != "" {
			c.Message = "The cluster " + m.Name + " cannot be used."
		} else {
			cached := labelledSecrets{m.Client}
			c.Client, c.Cache, c.APIReader, c.Servers = cached, cached, m.Client, connection{h.Servers, m.Name}
		}
		all = append(all, c)
	}
	return all
}

// memberOf returns the member cluster of a region, or nil.
func (h *Harness) memberOf(code v1alpha1.RegionCode) *Member {
	for _, m := range h.Members {
		if slices.ContainsFunc(h.SN.Spec.Regions, func(r v1alpha1.Region) bool { return r.Code == code && r.Cluster == m.Name }) {
			return m
		}
	}
	return nil
}

// apiOf returns the API server of a region's cluster.
func (h *Harness) apiOf(code v1alpha1.RegionCode) client.Client {
	if m := h.memberOf(code); m != nil {
		return m.Client
	}
	return h.Client
}

// Run runs a stage as the reconciler does and returns its result.
func (h *Harness) Run(s stage.Stage) stage.Result { h.T.Helper(); return h.RunAll(s)[0] }

// RunAll runs stages in order as the reconciler does and returns their results.
func (h *Harness) RunAll(stages ...stage.Stage) []stage.Result {
	h.T.Helper()
	clusters := h.Clusters()
	h.Pass = &stage.Pass{
		SN: h.SN.DeepCopy(), Now: h.Now, Clusters: clusters, Status: h.SN.Status.DeepCopy(), Network: clusters[0].Network,
		Reports: h.Servers.reports(),
	}
	h.Pass.Status.PendingChanges = nil
	h.Report = stage.Runner{}.Run(h.T.Context(), h.Pass, stages)
	require.Empty(h.T, h.Servers.Misdirected, "a server is called over the connection to its own cluster only")
	h.SN.Status = *h.Report.Status(h.Pass)
	for _, event := range h.Report.Events {
		h.Events = append(h.Events, string(event.Reason)+" "+event.Message)
	}
	return h.Report.Results
}

// RunKeys runs the keys stage once.
func (h *Harness) RunKeys() stage.Result { h.T.Helper(); return h.Run(keys.Stage{Random: h.Random}) }

// SecretVersions returns a text that changes with every write to a Secret of any cluster.
func (h *Harness) SecretVersions() string {
	h.T.Helper()
	all := []string{h.API.SecretVersions()}
	for _, m := range h.Members {
		all = append(all, m.Name+": "+m.SecretVersions())
	}
	return strings.Join(all, " ")
}

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
