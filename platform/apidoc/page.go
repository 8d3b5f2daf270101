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

// settings configures Swagger UI. The values are JavaScript.
var settings = map[string]string{
	"docExpansion":             `"none"`, // there are two hundred operations
	"filter":                   "true",
	"tryItOutEnabled":          "true",
	"displayRequestDuration":   "true",
	"persistAuthorization":     "false", // do not store credentials in the browser
	"defaultModelsExpandDepth": "0",
	"defaultModelExpandDepth":  "3",
	"showExtensions":           "true",
}

// head lets narrow screens show the description of a section below its name, at full width.
const head = `<meta name="viewport" content="width=device-width, initial-scale=1">
<style>@media (max-width: 768px) {
	.swagger-ui .opblock-tag { flex-wrap: wrap; }
	.swagger-ui .opblock-tag > a { flex: 1; }
	.swagger-ui .opblock-tag > small { flex: none; order: 1; padding: 0; width: 100%; }
}</style>`

// page serves Swagger UI with a content security policy that allows connections to its own server only.
type page struct {
	ui     http.Handler
	policy string
}

func newPage() (*page, error) {
	ui := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "Plaza API", SwaggerJSON: DocumentPath, BasePath: PagePath, SettingsUI: settings,
		AppendHead: head,
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

// rendered is a ResponseWriter that keeps the response.
type rendered struct {
	bytes.Buffer

	header http.Header
}

func (r *rendered) Header() http.Header { return r.header }
func (r *rendered) WriteHeader(int)     {}

var errNoPage = errors.New("the page of the API document has no scripts")

// inlineScripts matches the scripts in the page itself. The page never changes, so its policy allows exactly these, by their hashes.
var inlineScripts = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", p.policy)
	header.Set("Referrer-Policy", "no-referrer")
	p.ui.ServeHTTP(w, r)
}
