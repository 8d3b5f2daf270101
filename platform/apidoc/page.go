package apidoc

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
)

// settings are those of Swagger UI, values in JavaScript.
var settings = map[string]string{
	"docExpansion":             `"none"`, // two hundred operations: one opens what one looks for
	"filter":                   "true",
	"tryItOutEnabled":          "true",
	"displayRequestDuration":   "true",
	"persistAuthorization":     "false", // tokens and keys stay in no browser
	"defaultModelsExpandDepth": "0",
	"defaultModelExpandDepth":  "3",
	"showExtensions":           "true",
}

// page is Swagger UI under a policy that lets it speak to its own server and nobody else.
type page struct {
	ui     http.Handler
	policy string
}

func newPage() (*page, error) {
	ui := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "Plaza API", SwaggerJSON: DocumentPath, BasePath: PagePath, SettingsUI: settings,
	})
	shown := rendered{header: http.Header{}}
	ui.ServeHTTP(&shown, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: PagePath}})
	scripts := inlineScripts.FindAllStringSubmatch(shown.String(), -1)
	if len(scripts) == 0 {
		return nil, errNoPage
	}
	allowed := []string{"'self'"}
	for _, script := range scripts {
		sum := sha256.Sum256([]byte(script[1]))
		allowed = append(allowed, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return &page{ui: ui, policy: strings.Join([]string{
		"default-src 'none'", "script-src " + strings.Join(allowed, " "), "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:",
		"media-src 'self' blob:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")}, nil
}

// rendered keeps a page instead of sending it.
type rendered struct {
	bytes.Buffer

	header http.Header
}

func (r *rendered) Header() http.Header { return r.header }
func (r *rendered) WriteHeader(int)     {}

var errNoPage = errors.New("the page of the API document does not render")

// inlineScripts matches the scripts that stand in the page itself. The page is always the same, so its scripts can be allowed
// by what they are, and no other.
var inlineScripts = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", p.policy)
	header.Set("Referrer-Policy", "no-referrer")
	p.ui.ServeHTTP(w, r)
}
