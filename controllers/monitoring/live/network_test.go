//go:build alerts || ui || observe

package live_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring/prometheus"
	"github.com/plaza-social/plaza/controllers/networkmetrics"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
)

// factor is by how much the windows and durations of the alerts are shorter than those of a network.
const factor = 100

// observed is the network of the tests: three servers under load, and the metrics of the operator about it.
type observed struct {
	*apptest.Network

	sn       *v1alpha1.SocialNetwork
	operator *networkmetrics.Metrics
	targets  []prometheus.Target
	fault    atomic.Pointer[func() error] // before each transaction of the servers
	toEU     *proxy.Proxy                 // to the database of the home eu
	toSG     *proxy.Proxy                 // through which Prometheus scrapes the server of sg
	toSecond *proxy.Proxy                 // through which Prometheus scrapes the server of eu again, as another pod
	hosts    *hosts                       // the public hosts, as the prober sees them

	restarting atomic.Bool // of the pod that TestObserve adds

	serverKeys []byte // the file, while it is damaged
	webhook    string // the id of the webhook that fails
	locking    *pgx.Conn
}

var errInjected = errors.New("injected")

// startNetwork starts a network under load until the test ends.
func startNetwork(t *testing.T) *observed {
	t.Helper()
	o := &observed{sn: socialNetwork(), hosts: newHosts(t)}
	var once sync.Once
	o.Network = apptest.Start(t, apptest.WithProductionLimits(), apptest.WithStoreFault(func() error {
		if fault := o.fault.Load(); fault != nil {
			return (*fault)()
		}
		return nil
	}), apptest.WithDatabaseURLs(map[region.Code]func(string) string{region.EU: func(url string) string {
		once.Do(func() { o.toEU = proxy.New(t, url) })
		return o.toEU.Through(url)
	}}), apptest.WithConfig(func(cfg *config.Config) { cfg.WebhookNetworks = config.Networks{netip.MustParsePrefix("127.0.0.0/8")} }))
	t.Cleanup(func() { o.toEU.Restore() }) // before the servers stop, which close their connections
	o.toSG, o.toSecond = proxy.New(t, o.OpsURL(region.SG)), proxy.New(t, o.OpsURL(region.EU))
	o.target("us", "acme-us-1", strings.TrimPrefix(o.OpsURL(region.US), "http://"))
	o.target("eu", "acme-eu-1", strings.TrimPrefix(o.OpsURL(region.EU), "http://"))
	o.target("eu", "acme-eu-2", o.toSecond.Addr())
	o.target("sg", "acme-sg-1", o.toSG.Addr())
	o.serveOperator(t)
	o.load(t)
	return o
}

// target adds a pod that Prometheus scrapes.
func (o *observed) target(code, pod, address string) {
	o.targets = append(o.targets, prometheus.Target{Address: address, Labels: map[string]string{
		"namespace": "social", "network": "acme", "region": code, "pod": pod,
	}})
}

func socialNetwork() *v1alpha1.SocialNetwork {
	return &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "social", Name: "acme"},
		Spec: v1alpha1.SocialNetworkSpec{
			Regions: []v1alpha1.Region{
				{Code: "us", Host: "us.acme.example"},
				{Code: "eu", Host: "eu.acme.example"},
				{Code: "sg", Host: "sg.acme.example"},
			},
			Monitoring: v1alpha1.Monitoring{
				Probe: &v1alpha1.Probe{Prober: "prober", Module: "http_2xx"},
				// A fault of hours would be needed otherwise.
				Alerts: v1alpha1.Alerts{Enabled: true, Availability: "99.9", LatencyP99: "500ms", Overrides: []v1alpha1.AlertOverride{
					{Name: "PlazaOutboxNotDraining", Threshold: "3s"},
					{Name: "PlazaUserMoveStuck", Threshold: "10s"},
					{Name: "PlazaWebhookFailing", Threshold: "3s"},
					{Name: "PlazaScheduledPostsOverdue", Threshold: "3s"},
				}},
			},
		},
	}
}

func (o *observed) rendered() render.Network { return render.Network{SN: o.sn} }

// serveOperator serves the metrics of the operator about a network in which everything is well.
func (o *observed) serveOperator(t *testing.T) {
	t.Helper()
	registry := client.NewRegistry()
	o.operator = networkmetrics.New(registry)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)
	o.targets = append(o.targets, prometheus.Target{
		Address: strings.TrimPrefix(server.URL, "http://"),
		Labels:  map[string]string{"pod": "plaza-operator-1"},
	})
	o.observe(func(*v1alpha1.SocialNetworkStatus) {}, time.Now().Add(time.Hour)) // the operator is not running; this is its last reconcile
}

