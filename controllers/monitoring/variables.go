package monitoring

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
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

// variables are the values of the variables in alerts.yaml and dashboards/network.yaml, which document them.
type variables map[string]any

func variablesOf(n render.Network) variables {
	alerts := n.SN.Spec.Monitoring.Alerts
	budget, latency := budgetOf(alerts), cmp.Or(alerts.LatencyP99.Or(0), defaultLatency)
	availability := new(big.Rat).Sub(big.NewRat(1, 1), budget)
	percent, _ := new(big.Rat).Mul(availability, big.NewRat(100, 1)).Float64()
	network := fmt.Sprintf("namespace=%q,network=%q", n.TargetNamespace(), n.SN.Name)
	return variables{
		"$namespace": n.TargetNamespace(), "$name": n.SN.Name, "$uid": DashboardUID(n.SN.Namespace, n.SN.Name),
		"$regionCount": json.Number(strconv.Itoa(len(n.Regions()))),
		"$network":     network,
		"$selected":    network + `,region=~"$region"`,
		"$latency":     decimal(big.NewRat(int64(latency), int64(time.Second))), "$latencyText": latency.String(),
		"$availability": decimal(availability), "$availabilityPercent": fmt.Sprintf("%.7g%%", percent),
		"$budget": decimal(budget),
		"$burn14": burn(budget, 144), "$burn6": burn(budget, 60), "$burn3": burn(budget, 30), "$burn1": burn(budget, 10),
	}
}

// budgetOf returns the share of requests that may fail. It is exact, so that thresholds have no rounding errors.
func budgetOf(alerts v1alpha1.Alerts) *big.Rat {
	percent, ok := new(big.Rat).SetString(alerts.Availability)
	if !ok {
		percent, _ = new(big.Rat).SetString(defaultAvailability)
	}
	whole := big.NewRat(100, 1)
	return percent.Sub(whole, percent).Quo(percent, whole)
}

// burn returns the threshold of a burn rate, which is given in tenths. With a low objective, 14.4 times the budget would
// exceed all requests.
func burn(budget *big.Rat, tenths int64) json.Number {
	threshold, highest := new(big.Rat).Mul(budget, big.NewRat(tenths, 10)), big.NewRat(9, 10)
	if threshold.Cmp(highest) > 0 {
		threshold = highest
	}
	return decimal(threshold)
}

// decimal formats a number with up to nine decimal places.
func decimal(r *big.Rat) json.Number {
	return json.Number(strings.TrimRight(strings.TrimRight(r.FloatString(9), "0"), "."))
}

var variable = regexp.MustCompile(`\$\w+`)

// expand replaces the variables in a text. It keeps those of Grafana.
func (v variables) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := v[name]; ok {
			return fmt.Sprint(value)
		}
		return name
	})
}
