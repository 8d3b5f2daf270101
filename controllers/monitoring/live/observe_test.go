//go:build observe

package live_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/monitoring/page"
	"github.com/plaza-social/plaza/platform/region"
)

var (
	observedFault = flag.String("fault", "", "fault to cause: "+faultNames())
	observeListen = flag.String("listen", "127.0.0.1:8090", "address of the page")
	observeCalm   = flag.Duration("calm", 30*time.Second, "how long the network runs before the fault begins")
)

// shown is a fault that TestObserve can cause, and an alert that fires because of it.
type shown struct {
	does  string // completes "the fault …"
	alert string
	begin func(*testing.T, *observed)
}

var shownFaults = map[string]shown{
	"region-down": {"the servers of sg do not respond", "PlazaRegionDown", func(_ *testing.T, n *observed) {
		n.Stop(region.SG)
		n.report(func(s *v1alpha1.SocialNetworkStatus) {
			s.Regions[2].Conditions = conditions(metav1.ConditionFalse, v1alpha1.RegionAvailable)
		})
	}},
	"database-down": {"the database of eu does not respond", "PlazaDatabaseUnreachable", func(_ *testing.T, n *observed) { n.toEU.Refuse() }},
	"slow-database": {
		"each transaction takes 700 ms longer", "PlazaLatencyBudgetBurnFast",
		func(_ *testing.T, n *observed) {
			n.setFault(func() error { <-time.After(700 * time.Millisecond); return nil }) //nolint:forbidigo // the fault is the delay
		},
	},
	"errors": {"every second transaction fails", "PlazaErrorBudgetBurnFast", func(_ *testing.T, n *observed) {
		var count atomic.Int64
		n.setFault(func() error {
			if count.Add(1)%2 == 0 {
				return errInjected
			}
			return nil
		})
	}},
	"keys-damaged": {
		"the file of the server keys cannot be read", "PlazaKeysFileUnreadable",
		func(t *testing.T, n *observed) { t.Helper(); n.damageKeys(t) },
	},
	"restarts": {"a server restarts again and again", "PlazaServerRestarting", func(_ *testing.T, n *observed) { n.restarting.Store(true) }},
	"operator-down": {"the operator stops", "PlazaOperatorNotReconciling", func(_ *testing.T, n *observed) {
		n.observe(func(*v1alpha1.SocialNetworkStatus) {}, time.Now().Add(-time.Hour))
	}},
}

func faultNames() string { return strings.Join(slices.Sorted(maps.Keys(shownFaults)), ", ") }

// TestObserve shows the dashboards of a network under load, and the alerts that fire, until it is interrupted: make observe.
func TestObserve(t *testing.T) {
	fault, known := shownFaults[*observedFault]
	require.True(t, known || *observedFault == "", "there is no fault %q; the faults are %s", *observedFault, faultNames())
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sayf("starting a network, a load and Prometheus; the windows of the rules are %d times shorter", factor)
	n := startNetwork(t)
	n.serveRestarts(t)
	p := startPrometheus(t, monitoring.RuleFaster(n.rendered(), factor).Spec, n.targets, n.hosts.scraped(n.rendered()))
	note := ""
	if known {
		note = fmt.Sprintf("Fault %s: %s.", *observedFault, fault.does)
	}
	servePage(t, n, p, note)
	sayf("dashboards: http://%s", *observeListen)
	sayf("Prometheus: %s/alerts", p.URL())
	if !known {
		sayf("next: open the dashboards. To see an alert fire: make observe FAULT=… with one of %s. Ctrl-C ends everything.", faultNames())
	} else {
		sayf("next: open the dashboards; the fault %s begins in %s. Ctrl-C ends everything.", *observedFault, *observeCalm)
	}
	begins := time.NewTimer(*observeCalm)
	before := map[string]bool{}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-begins.C:
			if known {
				sayf("fault %s: %s; next: %s fires", *observedFault, fault.does, fault.alert)
				fault.begin(t, n)
			}
		case <-time.After(time.Second):
			before = sayChanges(ctx, p, before)
		}
	}
	sayf("ended")
}

func sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stdout, "observe: "+format+"\n", args...)
}

// sayChanges prints each alert that has begun or ceased to fire, and returns those that fire.
func sayChanges(ctx context.Context, p *server, before map[string]bool) map[string]bool {
	firing, err := p.Firing(ctx)
	if err != nil {
		return before // it is starting or ending
	}
	now := map[string]bool{}
	for _, labels := range firing {
		name := strings.TrimSpace(labels["alertname"] + " " + labels["region"] + " " + labels["home"])
		now[name] = true
		if !before[name] {
			sayf("firing: %s (%s)", name, labels["severity"])
		}
	}
	for name := range before {
		if !now[name] {
			sayf("no longer firing: %s", name)
		}
	}
	return now
}

// servePage serves the page until the test ends.
func servePage(t *testing.T, n *observed, p *server, note string) {
	t.Helper()
	boards := slices.Collect(maps.Values(monitoring.Dashboard(n.rendered()).Data))
	handler, err := page.Handler(page.Options{
		Prometheus: p.URL(), Dashboards: append(boards, monitoring.SharedDashboards()["plaza-fleet.json"]), ScrapeInterval: time.Second,
		Range: 5 * time.Minute, Note: note,
	})
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", *observeListen)
	require.NoError(t, err, "set another address with ARGS=-listen")
	web := httptest.NewUnstartedServer(handler)
	require.NoError(t, web.Listener.Close())
	web.Listener = l
	web.Start()
	t.Cleanup(web.Close)
}

// serveRestarts adds a pod of us whose server restarts with every scrape once that is wanted: the servers of the network share a process,
// which cannot.
func (o *observed) serveRestarts(t *testing.T) {
	t.Helper()
	began := time.Now().Unix()
	pod := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if o.restarting.Load() {
			began++
		}
		_, _ = fmt.Fprintf(w, "process_start_time_seconds %d\n", began)
	}))
	t.Cleanup(pod.Close)
	o.target("us", "acme-us-2", strings.TrimPrefix(pod.URL, "http://"))
}
