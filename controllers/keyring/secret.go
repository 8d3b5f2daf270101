package keyring

import (
	"fmt"
	"log/slog"
)

const hidden = "[secret]"

// Secret is text that nobody may see: a key, or a file of keys. However it is printed, logged or marshalled, and whatever it is
// a part of, it shows no more than that it is there.
type Secret struct {
	// A pointer, because fmt looks into structs that hide their fields, and prints no more of a pointer there than an address.
	text *string
}

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the text, for the one place where it is needed.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Equal reports whether both hide the same text.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// Format prints that it is a secret, whatever the verb.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, hidden) }

// LogValue is what a log shows.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText is what JSON and YAML show.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
