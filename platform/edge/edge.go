package edge

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/page"
)

// Defaults of Options.
const (
	DefaultMaxBodyBytes   = 1 << 20
	DefaultRequestTimeout = 30 * time.Second
)

// Options configures the handler.
type Options struct {
	// Services are the implementations of the API.
	Services Services
	// Interceptors run between the error mapping and the validation, the first one outermost. They see requests that
	// are not validated yet, may return errors of package fail, and may panic.
	Interceptors []connect.Interceptor
	// Prehook, unless it is nil, is asked before each operation, with its valid request. It can refuse the operation, and change the
	// request, which is checked again then.
	Prehook func(ctx context.Context, procedure string, request proto.Message) (changed bool, err error)
	// Log receives one line per request, with the request id; nil discards them.
	Log *slog.Logger
	// LogOneIn is in how many requests that the server does not fail one has a line in the log: 1 means all, 0 none. Failed requests always
	// have one, and at level debug all requests do.
	LogOneIn int64
	// MaxBodyBytes limits a request body, before and after decompression; 0 means DefaultMaxBodyBytes.
	MaxBodyBytes int64
	// RequestTimeout limits a unary operation, and the time in which a body must arrive; 0 means DefaultRequestTimeout.
	RequestTimeout time.Duration
	// ResponseMemory limits the bytes of large responses that clients have not read yet; 0 means DefaultResponseMemory.
	ResponseMemory int64
	// WriteTimeout limits the time in which a client must read 64 KiB of a response; 0 means that of production.
	WriteTimeout time.Duration
	// Ready reports, as nil, that the server is ready, to gRPC health checks; if Ready is nil, it always is.
	Ready func(ctx context.Context) error
	// Registerer registers the metrics plaza_http_…; nil registers none.
	Registerer prometheus.Registerer
	// Counts counts the requests; nil counts nothing.
	Counts *Counts
	// Tracer makes the spans of requests; nil makes none.
	Tracer trace.Tracer
	// Streams are operations in addition to those of the services.
	Streams []Stream
	// Realtime serves the paths below /realtime/; it may be nil.
	Realtime Realtime
	// Pages serves the API document and the pages that show it; it may be nil.
	Pages Pages
	// RateLimits limits the rate of requests; nil limits nothing.
	RateLimits *RateLimits
	// CORSOrigins are the origins whose pages may call the API; none means all.
	CORSOrigins []string
	// TLS is whether the handler is served over TLS, so that browsers shall not use the address without.
	TLS bool
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
	if o.ResponseMemory <= 0 {
		o.ResponseMemory = DefaultResponseMemory
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = limits.Production().WriteResponse
	}
	o.Log = slog.New(LogHandler(o.Log.Handler()))
	return o
}

// New returns the handler of a region's API. It returns an error if a service is missing, if an option or rule in the
// proto files is invalid, or if the metrics are registered already.
func New(options Options) (http.Handler, error) {
	if err := options.Services.check(); err != nil {
		return nil, err
	}
	o := options.withDefaults()
	s, err := newSchema(o.Services.handlers())
	if err != nil {
		return nil, err
	}
	measured, err := newMetrics(o.Registerer, o.Counts, s.methods, o.Streams)
	if err != nil {
		return nil, err
	}
	if err := o.RateLimits.register(o.Registerer); err != nil {
		return nil, err
	}
	interceptors, err := o.interceptors(s)
	if err != nil {
		return nil, err
	}
	mapping := &failures{timeout: o.RequestTimeout, methods: s.methods, limits: o.RateLimits}
	rest, err := o.newREST(s, mapping, interceptors)
	if err != nil {
		return nil, err
	}
	e := &edge{
		rest: rest, rpc: o.newRPC(s, mapping, interceptors), failures: mapping,
		metrics: measured, tracer: o.Tracer, access: &accessLog{log: o.Log, oneIn: o.LogOneIn}, tls: o.TLS, realtime: o.Realtime,
		pages: o.Pages, limits: o.RateLimits,
		memory: newResponseMemory(o.ResponseMemory, o.RequestTimeout), writeTimeout: o.WriteTimeout,
	}
	e.handler = newCORS(o.CORSOrigins).Handler(http.HandlerFunc(e.route))
	return e, nil
}

// interceptors returns the interceptors behind failures and transcode, the outermost first.
func (o Options) interceptors(s *schema) (connect.Option, error) {
	checks, err := newValidation(s.requests())
	if err != nil {
		return nil, err
	}
	pages, err := page.Bind(callerKey, s.services)
	if err != nil {
		return nil, err
	}
	chain := append(slices.Clone(o.Interceptors), connect.UnaryInterceptorFunc(o.RateLimits.intercept), pages,
		connect.UnaryInterceptorFunc(checks.intercept))
	if o.Prehook != nil {
		chain = append(chain, o.askPrehook(checks))
	}
	return connect.WithInterceptors(chain...), nil
}

