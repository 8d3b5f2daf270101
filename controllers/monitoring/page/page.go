// Package page serves the dashboards in a browser without Grafana: it draws the panels of the same files with the data of a Prometheus.
package page

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// Options configures Handler.
type Options struct {
	// Prometheus is the address of the server with the data.
	Prometheus *url.URL
	// Dashboards are in Grafana's model, in the order in which the page lists them.
	Dashboards []string
	// ScrapeInterval is that of Prometheus; $__rate_interval is at least four times as long.
	ScrapeInterval time.Duration
	// Range is the time range that the page shows first.
	Range time.Duration
	// Note is shown below the title, such as the fault that is caused.
	Note string
}

// Handler serves the page, the dashboards and what the page reads of Prometheus.
func Handler(o Options) (http.Handler, error) {
	config, err := configOf(o)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(config) // the client has gone
	})
	prometheus := httputil.NewSingleHostReverseProxy(o.Prometheus)
	for _, path := range []string{"query", "query_range", "alerts", "rules", "label/"} {
		mux.Handle("GET /api/v1/"+path, prometheus)
	}
	return secured(mux), nil
}

// configOf returns what the page needs to know.
func configOf(o Options) ([]byte, error) {
	boards := make([]json.RawMessage, len(o.Dashboards))
	for i, text := range o.Dashboards {
		boards[i] = json.RawMessage(strings.TrimSpace(text))
	}
	return json.Marshal(map[string]any{
		"dashboards": boards, "scrapeSeconds": o.ScrapeInterval.Seconds(), "rangeSeconds": o.Range.Seconds(), "note": o.Note,
	})
}

// secured lets the page load from its own server only.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}
