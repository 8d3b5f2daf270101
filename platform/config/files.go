package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// StorageURL says where the bytes of files are kept: the absolute path of a folder, or a URL like file:///srv/files,
// s3://bucket?region=eu-central-1, gs://bucket or azblob://container. It holds no secret: credentials come from the
// environment, as each cloud's own tools have them.
type StorageURL string

// UnmarshalText reads a folder or a URL. The error does not show the text: somebody may have put a secret into it.
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

// BaseURL is an address like https://eu.api.example.com, without a slash at its end.
type BaseURL string

// UnmarshalText reads an http or https URL without query.
func (b *BaseURL) UnmarshalText(text []byte) error {
	u, err := url.Parse(string(text))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("%q is not an address like https://eu.api.example.com", text)
	}
	*b = BaseURL(strings.TrimRight(string(text), "/"))
	return nil
}

// Count is a whole number above zero.
type Count int64

// UnmarshalText reads a count.
func (c *Count) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || v < 1 {
		return fmt.Errorf("%q is not a whole number above zero", text)
	}
	*c = Count(v)
	return nil
}

// Switch is true or false.
type Switch bool

// UnmarshalText reads true or false.
func (s *Switch) UnmarshalText(text []byte) error {
	v, err := strconv.ParseBool(string(text))
	if err != nil {
		return fmt.Errorf("%q: want true or false", text)
	}
	*s = Switch(v)
	return nil
}
