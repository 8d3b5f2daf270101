package telemetry

import (
	"fmt"
	"log/slog"
)

// Redacted is printed in place of a secret.
const Redacted = "[redacted]"

// Secret is text that must not appear in logs, errors or dumps: every way of printing it yields Redacted. Only Reveal
// returns the text, so that every use can be found.
type Secret string

// Reveal returns the secret text.
func (s Secret) Reveal() string { return string(s) }

// String returns Redacted, or "" for an empty secret, so that an unset secret is recognizable.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// Format implements fmt.Formatter, so that no verb, not even %#v, prints the text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText stores the secret.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret(text)
	return nil
}
