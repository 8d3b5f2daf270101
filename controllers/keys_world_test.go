package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/regional"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

var morning = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// stageWorld is a network on a pretended API server, with pretended platform servers.
type stageWorld struct {
	t       *testing.T
	client  client.Client
	sn      *v1alpha1.SocialNetwork
	now     time.Time
	random  io.Reader
	servers *pretended
	id      string // World.Network.NetworkID after the last pass
	// fingerprint is World.Network.SecretsFingerprint after the last pass.
	fingerprint string
	out         *passReport
	events      []string
}

func newStageWorld(t *testing.T, regions ...v1alpha1.RegionCode) *stageWorld {
	t.Helper()
	sn := &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza", UID: "uid-1", Generation: 1, Annotations: map[string]string{}},
		Spec: v1alpha1.SocialNetworkSpec{
			Moderation: v1alpha1.Moderation{ReportEnabled: true, FlagLimit: 100},
			ServerKeys: v1alpha1.ServerKeys{Overlap: "1h"},
			Database:   v1alpha1.Database{Localities: map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"}},
		},
	}
	w := &stageWorld{t: t, sn: sn, now: morning, random: rand.NewChaCha8([32]byte{1})}
	w.client = fake.NewClientBuilder().WithScheme(NewScheme()).WithStatusSubresource(&batchv1.Job{}).WithReturnManagedFields().Build()
	w.servers = &pretended{world: w, pods: map[v1alpha1.RegionCode][]*pod{}}
	for i, code := range regions {
		sn.Spec.Regions = append(sn.Spec.Regions, v1alpha1.Region{Code: code})
		for n := range 2 {
			w.servers.pods[code] = append(w.servers.pods[code], &pod{
				name: fmt.Sprintf("acme-%s-%d", code, n), ops: fmt.Sprintf("10.0.%d.%d:9080", i, n), code: code, fresh: true,
			})
		}
		require.NoError(t, w.client.Create(t.Context(), &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: render.RegionName("acme", code), Namespace: "plaza"},
			Spec:       corev1.ServiceSpec{ClusterIP: fmt.Sprintf("10.1.0.%d", i), Ports: []corev1.ServicePort{{Name: render.PortHTTPName, Port: 8080}}},
		}))
	}
	return w
}

// labelled is the cache: of Secrets it holds those with the label.
type labelled struct{ client.Client }

func (l labelled) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := l.Client.Get(ctx, key, object, options...); err != nil {
		return err
	}
	if secret, ok := object.(*corev1.Secret); ok && secret.Labels[render.LabelWatched] != "true" {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	return nil
}

// pass runs a stage as the reconciler does.
func (w *stageWorld) pass(stage Stage) stageResult {
	w.t.Helper()
	cached := labelled{w.client}
	r := &Reconciler{Client: cached, Fresh: w.client, Servers: w.servers, Stages: []Stage{stage}}
	world := &World{
		SN: w.sn.DeepCopy(), Now: w.now, Cached: cached, Fresh: w.client, Writer: w.client, Servers: w.servers, Status: w.sn.Status.DeepCopy(),
		Network: render.Network{SN: w.sn, NetworkID: w.sn.Status.NetworkID}, Reports: w.servers.reports(),
	}
	world.Status.PendingChanges = nil
	w.out = r.runStages(w.t.Context(), world)
	w.sn.Status = *w.out.status(world)
	w.id, w.fingerprint = world.Network.NetworkID, world.Network.SecretsFingerprint
	for _, event := range w.out.events {
		w.events = append(w.events, string(event.Reason)+" "+event.Message)
	}
	return w.out.results[0]
}

// keys runs the stage of the keys once.
func (w *stageWorld) keys() stageResult { w.t.Helper(); return w.pass(Keys{Random: w.random}) }

// settle runs the stage of the keys until it writes nothing.
func (w *stageWorld) settle() stageResult {
	w.t.Helper()
	for range 10 {
		before := w.versions()
		result := w.keys()
		require.Empty(w.t, result.errs)
		if before == w.versions() {
			return result
		}
	}
	require.FailNow(w.t, "the keys do not settle")
	return stageResult{}
}

// versions changes with every write to a Secret.
func (w *stageWorld) versions() string {
	var list corev1.SecretList
	require.NoError(w.t, w.client.List(w.t.Context(), &list))
	var all []string
	for _, secret := range list.Items {
		all = append(all, secret.Name+"="+secret.ResourceVersion)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (w *stageWorld) secret(name string) *corev1.Secret {
	w.t.Helper()
	var secret corev1.Secret
	require.NoError(w.t, w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "plaza", Name: name}, &secret))
	return &secret
}

// edit changes a Secret as a person would.
func (w *stageWorld) edit(name string, change func(*corev1.Secret)) {
	w.t.Helper()
	secret := w.secret(name)
	change(secret)
	require.NoError(w.t, w.client.Update(w.t.Context(), secret, client.FieldOwner("somebody")))
}

