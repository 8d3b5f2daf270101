package config

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
)

// MediaURL is an address of the media server, without a slash at its end: of any scheme, such as rtmp://ingest.example.com/live.
type MediaURL string

// UnmarshalText reads an address. Names and keys are added to it, so it has neither a query nor a fragment, and because it is
// told to everybody, no password.
func (m *MediaURL) UnmarshalText(text []byte) error {
	u, err := url.Parse(string(text))
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || bytes.ContainsAny(text, "?# ") {
		return errors.New("want an address like rtmp://ingest.example.com/live, without a user, a query and a fragment") // not what was given: it may hold a password
	}
	*m = MediaURL(strings.TrimRight(string(text), "/"))
	return nil
}
