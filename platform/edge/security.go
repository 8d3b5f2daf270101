package edge

import (
	"net/http"
	"strings"
)

// The values of Cache-Control of answers about one caller: reads may be stored by the caller's own cache, which asks
// before it uses them; everything else, and tokens, are never stored.
const (
	cachePrivately = "private, no-cache"
	cacheNever     = "no-store"
)

// The headers that every answer has. The values are shared by all answers: handlers replace them, and never append.
var (
	headerNosniff  = []string{"nosniff"}
	headerReferrer = []string{"no-referrer"}
	headerContent  = []string{"default-src 'none'; frame-ancestors 'none'"}
	headerNever    = []string{cacheNever}
	headerPrivate  = []string{cachePrivately}
	headerTLS      = []string{"max-age=31536000"} // a year
)

// setSecurityHeaders sets the headers that every answer has. Handlers of files and pages replace some of them.
func (e *edge) setSecurityHeaders(header http.Header, request *http.Request) {
	header["X-Content-Type-Options"] = headerNosniff
	header["Referrer-Policy"] = headerReferrer
	header["Content-Security-Policy"] = headerContent
	header["Cache-Control"] = headerNever
	if isRead(request.Method) && !isAboutTokens(request.URL.Path) {
		header["Cache-Control"] = headerPrivate
	}
	if e.tls {
		header["Strict-Transport-Security"] = headerTLS
	}
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// isAboutTokens reports whether the answer at a path may contain a token.
func isAboutTokens(path string) bool {
	return strings.HasSuffix(path, "/token") || strings.HasSuffix(path, "/sessions")
}
