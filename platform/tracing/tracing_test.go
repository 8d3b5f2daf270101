package tracing

import (
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// TestTracingEnabled checks which variables turn tracing on and off.
func TestTracingEnabled(t *testing.T) {
	for name, tc := range map[string]struct {
		variables map[string]string
		want      bool
	}{
		"no variables":            {nil, false},
		"an endpoint":             {map[string]string{envEndpoint: "http://collector:4318"}, true},
		"an endpoint of traces":   {map[string]string{envTracesEndpoint: "http://collector:4318"}, true},
		"an exporter":             {map[string]string{envExporter: "otlp"}, false},
		"an exporter to it":       {map[string]string{envEndpoint: "http://collector:4318", envExporter: "otlp"}, true},
		"one of two exporters":    {map[string]string{envEndpoint: "http://collector:4318", envExporter: "console,otlp"}, true},
		"another exporter":        {map[string]string{envEndpoint: "http://collector:4318", envExporter: "none"}, false},
		"the SDK is disabled":     {map[string]string{envEndpoint: "http://collector:4318", envDisabled: "TRUE"}, false},
		"the SDK is not disabled": {map[string]string{envEndpoint: "http://collector:4318", envDisabled: "false"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{envDisabled, envExporter, envEndpoint, envTracesEndpoint} {
				t.Setenv(variable, tc.variables[variable])
			}
			require.Equal(t, tc.want, tracingEnabled())
		})
	}
}

// TestSampling checks that the ratio decides by the id of the trace, also for the traces that clients began.
func TestSampling(t *testing.T) {
	at := func(first byte) trace.TraceID { return trace.TraceID{1, 2, 3, 4, 5, 6, 7, 8, first, 2} }
	for name, tc := range map[string]struct {
		argument string
		id       trace.TraceID
		want     bool
	}{
		// Ids are ordered by their last eight bytes; the first ones are sampled.
		"without a ratio":       {"", at(2), true},
		"without a ratio, next": {"", at(3), false},
		"a quarter":             {"0.25", at(63), true},
		"a quarter, next":       {"0.25", at(64), false},
		"none":                  {"0", at(0), false},
		"all":                   {"1", at(255), true},
	} {
		sampler, err := samplerOf("", tc.argument)
		require.NoError(t, err, name)
		sampled := func(parent trace.SpanContextConfig) bool {
			parent.TraceID = tc.id
			ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(parent))
			return sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: ctx, TraceID: tc.id}).Decision == sdktrace.RecordAndSample
		}
		require.Equal(t, tc.want, sampled(trace.SpanContextConfig{}), name)
		client := trace.SpanContextConfig{SpanID: trace.SpanID{1}, Remote: true}
		require.False(t, sampled(client), "the client does not sample it")
		client.TraceFlags = trace.FlagsSampled
		require.Equal(t, tc.want, sampled(client), name)
		require.True(t, sampled(trace.SpanContextConfig{SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled}), "a span of this server")
	}
	for _, argument := range []string{"-0.1", "1.1", "a"} {
		_, err := samplerOf("", argument)
		require.EqualError(t, err, "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1", argument)
	}
	sampler, err := samplerOf("always_on", "a")
	require.NoError(t, err)
	require.Nil(t, sampler, "the SDK reads both")
}
