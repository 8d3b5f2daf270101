package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// StorageURL is the storage of file contents: the absolute path of a directory, or a URL like file:///srv/files,
// s3://bucket?region=eu-central-1, gs://bucket or azblob://container. It contains no credentials; they come from the
// environment, as usual for each cloud's tools.
type StorageURL string

// UnmarshalText parses a path or a URL. The error does not quote the text, which may contain a secret.
func (s *StorageURL) UnmarshalText(text []byte) error {
	address := string(text)
	if filepath.IsAbs(address) {
		address = (&url.URL{Scheme: "file", Path: filepath.Clean(address)}).String()
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.User != nil || (u.Host == "" && u.Path == "") {
		return errors.New("want an absolute path, or a URL without credentials like s3://bucket, gs://bucket or azblob://container")
	}
	*s = StorageURL(address)
	return nil
}

// BaseURL is a URL like https://eu.api.example.com, without trailing slash.
type BaseURL string

// UnmarshalText parses an http or https URL without query.
func (b *BaseURL) UnmarshalText(text []byte) error {
	u, err := url.Parse(string(text))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("%s is not a URL like https://eu.api.example.com", quoteAddress(string(text)))
	}
	*b = BaseURL(strings.TrimRight(string(text), "/"))
	return nil
}

// quoteAddress quotes an address for an error, unless it contains a user name and so maybe a password.
func quoteAddress(text string) string {
	if strings.Contains(text, "@") {
		return "an address with a user name"
	}
	return strconv.Quote(text)
}

// Count is a positive integer.
type Count int64

// UnmarshalText parses a count.
func (c *Count) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || v < 1 {
		return fmt.Errorf("%q is not a positive integer", text)
	}
	*c = Count(v)
	return nil
}

// Share is one in so many: 1/n, or off.
type Share int64

// UnmarshalText parses a share.
func (s *Share) UnmarshalText(text []byte) error {
	if string(text) == "off" {
		*s = 0
		return nil
	}
	n, found := strings.CutPrefix(string(text), "1/")
	v, err := strconv.ParseInt(n, 10, 64)
	if err != nil || !found || v < 1 {
		return fmt.Errorf("%q: want off, or 1/n with a positive integer n", text)
	}
	*s = Share(v)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Share) MarshalText() ([]byte, error) {
	if s == 0 {
		return []byte("off"), nil
	}
	return fmt.Appendf(nil, "1/%d", int64(s)), nil
}

// Switch is a boolean setting.
type Switch bool

// UnmarshalText parses "true" or "false".
func (s *Switch) UnmarshalText(text []byte) error {
	v, err := strconv.ParseBool(string(text))
	if err != nil {
		return fmt.Errorf("%q: want true or false", text)
	}
	*s = Switch(v)
	return nil
}
