package app

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"github.com/plaza-social/plaza/platform/statusz"
)

// logLevel returns the level of the log, or nil if it cannot be changed.
func (r *report) logLevel() *statusz.LogLevel {
	if r.level == nil {
		return nil
	}
	return &statusz.LogLevel{Current: nameOf(r.level.Level()), Configured: nameOf(r.cfg.LogLevel.Level())}
}

func nameOf(level slog.Level) string { return strings.ToLower(level.String()) }

// maxLevelRequest limits the size of a LogLevelRequest.
const maxLevelRequest = 1 << 10

// serveLogLevel changes the level of the log. The change is itself a line of the log at every level, because it explains why
// others begin or end.
func (r *report) serveLogLevel(w http.ResponseWriter, request *http.Request) {
	var asked statusz.LogLevelRequest
	level := r.cfg.LogLevel
	err := json.NewDecoder(http.MaxBytesReader(w, request.Body, maxLevelRequest)).Decode(&asked)
	if err == nil && asked.Level != "" {
		err = level.UnmarshalText([]byte(asked.Level))
	}
	switch {
	case r.level == nil:
		http.NotFound(w, request)
		return
	case err != nil:
		http.Error(w, `want {"level": "debug"}, or info, warn, error, or an empty level for the configured one`, http.StatusBadRequest)
		return
	}
	if before := r.level.Level(); before != level.Level() {
		r.level.Set(min(before, level.Level()))
		r.log.LogAttrs(request.Context(), max(before, level.Level()), "the log level changed",
			slog.String("from", nameOf(before)), slog.String("to", nameOf(level.Level())))
		r.level.Set(level.Level())
	}
	answerJSON(w, r.logLevel())
}
