package edge

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
)

// What the zero values of Options stand for.
const (
	DefaultMaxBodyBytes   = 1 << 20
	DefaultRequestTimeout = 30 * time.Second
)

// Options is what a handler is made of.
type Options struct {
	// Services are the implementations; every one is required.
	Services Services
	// Interceptors run between the error mapping and the validation, the first outermost: they see requests before they
	// are validated, may return errors of package fail, and may panic.
	Interceptors []connect.Interceptor
	// Log gets a line per request and a line per failure; nil discards them. Records that are logged with the context of
	// a request carry its id.
	Log *slog.Logger
	// MaxBodyBytes bounds a request body, before and after decompression; 0 is DefaultMaxBodyBytes.
	MaxBodyBytes int64
	// RequestTimeout bounds a unary operation, and the arrival of a REST body; 0 is DefaultRequestTimeout.
	RequestTimeout time.Duration
	// Ready is asked by gRPC health checks; nil is always ready.
	Ready func(ctx context.Context) error
	// Registerer gets the metrics plaza_http_…; nil registers nothing.
	Registerer prometheus.Registerer
	// Streams are the operations beside the services, whose bodies are streams.
	Streams []Stream
	// Realtime serves the paths below /realtime/; nil serves none.
	Realtime Realtime
	// Pages serves the API document and what shows it; nil serves none.
	Pages Pages
	// CORSOrigins are the origins whose pages may call; none is every origin.
	CORSOrigins []string
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxBodyBytes <= 0 {
		o.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	o.Log = slog.New(LogHandler(o.Log.Handler()))
	return o
}

// New returns the handler of a region's API. It fails for a missing service, for rules in the proto files that make no
// sense, and for metrics that are registered already.
func New(options Options) (http.Handler, error) {
	if err := options.Services.check(); err != nil {
		return nil, err
	}
	o := options.withDefaults()
	described, err := schemaOf(o.Services.handlers())
	if err != nil {
		return nil, err
	}
	measured, err := newMetrics(o.Registerer, described.procedures, o.Streams)
	if err != nil {
		return nil, err
	}
	rest, rpc, err := o.fronts(described)
	if err != nil {
		return nil, err
	}
	e := &edge{rest: rest, rpc: rpc, metrics: measured, log: o.Log, realtime: o.Realtime, pages: o.Pages}
	e.routed = newCORS(o.CORSOrigins).Handler(http.HandlerFunc(e.route))
	return e, nil
}

// whoAsks tells callers apart, for page tokens.
func whoAsks(ctx context.Context) string {
	caller := auth.CallerFrom(ctx)
	return caller.Kind.String() + " " + caller.UserID
}

// fronts makes the two ways to the services. They differ in the codec, so each has connect handlers of its own.
func (o Options) fronts(described *schema) (*restFront, *rpcFront, error) {
	checks, err := newValidation(described.requests)
	if err != nil {
		return nil, nil, err
	}
	chain := append([]connect.Interceptor{&failures{log: o.Log, timeout: o.RequestTimeout}}, o.Interceptors...)
	common := connect.WithHandlerOptions(
		connect.WithInterceptors(append(chain, checks, page.Bind(whoAsks))...),
		connect.WithCompression(compressionGzip, newDecompressor, newCompressor),
		connect.WithCompressMinBytes(compressFrom),
	)
	table, err := newRoutes(described.services)
	if err != nil {
		return nil, nil, err
	}
	for _, stream := range o.Streams {
		if err := table.addStream(stream); err != nil {
			return nil, nil, err
		}
	}
	transcoder, err := newTranscoder(
		o.Services.handlers(common, connect.WithCodec(handoffCodec{jsonCodec{codecJSON}})),
		restCodec{requests: described.isRequest},
	)
	if err != nil {
		return nil, nil, err
	}
	rest := &restFront{
		routes: table, transcoder: transcoder, maxBody: o.MaxBodyBytes, bodyTimeout: o.RequestTimeout, log: o.Log,
	}
	services := o.Services.handlers(common,
		connect.WithReadMaxBytes(int(o.MaxBodyBytes)),
		connect.WithCodec(protoCodec{}),
		connect.WithCodec(jsonCodec{codecJSON}),
		connect.WithCodec(jsonCodec{codecJSONCharset}),
	)
	rpc := &rpcFront{
		services:    withOperations(services, o.Ready, o.MaxBodyBytes),
		procedures:  described.procedures,
		maxBody:     o.MaxBodyBytes,
		bodyTimeout: o.RequestTimeout,
	}
	return rest, rpc, nil
}

// edge is the handler: what every request passes, whatever it speaks.
type edge struct {
	rest    *restFront
	rpc     *rpcFront
	routed  http.Handler // route, behind CORS
	metrics *metrics
	log     *slog.Logger
	// realtime is nil where there are no streams of events.
	realtime Realtime
	// pages is nil where there are none.
	pages Pages
}

func (e *edge) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	ex := &exchange{
		ResponseWriter: w,
		requestID:      requestIDOf(request.Header.Get(HeaderRequestID)),
		began:          time.Now(),
		protocol:       protocolREST,
		procedure:      procedureUnknown,
	}
	header := w.Header()
	header[HeaderRequestID] = []string{ex.requestID}
	header["X-Content-Type-Options"] = []string{"nosniff"}
	header.Add("Vary", "Accept-Encoding") // whatever becomes of the answer: a cache decides by the question
	ctx := context.WithValue(request.Context(), exchangeKey{}, ex)
	e.metrics.inFlight.Inc()
	defer e.settle(ctx, ex, request.Method)
	e.routed.ServeHTTP(ex, request.WithContext(ctx))
}

