package telemetry

import (
	"fmt"
	"log/slog"
	"net/url"
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

// SecretURL is a URL whose password, and nothing else, is hidden wherever it is printed.
type SecretURL string

// Reveal returns the URL with its password.
func (u SecretURL) Reveal() string { return string(u) }

// String returns the URL with its password replaced. Text that is not a valid URL is hidden entirely.
func (u SecretURL) String() string {
	if u == "" {
		return ""
	}
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Scheme == "" {
		return Redacted
	}
	hidePassword(parsed)
	return parsed.String()
}

// hidePassword handles both places where a PostgreSQL URL can contain a password.
func hidePassword(u *url.URL) {
	const hidden = "redacted" // brackets would be percent-encoded
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), hidden)
	}
	q := u.Query()
	for _, key := range []string{"password", "sslpassword"} {
		if q.Has(key) {
			q.Set(key, hidden)
			u.RawQuery = q.Encode()
		}
	}
}

// Format implements fmt.Formatter, so that no verb prints the password.
func (u SecretURL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(u.String())) }

// LogValue implements slog.LogValuer.
func (u SecretURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (u SecretURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText stores the URL.
func (u *SecretURL) UnmarshalText(text []byte) error {
	*u = SecretURL(text)
	return nil
}
