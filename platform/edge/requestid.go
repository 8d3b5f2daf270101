package edge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
)

// HeaderRequestID carries the request id in both directions.
const HeaderRequestID = "X-Request-Id"

// maxRequestID is the longest id that is taken over from a client, in characters.
const maxRequestID = 128

// RequestID returns the id of the request that ctx belongs to, empty outside a request.
func RequestID(ctx context.Context) string {
	if ex := exchangeFrom(ctx); ex != nil {
		return ex.requestID
	}
	return ""
}

// requestIDOf takes the client's id over where it is one that a log line and a header can carry, and makes one otherwise.
func requestIDOf(given string) string {
	if saneRequestID(given) {
		return given
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // crypto/rand.Read never fails: it ends the program instead
	return hex.EncodeToString(raw[:])
}

func saneRequestID(id string) bool {
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

// LogHandler returns next with the attribute requestId on every record that is logged with the context of a request.
func LogHandler(next slog.Handler) slog.Handler {
	if _, ok := next.(requestIDHandler); ok {
		return next
	}
	return requestIDHandler{next}
}

type requestIDHandler struct{ slog.Handler }

func (h requestIDHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := RequestID(ctx); id != "" {
		record.AddAttrs(slog.String("requestId", id))
	}
	return h.Handler.Handle(ctx, record)
}

func (h requestIDHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestIDHandler{h.Handler.WithAttrs(attrs)}
}

func (h requestIDHandler) WithGroup(name string) slog.Handler {
	return requestIDHandler{h.Handler.WithGroup(name)}
}
