package keyring

import (
	"fmt"
	"log/slog"
)

const hidden = "[secret]"

// Secret is a text that must not be shown: a key, or a file of keys. Printing, logging and marshalling it, or a value
// that contains it, shows only a placeholder.
type Secret struct {
	// A pointer, because fmt prints unexported fields of structs without calling their methods, but of pointers only
	// the address.
	text *string
}

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Equal reports whether both have the same text.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// Format implements fmt.Formatter. It prints the placeholder for all verbs.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, hidden) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