// route chooses the front. It may change the request: ServeHTTP has made a copy of it.
func (e *edge) route(_ http.ResponseWriter, request *http.Request) {
	ex := exchangeFrom(request.Context())
	if e.isRealtime(request) {
		e.serveRealtime(ex, request)
		return
	}
	if e.pages != nil && e.pages.Handles(request.URL.Path) {
		e.servePage(ex, request)
		return
	}
	if e.rpc.handles(request.URL.Path) {
		e.rpc.ServeHTTP(ex, request)
		return
	}
	e.rest.ServeHTTP(ex, request)
}

// settle ends a request: the last recover, metrics, and the access log. It must be deferred itself, to recover.
func (e *edge) settle(ctx context.Context, ex *exchange, method string) {
	value := recover()
	e.metrics.inFlight.Dec()
	if value != nil && !e.survive(ctx, ex, value) {
		defer panic(http.ErrAbortHandler) // after metrics and log: the client must see that the answer is cut off
	}
	elapsed := time.Since(ex.began)
	e.metrics.observe(ex, elapsed.Seconds())
	e.accessLog(ctx, ex, method, elapsed)
}

// survive answers a request whose panic no interceptor caught: a fault of the edge itself. It reports false where the
// connection has to end instead, because the handler wants it or an answer has begun.
func (e *edge) survive(ctx context.Context, ex *exchange, value any) bool {
	if value == any(http.ErrAbortHandler) {
		return false
	}
	failed := recovered(value)
	(&failures{log: e.log}).logOnce(ctx, ex.procedure, fail.Unexpected(failed), failed)
	if ex.status != 0 && ex.held == nil {
		return false
	}
	ex.refuse(refuse(fail.Unexpected(failed)))
	return true
}

// accessLog writes one line a request, without path, query and headers: they hold ids and credentials.
func (e *edge) accessLog(ctx context.Context, ex *exchange, method string, elapsed time.Duration) {
	level := slog.LevelInfo
	if ex.procedure == procedureUnknown {
		level = slog.LevelDebug // health checks, preflights, and what scanners ask for
	}
	if !e.log.Enabled(ctx, level) {
		return
	}
	e.log.LogAttrs(ctx, level, "request",
		slog.String("method", method),
		slog.String("procedure", ex.procedure),
		slog.String("protocol", string(ex.protocol)),
		slog.Int("status", ex.outcome()),
		slog.Int64("bytes", ex.written),
		slog.Duration("duration", elapsed),
	)
}
