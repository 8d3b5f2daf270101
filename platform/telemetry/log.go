package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// LogFormat is the format of log lines.
type LogFormat string

// The log formats.
const (
	LogJSON LogFormat = "json" // one JSON object per line, for machines
	LogText LogFormat = "text" // key=value pairs, for humans
)

// UnmarshalText parses "json" or "text".
func (f *LogFormat) UnmarshalText(text []byte) error {
	switch v := LogFormat(text); v {
	case LogJSON, LogText:
		*f = v
		return nil
	default:
		return fmt.Errorf("unknown log format %q: want json or text", text)
	}
}

// MarshalText returns the name of the format.
func (f LogFormat) MarshalText() ([]byte, error) { return []byte(f), nil }

// NewLogger returns a logger that writes records of level and above to w. The level may change later.
func NewLogger(w io.Writer, format LogFormat, level slog.Leveler) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == LogText {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}