// observe reports a status, which change makes differ from that of a network in which everything is well.
func (o *observed) observe(change func(*v1alpha1.SocialNetworkStatus), at time.Time) {
	ends := metav1.NewTime(time.Now().Add(60 * 24 * time.Hour))
	status := &v1alpha1.SocialNetworkStatus{
		Schema: v1alpha1.SchemaStatus{Current: "700", Target: "700", Attempts: 1}, ServerKeys: v1alpha1.ServerKeysStatus{NextRotation: &ends},
		Control: v1alpha1.ControlStatus{CertificatesNotAfter: &ends},
		Conditions: conditions(metav1.ConditionTrue, v1alpha1.ConditionReady, v1alpha1.ConditionKeysReady, v1alpha1.ConditionSchemaMigrated,
			v1alpha1.ConditionRegionsAvailable, v1alpha1.ConditionModerationApplied, v1alpha1.ConditionWebhooksApplied,
			v1alpha1.ConditionAlertsApplied, v1alpha1.ConditionRegionsPinned, v1alpha1.ConditionSwept),
	}
	for _, r := range o.sn.Spec.Regions {
		status.Regions = append(status.Regions, v1alpha1.RegionStatus{
			Code: r.Code, Conditions: conditions(metav1.ConditionTrue, v1alpha1.RegionAvailable, v1alpha1.RegionUpdated,
				v1alpha1.RegionKeysVerified),
		})
	}
	change(status)
	o.operator.Observe(o.sn, status, at)
}

func (o *observed) report(change func(*v1alpha1.SocialNetworkStatus)) {
	o.observe(change, time.Now().Add(time.Hour))
}

func conditions(status metav1.ConditionStatus, kinds ...string) []metav1.Condition {
	all := make([]metav1.Condition, len(kinds))
	for i, kind := range kinds {
		all[i] = metav1.Condition{Type: kind, Status: status}
	}
	return all
}

func (o *observed) setFault(f func() error) { o.fault.Store(&f) }

func (o *observed) damageKeys(t *testing.T) {
	t.Helper()
	var err error
	o.serverKeys, err = os.ReadFile(o.Keys.Server)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.Keys.Server, []byte("damaged"), 0o600))
}

func (o *observed) repairKeys(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(o.Keys.Server, o.serverKeys, 0o600))
}

// load sends requests to every region until the test ends: reads, writes, changes of other homes, wrong requests and events.
func (o *observed) load(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{}, 3)
	for _, code := range region.All() {
		user := o.NewUser(t, code, "user")
		community := user.NewCommunity(t)
		post := user.NewPost(t, community)
		events := user.ConnectMQTT(t).RequireSubscribe(t, o.NetworkID+"/social/community/"+community+"/post/+")
		go events.Discard(ctx)
		go func() {
			defer func() { ended <- struct{}{} }()
			for ctx.Err() == nil {
				o.step(ctx, user, community, post)
			}
		}()
	}
	t.Cleanup(func() {
		stop()
		for range region.All() {
			<-ended
		}
	})
}

// step sends a few requests of a user. They may fail.
func (o *observed) step(ctx context.Context, user *apptest.Client, community, post string) {
	for _, r := range []struct {
		caller             *apptest.Client
		method, path, body string
	}{
		{user, "POST", "/api/v4/posts", `{"targetType":"community","targetId":"` + community + `","data":{"text":"hello"}}`},
		{user, "GET", "/api/v3/posts/" + post, ""},
		{user, "POST", "/api/v3/comments", `{"referenceType":"post","referenceId":"` + post + `","data":{"text":"hello"}}`},
		{user, "GET", "/api/v3/posts/none", ""},
		{o.Bearer(user.Region, "wrong"), "GET", "/api/v3/users", ""},
	} {
		o.send(ctx, r.caller, r.method, r.path, r.body)
	}
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// send sends a request, whose result does not matter.
func (o *observed) send(ctx context.Context, caller *apptest.Client, method, path, body string) {
	request, err := http.NewRequestWithContext(ctx, method, o.BaseURL(caller.Region)+path, strings.NewReader(body))
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+caller.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := o.HTTP().Do(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}
