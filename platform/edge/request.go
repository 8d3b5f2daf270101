package edge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/ratelimit"
)

// HeaderRequestID is the header with the request id, of requests and responses.
const HeaderRequestID = "X-Request-Id"

// maxRequestID is the longest id that is accepted from a client, in characters.
const maxRequestID = 128

// RequestID returns the id of the request that ctx belongs to, empty outside a request.
func RequestID(ctx context.Context) string {
	if w := responseWriterFrom(ctx); w != nil {
		return w.requestID
	}
	return ""
}

// Procedure returns the procedure of the request that ctx belongs to.
func Procedure(ctx context.Context) string { return responseWriterFrom(ctx).procedure }

// requestIDOf returns the id that the client sent if it is valid, and a new one otherwise.
func requestIDOf(given string) string {
	if validRequestID(given) {
		return given
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}

// validRequestID reports whether an id is safe in log lines and headers.
func validRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=':
		default:
			return false
		}
	}
	return true
}

// LogHandler returns a handler that adds the attributes requestId and, if the request has a trace, traceId to records logged
// with the context of a request.
func LogHandler(next slog.Handler) slog.Handler {
	if _, ok := next.(requestIDHandler); ok {
		return next
	}
	return requestIDHandler{next}
}

type requestIDHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requestIDHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := RequestID(ctx); id != "" {
		record.AddAttrs(slog.String("requestId", id))
	}
	if current := trace.SpanContextFromContext(ctx); current.HasTraceID() {
		record.AddAttrs(slog.String("traceId", current.TraceID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h requestIDHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestIDHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requestIDHandler) WithGroup(name string) slog.Handler {
	return requestIDHandler{h.Handler.WithGroup(name)}
}

// Client is what a request reveals about its client.
type Client struct {
	Address   string // as the rate limits determine it
	UserAgent string
	RequestID string
}

// maxUserAgent is how much of the header User-Agent is kept, in characters.
const maxUserAgent = 256

// ClientOf returns the client of the request that ctx belongs to, zero outside a request.
func ClientOf(ctx context.Context, proxies ratelimit.Proxies) Client {
	w := responseWriterFrom(ctx)
	if w == nil {
		return Client{}
	}
	return Client{Address: proxies.ClientAddress(w.peer, w.forwarded), UserAgent: bounded(w.userAgent), RequestID: w.requestID}
}

// bounded returns the beginning of a header as text that a database stores.
func bounded(header string) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(header, "\uFFFD"), "\x00", "")
	if utf8.RuneCountInString(text) <= maxUserAgent {
		return text
	}
	return string([]rune(text)[:maxUserAgent])
}