// newREST returns the REST handler. It does not share its connect handlers with the RPC handler, because their codecs
// and interceptors differ.
func (o Options) newREST(s *schema, f *failures, interceptors connect.Option) (*restHandler, error) {
	routes, err := newRoutes(s, o.Services.handlers(
		connect.WithInterceptors(connect.UnaryInterceptorFunc(f.intercept), connect.UnaryInterceptorFunc(transcode)),
		interceptors,
		connect.WithCodec(restCodec{}),
	))
	if err != nil {
		return nil, err
	}
	for _, stream := range o.Streams {
		if err := routes.addStream(stream); err != nil {
			return nil, err
		}
	}
	return &restHandler{routes: routes, maxBody: o.MaxBodyBytes, bodyTimeout: o.RequestTimeout, failures: f}, nil
}

func (o Options) newRPC(s *schema, f *failures, interceptors connect.Option) *rpcHandler {
	services := o.Services.handlers(
		connect.WithInterceptors(connect.UnaryInterceptorFunc(f.intercept)),
		interceptors,
		connect.WithCompression(compressionGzip, newDecompressor, newCompressor),
		connect.WithCompressMinBytes(compressMinBytes),
		connect.WithReadMaxBytes(int(o.MaxBodyBytes)),
		connect.WithCodec(codec{name: codecProto}),
		connect.WithCodec(codec{name: codecJSON, inputs: s.inputs}),
		connect.WithCodec(codec{name: codecJSONCharset, inputs: s.inputs}),
	)
	return &rpcHandler{
		services: withOperations(services, o.Ready, o.MaxBodyBytes), methods: s.methods,
		maxBody: o.MaxBodyBytes, bodyTimeout: o.RequestTimeout,
	}
}

// callerKey identifies the caller to page tokens.
func callerKey(ctx context.Context) string {
	caller := auth.CallerFrom(ctx)
	return caller.Kind.String() + " " + caller.UserID
}

// edge is the handler of all requests.
type edge struct {
	handler  http.Handler // CORS, then route
	rest     *restHandler
	rpc      *rpcHandler
	failures *failures
	metrics  *metrics
	tracer   trace.Tracer // may be nil
	access   *accessLog
	tls      bool
	realtime Realtime // may be nil
	pages    Pages    // may be nil
	limits   *RateLimits

	memory       *responseMemory
	writeTimeout time.Duration
}

// ServeHTTP implements http.Handler.
func (e *edge) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	w := &responseWriter{
		ResponseWriter: out,
		requestID:      requestIDOf(request.Header.Get(HeaderRequestID)),
		start:          time.Now(),
		protocol:       protocolREST,
		procedure:      procedureUnknown,
		writeTimeout:   e.writeTimeout,
		http2:          request.ProtoMajor == 2,
		memory:         e.memory,
		peer:           request.RemoteAddr,
		forwarded:      request.Header["X-Forwarded-For"],
		userAgent:      request.UserAgent(),
	}
	w.clearDeadline()
	header := out.Header()
	header[HeaderRequestID] = []string{w.requestID}
	e.setSecurityHeaders(header, request)
	header.Add("Vary", "Accept-Encoding") // on every response, compressed or not
	ctx := context.WithValue(startSpan(request.Context(), e.tracer, request), responseWriterKey{}, w)
	w.ctx = request.Context()
	e.metrics.inFlight.Inc()
	defer e.finish(ctx, w, request.Method)
	if w.http2 && w.ctx.Err() != nil { // the client has reset the stream already: nothing is read for it
		w.clientGone = true
		return
	}
	e.handler.ServeHTTP(w, request.WithContext(ctx))
}

// route passes a request on. The request is a copy that ServeHTTP has made.
func (e *edge) route(_ http.ResponseWriter, request *http.Request) {
	w := responseWriterFrom(request.Context())
	switch {
	case e.realtime != nil && request.URL.Path == mqttPath:
		e.serveMQTT(w, request)
	case e.realtime != nil && strings.TrimSuffix(request.URL.Path, "/") == socketIOPath:
		e.serveSocketIO(w, request)
	case e.isRealtime(request):
		e.serveRealtime(w, request)
	case e.pages != nil && e.pages.Handles(request.URL.Path):
		e.servePage(w, request)
	case e.rpc.handles(request.URL.Path):
		e.rpc.serve(w, request)
	default:
		e.rest.serve(w, request)
	}
}

// finish ends a request: it recovers, updates the metrics and writes the access log. It must be deferred directly.
func (e *edge) finish(ctx context.Context, w *responseWriter, method string) {
	value := recover()
	w.release()
	e.metrics.inFlight.Dec()
	if value != nil && !recoverPanic(w, value) {
		defer panic(http.ErrAbortHandler) // so that the client notices the truncated response
	}
	w.extendDeadline() // for what net/http still has to write
	elapsed := time.Since(w.start)
	e.metrics.observe(w, elapsed.Seconds(), sampledTrace(ctx))
	e.access.write(ctx, w, method, elapsed)
	endSpan(ctx, w, method)
}

// recoverPanic answers a request after a panic outside the interceptors. It returns false if the connection must be
// closed instead, because the handler asked for it or the response has begun.
func recoverPanic(w *responseWriter, value any) bool {
	if value == any(http.ErrAbortHandler) {
		return false
	}
	err := recovered(value)
	w.record(fail.Unexpected(err), err)
	if w.status != 0 {
		return false
	}
	w.writeError(newHTTPError(fail.Unexpected(err)))
	return true
}
