package app

import (
	"net/http"

	"github.com/plaza-social/plaza/platform/statusz"
)

// controlHandler serves the control endpoints to the operator of the network:
//
//	/statusz       the status of this process as JSON; /statusz/server-key reports whether a server key is accepted
//	/statusz/log-level  PUT of the level of the log
//	/api/v3/…      PUT of the network settings, the operator's webhooks and its pre-hook, as the API does it, with an administrator's token
//	/debug/pprof/  profiles, if the setting pprof is on
func controlHandler(report *report, api http.Handler, profiles bool) http.Handler {
	mux := http.NewServeMux()
	report.serve(mux)
	mux.HandleFunc("PUT "+statusz.LogLevelPath, report.serveLogLevel)
	for _, path := range []string{statusz.SettingsPath, statusz.WebhooksPath, statusz.PrehookPath} {
		mux.Handle("PUT "+path, api)
	}
	if profiles {
		serveProfiles(mux)
	}
	return mux
}
