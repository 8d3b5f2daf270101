// Package backup has the destinations of database backups: their addresses, their credentials, and the deletion of old backups.
// CockroachDB itself writes the backups; see package db for its schedules.
package backup

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// The files of a folder with credentials, which are the keys of the Secret that is mounted there.
const (
	AccessKeyID     = "AWS_ACCESS_KEY_ID"
	SecretAccessKey = "AWS_SECRET_ACCESS_KEY"
	SessionToken    = "AWS_SESSION_TOKEN"
	GoogleKey       = "credentials.json"
)

// Destination is a folder of a bucket with the backups of the rows of a home.
type Destination struct { //nolint:recvcheck // only ReadCredentials changes it
	Home   region.Code
	Scheme string // s3 or gs
	Bucket string
	Folder string // without slashes at its ends
	// Region and Endpoint are those of an S3 bucket; the endpoint is empty for Amazon's own.
	Region, Endpoint string

	credentials map[string]string // by the names of files; empty for the identity of the machine
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$`)

// ParseDestination returns the destination of an address such as us=s3://bucket/folder?region=us-east-1 or eu=gs://bucket.
func ParseDestination(text string) (Destination, error) {
	code, address, _ := strings.Cut(text, "=")
	d := Destination{Home: region.Code(code)}
	u, err := url.Parse(address)
	switch {
	case !slices.Contains(region.All(), d.Home):
		return d, fmt.Errorf("a destination must begin with us=, eu= or sg=")
	case err != nil || u.User != nil || u.Fragment != "":
		return d, fmt.Errorf("the destination of %s is not an address of a bucket", code)
	case u.Scheme != "s3" && u.Scheme != "gs":
		return d, fmt.Errorf("the destination of %s must begin with s3:// or gs://", code)
	case !bucketName.MatchString(u.Host):
		return d, fmt.Errorf("the destination of %s has no valid name of a bucket", code)
	}
	for name := range u.Query() {
		if u.Scheme != "s3" || name != "region" && name != "endpoint" {
			return d, fmt.Errorf("the destination of %s must have no parameters but region and endpoint of an s3:// address", code)
		}
	}
	d.Scheme, d.Bucket, d.Folder = u.Scheme, u.Host, strings.Trim(u.Path, "/")
	d.Region, d.Endpoint = u.Query().Get("region"), u.Query().Get("endpoint")
	return d, nil
}

// ReadCredentials reads the credentials of a destination from the files of a folder.
func (d *Destination) ReadCredentials(folder string) error {
	names := map[string][]string{"s3": {AccessKeyID, SecretAccessKey, SessionToken}, "gs": {GoogleKey}}[d.Scheme]
	d.credentials = map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(folder, name))
		switch {
		case errors.Is(err, os.ErrNotExist) && name == SessionToken:
		case err != nil:
			return fmt.Errorf("the credentials of the backups of %s lack %s", d.Home, name)
		default:
			d.credentials[name] = strings.TrimSpace(string(content))
		}
	}
	return nil
}

// String returns the address without credentials.
func (d Destination) String() string {
	return d.Scheme + "://" + strings.TrimSuffix(d.Bucket+"/"+d.Folder, "/")
}

// URI returns the address for CockroachDB, with the credentials. Rows of the locality are written there; an empty locality means
// those of every locality.
func (d Destination) URI(locality string) string {
	values := url.Values{}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("AWS_REGION", d.Region)
	set("AWS_ENDPOINT", d.Endpoint)
	set("COCKROACH_LOCALITY", locality)
	if len(d.credentials) == 0 {
		set("AUTH", "implicit")
	} else {
		set("AUTH", "specified")
	}
	for name, value := range d.credentials {
		if name == GoogleKey {
			name, value = "CREDENTIALS", base64.StdEncoding.EncodeToString([]byte(value))
		}
		set(name, value)
	}
	return d.String() + "?" + values.Encode()
}

// Redact removes the credentials of destinations from a text, in every form that URI gives them.
func Redact(text string, destinations []Destination) string {
	for _, d := range destinations {
		for _, secret := range d.credentials {
			encoded := base64.StdEncoding.EncodeToString([]byte(secret))
			for _, form := range []string{secret, url.QueryEscape(secret), encoded, url.QueryEscape(encoded)} {
				if form != "" {
					text = strings.ReplaceAll(text, form, telemetry.Redacted)
				}
			}
		}
	}
	return text
}
