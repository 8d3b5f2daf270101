package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

func TestTracingVariables(t *testing.T) {
	require.Empty(t, tracingVariables(nil))
	require.Empty(t, tracingVariables(&v1alpha1.Observability{}))
	for percent, ratio := range map[string]string{"1": "0.01", "100": "1", "0": "0", "12.5": "0.125", "0.001": "0.00001", "10": "0.1"} {
		require.Equal(t, []corev1.EnvVar{
			{Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Value: "http://collector:4318"}, {Name: "OTEL_TRACES_SAMPLER_ARG", Value: ratio},
		}, tracingVariables(&v1alpha1.Observability{Tracing: &v1alpha1.Tracing{Endpoint: "http://collector:4318", SamplingPercent: percent}}))
	}
}
