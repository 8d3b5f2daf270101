// Package tracing exports the traces of a server by OTLP, as the standard variables of OpenTelemetry configure it.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// The standard variables that this package reads itself; the SDK reads the others.
const (
	envDisabled       = "OTEL_SDK_DISABLED"
	envExporter       = "OTEL_TRACES_EXPORTER"
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envSampler        = "OTEL_TRACES_SAMPLER"
	envSamplerArg     = "OTEL_TRACES_SAMPLER_ARG"
)

// DefaultSampling is the share of requests that are traced if OTEL_TRACES_SAMPLER_ARG is not set.
const DefaultSampling = 0.01

// Tracing exports the traces of one region's server by OTLP over HTTP. A nil *Tracing exports nothing and costs nothing.
type Tracing struct{ provider *sdktrace.TracerProvider }

// New returns the tracing that the standard variables of OpenTelemetry configure, or nil if none of them names an
// endpoint.
func New(ctx context.Context, network string, home region.Code, log *slog.Logger) (*Tracing, error) {
	if !tracingEnabled() {
		return nil, nil // nil is the tracing that is off
	}
	sampler, err := samplerOf(os.Getenv(envSampler), os.Getenv(envSamplerArg))
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envEndpoint, err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", "plaza"), attribute.String("service.version", telemetry.BuildInfo().Version),
			attribute.String("plaza.network", network), attribute.String("plaza.region", home.String()),
		),
		resource.WithTelemetrySDK(), resource.WithFromEnv(), // which may replace service.name
	)
	if err != nil {
		return nil, err
	}
	logExportErrors(log)
	options := []sdktrace.TracerProviderOption{sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)}
	if sampler != nil {
		options = append(options, sdktrace.WithSampler(sampler))
	}
	return &Tracing{sdktrace.NewTracerProvider(options...)}, nil
}

func tracingEnabled() bool {
	switch {
	case strings.EqualFold(os.Getenv(envDisabled), "true"):
		return false
	case !strings.Contains(cmp.Or(os.Getenv(envExporter), "otlp"), "otlp"):
		return false
	}
	return cmp.Or(os.Getenv(envTracesEndpoint), os.Getenv(envEndpoint)) != ""
}

// samplerOf returns the sampler, or nil for the one that the SDK reads from the environment.
//
// A client may send the id of its trace, and that it is sampled: unlike the default of the SDK, its request is nevertheless
// sampled only with the configured ratio, by the id of the trace.
func samplerOf(name, argument string) (sdktrace.Sampler, error) {
	if name != "" {
		return nil, nil // nil is the sampler of the SDK
	}
	ratio := DefaultSampling
	if argument != "" {
		var err error
		if ratio, err = strconv.ParseFloat(argument, 64); err != nil || ratio < 0 || ratio > 1 {
			return nil, errors.New(envSamplerArg + " must be a number from 0 to 1")
		}
	}
	byID := sdktrace.TraceIDRatioBased(ratio)
	return sdktrace.ParentBased(byID, sdktrace.WithRemoteParentSampled(byID)), nil
}

// exportErrorsEvery is the minimum interval between two log lines about traces that were not exported.
const exportErrorsEvery = time.Minute

func logExportErrors(log *slog.Logger) {
	seldom := rate.Sometimes{Interval: exportErrorsEvery}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		seldom.Do(func() { log.Warn("traces were not exported", "error", err) })
	}))
}

// Tracer returns the tracer of the server, or nil.
func (t *Tracing) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(span.Tracer)
}

// Close exports what is left, which takes no longer than limit.
func (t *Tracing) Close(limit time.Duration) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // the error was passed to the error handler
}
