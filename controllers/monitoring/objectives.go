package monitoring

import (
	"math/big"
	"slices"
	"strings"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// window is a pair of time windows in both of which the share of failed requests must be too high: the long one shows
// that it is significant, the short one that it still continues.
type window struct {
	long, short time.Duration
	factor      *big.Rat // of the error budget: 14.4 for an hour is 2% of the budget of 30 days
}

const day = 24 * time.Hour

var (
	fastWindows = []window{{time.Hour, 5 * time.Minute, big.NewRat(144, 10)}, {6 * time.Hour, 30 * time.Minute, big.NewRat(6, 1)}}
	slowWindows = []window{{day, 2 * time.Hour, big.NewRat(3, 1)}, {3 * day, 6 * time.Hour, big.NewRat(1, 1)}}
	// maxFailedRatio limits thresholds: with a low objective, 14.4 times the budget would exceed all requests.
	maxFailedRatio = big.NewRat(9, 10)
)

// minFailures is the number of failed requests within an hour below which no critical alert fires.
const minFailures = "10"

// failedRatio returns the name of the recorded share of failed requests within a window.
func failedRatio(d time.Duration) string {
	return "network_region:plaza_http_requests:failed_ratio_rate" + duration(d)
}

// recordings returns the recording rules of the error budget alerts.
func recordings(s scope) []monitoringv1.Rule {
	var over []time.Duration
	for _, w := range slices.Concat(fastWindows, slowWindows) {
		over = append(over, w.short, w.long)
	}
	slices.Sort(over)
	var rules []monitoringv1.Rule
	for _, d := range slices.Compact(over) {
		rules = append(rules, recording(s, d))
	}
	return rules
}

func recording(s scope, over time.Duration) monitoringv1.Rule {
	rate := func(matchers ...string) string {
		return by("sum", "rate("+s.of("plaza_http_requests_total", matchers...)+"["+duration(over)+"])", "region")
	}
	return monitoringv1.Rule{Record: failedRatio(over), Expr: intstr.FromString(rate(known, failed) + " / " + rate(known))}
}

// burns returns an expression that holds if the error budget is used up too fast in one of the pairs of windows.
func burns(s scope, windows []window) string {
	pairs := make([]string, 0, len(windows))
	for _, w := range windows {
		most := new(big.Rat).Mul(w.factor, s.budget)
		if most.Cmp(maxFailedRatio) > 0 {
			most = maxFailedRatio
		}
		over := func(d time.Duration) string { return s.of(failedRatio(d)) + " > " + decimal(most) }
		pairs = append(pairs, "("+over(w.long)+" and "+over(w.short)+")")
	}
	return strings.Join(pairs, " or ")
}

// slow returns an expression that holds if 1% of the requests take longer than the objective.
func slow(s scope, over time.Duration) string {
	buckets := "rate(" + s.of("plaza_http_request_duration_seconds_bucket", transfers) + "[" + duration(over) + "])"
	return "histogram_quantile(0.99, " + by("sum", buckets, "region", "le") + ") > " + seconds(s.latency)
}

func objectiveAlerts() []alert {
	const failing = "of the requests to region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }} fail because of the platform"
	return []alert{
		{
			name: "PlazaErrorBudgetBurnFast", severity: critical, after: 2 * time.Minute,
			meaning:     "requests to a region fail (5xx) at a rate that uses up 2% of the 30-day error budget in an hour, or 5% in six hours",
			summary:     "{{ $value | humanizePercentage }} of the requests to region {{ $labels.region }} of {{ $labels.network }} fail",
			description: "{{ $value | humanizePercentage }} " + failing + ". At this rate the 30-day error budget is used up within days.",
			expr: func(s scope) string {
				failures := "increase(" + s.of("plaza_http_requests_total", known, failed) + "[1h])"
				return "(" + burns(s, fastWindows) + ") and " + by("sum", failures, "region") + " > " + minFailures
			},
		},
		{
			name: "PlazaErrorBudgetBurnSlow", severity: warning, after: 15 * time.Minute,
			meaning:     "requests to a region fail (5xx) at a rate that uses up 10% of the 30-day error budget in a day, or more than its share in three days",
			summary:     "{{ $value | humanizePercentage }} of the requests to region {{ $labels.region }} of {{ $labels.network }} fail",
			description: "{{ $value | humanizePercentage }} " + failing + ". This is more than the objective allows in the long run.",
			expr:        func(s scope) string { return burns(s, slowWindows) },
		},
		{
			name: "PlazaLatencyHigh", severity: warning, after: 10 * time.Minute,
			meaning:     "1% of the requests to a region take longer than `latencyP99`, over 5 and over 30 minutes",
			summary:     "Requests to region {{ $labels.region }} of {{ $labels.network }} are slow: p99 is {{ $value | humanizeDuration }}",
			description: "1% of the requests to region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }} take {{ $value | humanizeDuration }} or longer, which exceeds the objective.",
			expr: func(s scope) string {
				// With few requests, the slowest one is the p99.
				count := "increase(" + s.of("plaza_http_request_duration_seconds_count", transfers) + "[30m])"
				return slow(s, 5*time.Minute) + " and " + slow(s, 30*time.Minute) + " and " + by("sum", count, "region") + " > 100"
			},
		},
	}
}