func (w *stageWorld) delete(name string) {
	w.t.Helper()
	require.NoError(w.t, w.client.Delete(w.t.Context(), w.secret(name)))
}

func (w *stageWorld) make(name string, data map[string]string) {
	w.t.Helper()
	require.NoError(w.t, w.client.Create(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza"}, StringData: data, Data: bytesOf(data)}))
}

func bytesOf(data map[string]string) map[string][]byte {
	raw := map[string][]byte{}
	for name, text := range data {
		raw[name] = []byte(text)
	}
	return raw
}

// region is how a region's keys stand: the reason, and the states of the keys.
func (w *stageWorld) region(code v1alpha1.RegionCode) string {
	for _, region := range w.sn.Status.Regions {
		if region.Code != code {
			continue
		}
		words := []string{"?"}
		if c := meta.FindStatusCondition(region.Conditions, v1alpha1.RegionKeysVerified); c != nil {
			words[0] = c.Reason
		}
		for _, key := range region.ServerKeys {
			words = append(words, string(key.State))
		}
		return strings.Join(words, " ")
	}
	return "none"
}

func (w *stageWorld) took() string {
	var reasons []string
	for _, event := range w.events {
		reasons = append(reasons, strings.Fields(event)[0])
	}
	w.events = nil
	return strings.Join(reasons, " ")
}

// pod is a server.
type pod struct {
	name, ops string
	code      v1alpha1.RegionCode
	fresh     bool // it reads every new file
	silent    bool
	keys      keyring.File
	runs      *statusz.Moderation // of its own; nil: its region's
	placement statusz.Placement
}

// pretended are the servers. It is regional.Servers.
type pretended struct {
	world *stageWorld
	pods  map[v1alpha1.RegionCode][]*pod

	mu         sync.Mutex
	moderation map[v1alpha1.RegionCode]statusz.Moderation
	lost       map[string]bool // addresses of APIs that are away
	refuse     error           // the answer to pushes
	pushes     []string
	asked      int
	schema     statusz.Schema // what every server says of the database
	image      string         // what every server is of
}

var errSilent = &regional.UnreachableError{Err: errors.New("connection refused")}

func (p *pretended) reports() map[v1alpha1.RegionCode][]Report {
	reports := map[v1alpha1.RegionCode][]Report{}
	for code, pods := range p.pods {
		for _, pod := range pods {
			status, err := p.Status(context.Background(), pod.ops)
			reports[code] = append(reports[code], Report{Pod: pod.name, Ops: pod.ops, Image: p.image, Status: status, Err: err})
		}
	}
	return reports
}

func (p *pretended) at(ops string) *pod {
	for _, pods := range p.pods {
		for _, pod := range pods {
			if pod.ops == ops {
				return pod
			}
		}
	}
	return nil
}

func (p *pretended) Status(_ context.Context, ops string) (statusz.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	pod := p.at(ops)
	if pod.silent {
		return statusz.Status{}, errSilent
	}
	moderation := p.moderation[pod.code]
	if pod.runs != nil {
		moderation = *pod.runs
	}
	moderation.Digest = moderation.Hash()
	return statusz.Status{Region: string(pod.code), NetworkID: "n", Schema: p.schema, Moderation: moderation, Placement: pod.placement}, nil
}

func (p *pretended) VerifyServerKey(ctx context.Context, ops, id string, key keyring.Secret) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	pod := p.at(ops)
	if pod.silent {
		return errSilent
	}
	if pod.fresh {
		p.load(ctx, pod)
	}
	entry, found := pod.keys.Find(id)
	if !found || !entry.Key.Equal(key) || !entry.ValidAt(p.world.now) {
		return regional.ErrKeyRefused
	}
	return nil
}

// load reads the Secret that the pod has mounted.
func (p *pretended) load(ctx context.Context, pod *pod) {
	name := render.ServerKeysSource(render.Network{SN: p.world.sn}, pod.code)
	var secret corev1.Secret
	if err := p.world.client.Get(ctx, client.ObjectKey{Namespace: "plaza", Name: name}, &secret); err != nil {
		return
	}
	if file, err := keyring.ParseFile(keyring.NewSecret(string(secret.Data[keyring.ServerKeysFile]))); err == nil && len(file) > 0 {
		pod.keys = file
	}
}

func (p *pretended) PushModeration(_ context.Context, api string, token keyring.Secret, m regional.Moderation) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	host, _, err := net.SplitHostPort(api)
	if err != nil || token.Reveal() == "" {
		return errors.New("no address, or no token")
	}
	p.pushes = append(p.pushes, host)
	switch {
	case p.lost[host]:
		return errSilent
	case p.refuse != nil:
		return p.refuse
	}
	for code := range p.pods { // what one region has, all have
		p.moderation[code] = statusz.Moderation{
			IsWhitelistEnabled: m.WhitelistEnabled, IsReportEnabled: m.ReportEnabled, FlagLimit: int(m.FlagLimit),
			Generation: m.ReportedGeneration(), AsOf: morning,
		}
	}
	return nil
}
