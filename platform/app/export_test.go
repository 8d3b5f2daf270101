package app

import "net/http"

// WithHandler serves handler instead of the API. No database or key file is opened.
func WithHandler(handler http.Handler) Option { return func(o *options) { o.handler = handler } }

// WithChecks adds readiness checks.
func WithChecks(checks ...Check) Option {
	return func(o *options) { o.checks = append(o.checks, checks...) }
}
