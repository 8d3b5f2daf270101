package telemetry

import (
	"fmt"
	"log/slog"
	"net/url"
)

// Redacted is what stands wherever a secret would have been printed.
const Redacted = "[redacted]"

// Secret is text that no log, error or dump may show: every way of printing it yields Redacted. Reveal is the only way
// to the text itself, so that a reader can find each use.
type Secret string

// Reveal returns the secret text.
func (s Secret) Reveal() string { return string(s) }

// String returns Redacted, or nothing for an empty secret so that "not set" stays visible.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// Format keeps every fmt verb, %#v too, from reaching the text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue keeps the text out of structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps the text out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the secret.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret(text)
	return nil
}

// SecretURL is a URL whose password, and only that, is hidden wherever it is printed.
type SecretURL string

// Reveal returns the URL with its password.
func (u SecretURL) Reveal() string { return string(u) }

// String returns the URL with its password replaced; text that does not parse as a URL is hidden whole.
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

// hidePassword covers both places where a PostgreSQL URL can carry one.
func hidePassword(u *url.URL) {
	const hidden = "redacted" // brackets would come out percent-encoded
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

// Format keeps every fmt verb from reaching the password.
func (u SecretURL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(u.String())) }

// LogValue keeps the password out of structured logs.
func (u SecretURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText keeps the password out of JSON and YAML.
func (u SecretURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads the URL.
func (u *SecretURL) UnmarshalText(text []byte) error {
	*u = SecretURL(text)
	return nil
}
