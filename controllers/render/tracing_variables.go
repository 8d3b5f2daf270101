package render

import (
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// tracingVariables returns the standard variables of OpenTelemetry for the traces that the spec enables.
func tracingVariables(o *v1alpha1.Observability) []corev1.EnvVar {
	if o == nil || o.Tracing == nil {
		return nil
	}
	var out environment
	out.set("OTEL_EXPORTER_OTLP_ENDPOINT", o.Tracing.Endpoint)
	if percent, ok := new(big.Rat).SetString(o.Tracing.SamplingPercent); ok {
		ratio := percent.Quo(percent, big.NewRat(100, 1)).FloatString(5)
		out.set("OTEL_TRACES_SAMPLER_ARG", strings.TrimRight(strings.TrimRight(ratio, "0"), "."))
	}
	return out
}
