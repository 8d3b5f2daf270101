package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// KeyInfo is what may be told about a key: everything but the key.
type KeyInfo struct {
	ID       string    `json:"id"`
	NotAfter time.Time `json:"notAfter,omitzero"` // the first moment at which the key no longer holds; zero means never
}

// ValidAt reports whether the key holds at now.
func (k KeyInfo) ValidAt(now time.Time) bool { return k.NotAfter.IsZero() || now.Before(k.NotAfter) }

const maxKeyIDLength = 64

var (
	errNoKeys       = errors.New("the file has no keys")
	errKeyID        = errors.New("the id must be 1 to 64 visible ASCII characters")
	errDuplicateID  = errors.New("the id occurs twice")
	errDuplicateKey = errors.New("the key occurs twice")
	errNotAfter     = errors.New("notAfter is not an RFC 3339 time")
	errNotJSON      = errors.New("not the JSON of a key file")
	errTrailing     = errors.New("there is more after the JSON")
)

// decodeKeyDoc reads one JSON document into doc. Unknown fields are refused: a misspelt notAfter would make a key that
// never ends. The decoder's own errors are not passed on, they quote the document.
func decodeKeyDoc(content []byte, doc any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(doc); err != nil {
		return fmt.Errorf("%w, or broken near byte %d", errNotJSON, decoder.InputOffset())
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

// keyInfo checks what the entries of both kinds of file have in common.
func keyInfo(id, notAfter string, seen map[string]bool) (KeyInfo, error) {
	info := KeyInfo{ID: id}
	if id == "" || len(id) > maxKeyIDLength || !visibleASCII(id) {
		return info, errKeyID
	}
	if seen[id] {
		return info, errDuplicateID
	}
	seen[id] = true
	if notAfter == "" {
		return info, nil
	}
	at, err := time.Parse(time.RFC3339, notAfter)
	if err != nil {
		return info, errNotAfter
	}
	info.NotAfter = at
	return info, nil
}

// atEntry names an entry by its place: an id may be a key that somebody put in the wrong field.
func atEntry(index int, err error) error { return fmt.Errorf("key %d of the file: %w", index+1, err) }

// visibleASCII reports whether s can stand in a header as it is.
func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// writeKeyDoc creates path, readable by its owner alone, whole or not at all; an existing file is left as it is and
// the error is fs.ErrExist.
func writeKeyDoc(path string, doc any) error {
	if _, err := os.Lstat(path); err == nil {
		return &os.PathError{Op: "write keys", Path: path, Err: os.ErrExist}
	}
	content, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // fails after the rename, as it should
	_, err = temporary.Write(append(content, '\n'))
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
