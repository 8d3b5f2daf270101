package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/plaza-social/plaza/platform/telemetry"
)

// opsHandler serves the operations endpoints:
//
//	/livez    200 while the process responds; it checks nothing else, so that a lost database causes no restarts
//	/readyz   200 or 503 with the result of each check; text, or JSON on request
//	/metrics  Prometheus metrics
//	/statusz  without control endpoints: the status of this process as JSON; /statusz/server-key reports whether a server key
//	          is accepted
//	/pushes   with push-local: the latest push notifications as JSON
func opsHandler(ready *readiness, metrics *telemetry.Metrics, p *parts) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", livez)
	mux.HandleFunc("GET /readyz", readyz(ready))
	mux.Handle("GET /metrics", metrics.Handler())
	if p.report != nil && p.report.control == nil {
		p.report.serve(mux)
	}
	if p.pushed != nil {
		mux.Handle("GET /pushes", p.pushed)
	}
	return mux
}

// serveProfiles adds the profiles without the command line, which may contain secrets.
func serveProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

func livez(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

func readyz(ready *readiness) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer := ready.check(r.Context())
		status := http.StatusOK
		if !answer.Ready {
			status = http.StatusServiceUnavailable
		}
		w.Header().Set("Cache-Control", "no-store")
		if strings.Contains(r.Header.Get("Accept"), "application/json") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer.String())
	}
}
