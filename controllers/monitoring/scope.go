package monitoring

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// The default objectives, equal to the defaults of the CRD.
const (
	defaultAvailability = "99.9"
	defaultLatency      = 500 * time.Millisecond
)

// scope is the network that a query selects.
type scope struct {
	namespace string
	network   string
	regions   []string // in the order of the spec
	region    string   // of an alert with a rule for each region
	budget    *big.Rat // share of requests that may fail
	latency   time.Duration
}

func scopeOf(n render.Network) scope {
	s := scope{namespace: n.SN.Namespace, network: n.SN.Name}
	for _, region := range n.SN.Spec.Regions {
		s.regions = append(s.regions, string(region.Code))
	}
	s.budget = budgetOf(n.SN.Spec.Monitoring.Alerts)
	s.latency = latencyOf(n.SN.Spec.Monitoring.Alerts)
	return s
}

// budgetOf returns an exact number, so that thresholds have no rounding errors.
func budgetOf(alerts v1alpha1.Alerts) *big.Rat {
	percent, ok := new(big.Rat).SetString(alerts.Availability)
	if !ok {
		percent, _ = new(big.Rat).SetString(defaultAvailability)
	}
	whole := big.NewRat(100, 1)
	return percent.Sub(whole, percent).Quo(percent, whole)
}

func latencyOf(alerts v1alpha1.Alerts) time.Duration {
	if d, err := time.ParseDuration(string(alerts.LatencyP99)); err == nil && d > 0 {
		return d
	}
	return defaultLatency
}

// of selects the network's series of a metric that match further matchers.
func (s scope) of(metric string, matchers ...string) string {
	all := append([]string{fmt.Sprintf("namespace=%q", s.namespace), fmt.Sprintf("network=%q", s.network)}, matchers...)
	return metric + "{" + strings.Join(all, ",") + "}"
}

// condition selects the series of a condition of the network with a status.
func (s scope) condition(kind, status string) string {
	return s.of("plaza_operator_condition", fmt.Sprintf("type=%q", kind), fmt.Sprintf("status=%q", status))
}

// by aggregates by the network's labels and further ones.
func by(how, series string, labels ...string) string {
	return fmt.Sprintf("%s by (%s) (%s)", how, strings.Join(append([]string{"namespace", "network"}, labels...), ", "), series)
}

// Matchers for the requests that count for the objectives: requests to an operation, but no probes and scanners; for
// the latency no transfers, which depend on the client's connection.
const (
	known     = `procedure!="unknown"`
	transfers = `procedure!~"unknown|/plaza.v1.FileService/(Download|Upload).*"`
	failed    = `code=~"5.."`
)

// decimal formats a number with up to nine decimal places.
func decimal(r *big.Rat) string {
	text := r.FloatString(9)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// seconds formats a duration as a number of seconds.
func seconds(d time.Duration) string {
	return decimal(big.NewRat(int64(d), int64(time.Second)))
}

// duration formats a duration for Prometheus: 90s, 15m, 1h, 3d.
func duration(d time.Duration) string {
	switch {
	case d == 0:
		return "0s"
	case d%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return fmt.Sprintf("%ds", d/time.Second)
	}
}
