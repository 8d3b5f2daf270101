// Package dburl parses the URLs of databases, and keeps their passwords out of what programs print.
//
// It accepts only URLs whose password can be told from the rest, so that no error, log or status shows a part of a password as a
// host, a user or the name of a database.
package dburl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	// Redacted is printed in place of a password in a text.
	Redacted = "[redacted]"
	// hidden is printed in place of a password in a URL, which would encode brackets.
	hidden = "redacted"
)

// URL is a database URL such as postgresql://user:password@host:5432/database?sslmode=require. Printing, logging and marshalling it,
// or a value that contains it, shows it without its passwords. The zero URL is one that is not set.
type URL struct {
	// A pointer to a pointer, because fmt prints unexported fields of structs without calling their methods: of pointers only the
	// address, except that some verbs print the struct that a pointer points to.
	of **contents
}

type contents struct {
	text    string
	shown   string   // the text without passwords
	secrets []string // each password in the forms in which errors may quote it, the longest first
}

// Parse returns the URL of a text, of which it ignores white space at both ends. Its error quotes no part of the text.
func Parse(text string) (URL, error) {
	text = strings.TrimSpace(text)
	p, err := split(text)
	if err != nil {
		return URL{}, err
	}
	of := &contents{text: text, shown: p.shown(), secrets: formsOf(p.passwords())}
	return URL{&of}, nil
}

// MustParse is Parse for URLs that are known to be valid. It panics if the URL is not.
func MustParse(text string) URL {
	u, err := Parse(text)
	if err != nil {
		panic("dburl: " + err.Error())
	}
	return u
}

// contents returns the contents of a URL, which are empty if it is not set.
func (u URL) contents() contents {
	if u.of == nil {
		return contents{}
	}
	return **u.of
}

// Reveal returns the URL with its passwords, or "" if it is not set.
func (u URL) Reveal() string { return u.contents().text }

// String returns the URL without its passwords, or "" if it is not set.
func (u URL) String() string { return u.contents().shown }

// HasPassword reports whether the URL contains a password.
func (u URL) HasPassword() bool { return len(u.contents().secrets) > 0 }

// Format implements fmt.Formatter, so that no verb prints a password.
func (u URL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(u.String())) }

// LogValue implements slog.LogValuer.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText parses a URL like Parse. A text of white space only is a URL that is not set.
func (u *URL) UnmarshalText(text []byte) error {
	*u = URL{}
	if strings.TrimSpace(string(text)) == "" {
		return nil
	}
	parsed, err := Parse(string(text))
	*u = parsed
	return err
}

// Redact returns text without the passwords of the URL.
func (u URL) Redact(text string) string {
	if !u.HasPassword() {
		return text
	}
	of := u.contents()
	pairs := []string{of.text, of.shown}
	for _, secret := range of.secrets {
		pairs = append(pairs, secret, Redacted)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Clean returns err, or an error that wraps it if its text contains a password of the URL: the text of that error does not.
func (u URL) Clean(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := u.Redact(text); clean != text {
		return &cleanError{text: clean, cause: err}
	}
	return err
}

// cleanError is an error without passwords in its text.
type cleanError struct {
	text  string
	cause error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.cause }

// Secrets returns the texts that must not be shown of a text that should be a database URL, the longest first: the passwords of a
// URL, or, if it is not valid, every part of it that may be a part of a password. The programs of other versions may have accepted it.
func Secrets(text string) []string {
	text = strings.TrimSpace(text)
	u, err := Parse(text)
	switch {
	case err != nil:
		return doubtful(text)
	case u.HasPassword():
		return slices.Clone(u.contents().secrets)
	}
	return nil
}

// shortestPart is the length from which a part of an invalid URL is considered a part of a password.
const shortestPart = 3

// delimiters are the characters at which programs split URLs.
const delimiters = ":@/?#&=,[] \t\r\n"

// doubtful returns what may be a part of a password in an invalid URL: of what is between the user name and the last @, and of the values
// of parameters, each part and what is before and after each delimiter.
func doubtful(text string) []string {
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	var found []string
	end := strings.LastIndexByte(rest, '@')
	if _, password, ok := strings.Cut(rest[:max(end, 0)], ":"); ok {
		found = piecesOf(password)
		for i, c := range password { // however short the end is that a program may have treated as a part of the host
			if isDelimiter(c) && i < len(password)-1 {
				found = append(found, password[i+1:]+"@")
			}
		}
	}
	for _, after := range strings.Split(text, "password=")[1:] { // also of the form host=… password=…
		found = append(found, piecesOf(after)...)
	}
	return longestFirst(formsOf(found))
}

// piecesOf returns a text, what is before and after each delimiter in it, and each part between delimiters, without short ones.
func piecesOf(text string) []string {
	pieces := append(strings.FieldsFunc(text, isDelimiter), text)
	for i, c := range text {
		if isDelimiter(c) {
			pieces = append(pieces, text[:i], text[i+1:])
		}
	}
	return slices.DeleteFunc(pieces, func(piece string) bool { return len(piece) < shortestPart })
}

func isDelimiter(r rune) bool { return strings.ContainsRune(delimiters, r) }

// formsOf returns texts in the forms in which errors may quote them: as they are, percent-decoded, percent-encoded in each way, and in
// quotes.
func formsOf(texts []string) []string {
	var forms []string
	for _, text := range texts {
		decoded, err := decode(text)
		if err != nil {
			decoded = text
		}
		quoted, _ := json.Marshal(decoded) // a string
		forms = append(forms, text, decoded, encode(decoded), url.QueryEscape(decoded), url.PathEscape(decoded),
			strings.TrimPrefix(url.UserPassword("", decoded).String(), ":"), unquoted(strconv.Quote(decoded)), unquoted(string(quoted)))
	}
	return longestFirst(forms)
}

// encode returns a text in which everything but letters and digits is percent-encoded.
func encode(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unquoted returns a quoted text without its quotes.
func unquoted(text string) string { return text[1 : len(text)-1] }

// longestFirst returns the texts that are not empty, each once.
func longestFirst(texts []string) []string {
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	return slices.DeleteFunc(slices.Compact(texts), func(s string) bool { return s == "" })
}
