//go:build alerts

package acceptance

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/monitoring/prometheus"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// alertFactor is by how much the durations of alerts are shorter in TestOperatorAlerts: a day is 17 seconds.
const alertFactor = 5000

// scrape runs a Prometheus that scrapes the operator and evaluates the rules of a network until the test ends.
func (o *operator) scrape(sn *v1alpha1.SocialNetwork) *prometheus.Server {
	o.t.Helper()
	server := httptest.NewServer(promhttp.HandlerFor(client.Gatherers{o.registry, ctrlmetrics.Registry}, promhttp.HandlerOpts{}))
	o.t.Cleanup(server.Close)
	program, err := prometheus.Find(testenv.Root())
	require.NoError(o.t, err)
	p, err := prometheus.Start(o.t.Context(), prometheus.Options{
		Program: program, Dir: o.t.TempDir(), Interval: time.Second, Rules: monitoring.RuleFaster(render.Network{SN: sn}, alertFactor).Spec,
		Targets: []prometheus.Target{{
			Address: strings.TrimPrefix(server.URL, "http://"),
			Labels:  map[string]string{"pod": "plaza-operator-1", "job": "plaza-operator"},
		}},
	})
	require.NoError(o.t, err)
	o.t.Cleanup(p.Stop)
	return p
}

// fires waits until an alert of the network fires, or does not.
func (o *operator) fires(p *prometheus.Server, alert string, want bool) {
	o.t.Helper()
	o.eventually(fmt.Sprintf("%s to fire: %t", alert, want), func() string {
		found,
			err := p.Query(o.t.Context(), fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing",namespace=%q,network="acme"}`, alert, o.namespace))
		if err != nil || (len(found) > 0) != want {
			return fmt.Sprint(found, err)
		}
		return ""
	})
}

// TestOperatorAlerts makes alerts fire by what a running operator reports: they are silent before the fault and after it. Every panel
// of the operator's dashboard has data.
func TestOperatorAlerts(t *testing.T) {
	o := prepare(t)
	o.leads = true
	o.run()
	t.Cleanup(o.end)
	sn := o.up(sample(t, "socialnetwork"))
	o.readEvacuation(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	p := o.scrape(sn)
	for _, alert := range []string{"PlazaRegionEvacuated", "PlazaNetworkPaused", "PlazaNetworkNotReady"} {
		o.fires(p, alert, false)
	}

	o.evacuate(sn.Name, "us")
	o.awaitEvacuation(sn.Name, v1alpha1.ReasonEvacuated)
	o.fires(p, "PlazaRegionEvacuated", true)
	o.evacuate(sn.Name, "")
	o.awaitEvacuation(sn.Name, v1alpha1.ReasonAllHolds)
	o.fires(p, "PlazaRegionEvacuated", false)

	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = "plaza.example/plaza:v2" })
	o.fires(p, "PlazaNetworkNotReady", true)
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Paused = true })
	o.fires(p, "PlazaNetworkPaused", true)
	o.fires(p, "PlazaNetworkNotReady", false)
	o.requirePanels(p)
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Paused, sn.Spec.Image = false, "" })
	o.fires(p, "PlazaNetworkPaused", false)
}

// awaitEvacuation waits until the network is ready for a reason, while the servers report what they read.
func (o *operator) awaitEvacuation(network string, want v1alpha1.Reason) {
	o.t.Helper()
	o.eventually("the evacuation to begin or end", func() string {
		o.readEvacuation(network)
		for _, c := range get(o, &v1alpha1.SocialNetwork{}, network).Status.Conditions {
			if c.Type == v1alpha1.ConditionReady && c.Status == "True" && c.Reason == string(want) {
				return ""
			}
		}
		return "the network is not ready because of " + string(want)
	})
}

// requirePanels checks that every query of the operator's dashboard has a result.
func (o *operator) requirePanels(p *prometheus.Server) {
	o.t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(o.t, json.Unmarshal([]byte(monitoring.SharedDashboards()["plaza-operator.json"]), &board))
	queries := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			queries++
			expr := strings.NewReplacer("$__rate_interval", "30s", "$__range", "1m").Replace(target.Expr)
			o.eventually("data of the panel "+panel.Title, func() string {
				found, err := p.Query(o.t.Context(), expr)
				if err != nil || len(found) == 0 {
					return fmt.Sprint(expr, err)
				}
				return ""
			})
		}
	}
	require.Greater(o.t, queries, 12)
}
