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

// KeyInfo describes a key without its secret.
type KeyInfo struct {
	ID       string    `json:"id"`
	NotAfter time.Time `json:"notAfter,omitzero"` // when the key stops being valid; zero means never
}

func (k KeyInfo) info() KeyInfo { return k }

// ValidAt reports whether the key is valid at now.
func (k KeyInfo) ValidAt(now time.Time) bool { return k.NotAfter.IsZero() || now.Before(k.NotAfter) }

const maxKeyIDLength = 64

var (
	errNoKeys       = errors.New("the file has no keys")
	errKeyID        = errors.New("the id must be 1 to 64 visible ASCII characters")
	errDuplicateID  = errors.New("the id occurs twice")
	errDuplicateKey = errors.New("the key occurs twice")
	errNotAfter     = errors.New("notAfter is not an RFC 3339 time")
	errNotJSON      = errors.New("not a JSON key file")
	errTrailing     = errors.New("unexpected data after the JSON document")
)

// decodeKeyDoc decodes one JSON document into doc. It rejects unknown fields: with a misspelt notAfter a key would
// never expire. It hides the decoder's errors, which quote the document.
func decodeKeyDoc(content []byte, doc any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(doc); err != nil {
		return fmt.Errorf("%w, or invalid near byte %d", errNotJSON, decoder.InputOffset())
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

// keyDoc is the content of a key file.
type keyDoc[E any] struct {
	Keys []E `json:"keys"`
}

// parseKeys parses a key file. Errors identify an entry by its position, because an id may be a key in the wrong field.
func parseKeys[E any, K fileKey](content []byte, parse func(E) (K, error)) ([]K, error) {
	var doc keyDoc[E]
	if err := decodeKeyDoc(content, &doc); err != nil {
		return nil, err
	}
	if len(doc.Keys) == 0 {
		return nil, errNoKeys
	}
	keys := make([]K, 0, len(doc.Keys))
	for i, entry := range doc.Keys {
		key, err := parse(entry)
		if err == nil {
			err = duplicate(keys, key)
		}
		if err != nil {
			return nil, fmt.Errorf("key %d of the file: %w", i+1, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func duplicate[K fileKey](keys []K, key K) error {
	for _, other := range keys {
		switch {
		case other.info().ID == key.info().ID:
			return errDuplicateID
		case other.material() == key.material():
			return errDuplicateKey
		}
	}
	return nil
}

// keyInfo validates the fields that both kinds of key files share.
func keyInfo(id, notAfter string) (KeyInfo, error) {
	info := KeyInfo{ID: id}
	if id == "" || len(id) > maxKeyIDLength || !visibleASCII(id) {
		return info, errKeyID
	}
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

// visibleASCII reports whether s is valid as a header value without escaping.
func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// writeKeyDoc atomically creates path, readable by its owner only. If the file exists it is left unchanged and the
// error is fs.ErrExist.
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
	defer func() { _ = os.Remove(temporary.Name()) }() // fails after a successful rename
	_, err = temporary.Write(append(content, '\n'))
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
