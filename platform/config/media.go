package config

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
)

// MediaURL is a URL of the media server with any scheme, such as rtmp://ingest.example.com/live, without trailing
// slash.
type MediaURL string

// UnmarshalText parses a URL. It must have neither query nor fragment, because names and keys are appended, and no
// password, because clients see it.
func (m *MediaURL) UnmarshalText(text []byte) error {
	u, err := url.Parse(string(text))
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || bytes.ContainsAny(text, "?# ") {
		// Does not quote the text, which may contain a password.
		return errors.New("want a URL like rtmp://ingest.example.com/live, without user, query and fragment")
	}
	*m = MediaURL(strings.TrimRight(string(text), "/"))
	return nil
}
