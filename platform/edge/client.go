package edge

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/ratelimit"
)

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
