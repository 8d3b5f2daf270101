package keyring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Entry is one key of a file of server keys or API keys.
type Entry struct {
	ID       string
	Key      Secret
	NotAfter time.Time // the first moment at which servers refuse the key; zero means never
}

// ValidAt reports whether servers accept the key at now.
func (e Entry) ValidAt(now time.Time) bool { return e.NotAfter.IsZero() || now.Before(e.NotAfter) }

// File is a file of server keys or API keys, newest first.
type File []Entry

// Find returns the entry with the id.
func (f File) Find(id string) (Entry, bool) {
	for _, entry := range f {
		if entry.ID == id {
			return entry, true
		}
	}
	return Entry{}, false
}

// BrokenError reports an invalid key file. It quotes nothing of the file.
type BrokenError struct {
	// Entry is the position of the invalid key in the file, from 1; 0 means the file as a whole.
	Entry  int
	Reason string
}

func (e *BrokenError) Error() string {
	if e.Entry == 0 {
		return "the key file is invalid: " + e.Reason
	}
	return fmt.Sprintf("the key file is invalid: key %d: %s", e.Entry, e.Reason)
}

// The limits of the platform's own parser.
const (
	maxIDLength  = 64
	minKeyLength = 16
	maxKeyLength = 1024
)

type wireFile struct {
	Keys []wireEntry `json:"keys"`
}

type wireEntry struct {
	ID       string `json:"id"`
	Key      string `json:"key"`
	NotAfter string `json:"notAfter,omitempty"`
}

// ParseFile parses a file by the rules of the servers; it returns a *BrokenError for what they reject. The exception is
// a file without keys, which is an empty File: it holds nothing that could be lost.
func ParseFile(content Secret) (File, error) {
	if strings.TrimSpace(content.Reveal()) == "" {
		return nil, nil
	}
	var doc wireFile
	if err := decode(content, &doc); err != nil {
		return nil, err
	}
	file := make(File, 0, len(doc.Keys))
	ids, keys := map[string]bool{}, map[string]bool{}
	for i, wire := range doc.Keys {
		entry, reason := wire.entry()
		switch {
		case reason != "":
		case ids[wire.ID]:
			reason = "the id occurs twice"
		case keys[wire.Key]:
			reason = "the key occurs twice"
		}
		if reason != "" {
			return nil, &BrokenError{Entry: i + 1, Reason: reason}
		}
		ids[wire.ID], keys[wire.Key] = true, true
		file = append(file, entry)
	}
	for i, entry := range file {
		if keys[entry.ID] { // it would show in the status
			return nil, &BrokenError{Entry: i + 1, Reason: "the id is a key"}
		}
	}
	return file, nil
}

// decode decodes one JSON document. It does not return the errors of the decoder, which quote the document.
func decode(content Secret, doc any) error {
	decoder := json.NewDecoder(strings.NewReader(content.Reveal()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(doc); err != nil {
		return &BrokenError{Reason: fmt.Sprintf("it is not valid JSON of a key file near byte %d", decoder.InputOffset())}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &BrokenError{Reason: "it has data after the JSON document"}
	}
	return nil
}

func (w wireEntry) entry() (entry Entry, reason string) {
	entry = Entry{ID: w.ID, Key: NewSecret(w.Key)}
	if w.ID == "" || len(w.ID) > maxIDLength || !visibleASCII(w.ID) {
		return entry, "the id must be 1 to 64 visible ASCII characters"
	}
	if len(w.Key) < minKeyLength || len(w.Key) > maxKeyLength || !visibleASCII(w.Key) {
		return entry, "the key must be 16 to 1024 visible ASCII characters"
	}
	if w.NotAfter == "" {
		return entry, ""
	}
	at, err := time.Parse(time.RFC3339, w.NotAfter)
	if err != nil {
		return entry, "notAfter is not an RFC 3339 time"
	}
	entry.NotAfter = at // in its own zone: in UTC the year may be one that RFC 3339 cannot represent
	return entry, ""
}

func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Content returns the file in the format of the servers.
func (f File) Content() Secret {
	doc := wireFile{Keys: make([]wireEntry, len(f))}
	for i, entry := range f {
		doc.Keys[i] = entry.wire()
	}
	return encode(doc)
}

func (e Entry) wire() wireEntry {
	wire := wireEntry{ID: e.ID, Key: e.Key.Reveal()}
	if !e.NotAfter.IsZero() {
		wire.NotAfter = e.NotAfter.Format(time.RFC3339Nano)
	}
	return wire
}

func encode(doc any) Secret {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(doc); err != nil {
		panic("keyring: " + err.Error()) // only strings, which cannot fail
	}
	return NewSecret(text.String())
}

func (f File) equal(other File) bool {
	return slices.EqualFunc(f, other, func(a, b Entry) bool { return a.ID == b.ID && a.Key.Equal(b.Key) && a.NotAfter.Equal(b.NotAfter) })
}
