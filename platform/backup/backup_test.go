package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/plaza-social/plaza/platform/backup"
	"github.com/plaza-social/plaza/platform/region"
)

func TestParseDestination(t *testing.T) {
	for text, want := range map[string]backup.Destination{
		"us=s3://backups": {Home: region.US, Scheme: "s3", Bucket: "backups"},
		"eu=s3://backups.eu/plaza/eu/?region=eu-west-1&endpoint=https://minio:9000": {
			Home: region.EU, Scheme: "s3", Bucket: "backups.eu", Folder: "plaza/eu", Region: "eu-west-1", Endpoint: "https://minio:9000",
		},
		"sg=gs://backups-sg/plaza": {Home: region.SG, Scheme: "gs", Bucket: "backups-sg", Folder: "plaza"},
	} {
		got, err := backup.ParseDestination(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for text, problem := range map[string]string{
		"s3://backups":                     "must begin with us=, eu= or sg=",
		"fr=s3://backups":                  "must begin with us=, eu= or sg=",
		"us=file:///backups":               "must begin with s3:// or gs://",
		"us=s3://B":                        "no valid name of a bucket",
		"us=s3://key:hunter2@backups":      "not an address",
		"us=s3://backups?AUTH=implicit":    "no parameters but region and endpoint",
		"us=gs://backups?region=us-east-1": "no parameters but region and endpoint",
		"us=s3://backups?region=a&AWS_SECRET_ACCESS_KEY=hunter2": "no parameters but region and endpoint",
	} {
		_, err := backup.ParseDestination(text)
		require.ErrorContains(t, err, problem, text)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// credentials writes files to a folder.
func credentials(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content+"\n"), 0o600))
	}
	return folder
}

func destination(t *testing.T, text string, files map[string]string) backup.Destination {
	t.Helper()
	d, err := backup.ParseDestination(text)
	require.NoError(t, err)
	if files != nil {
		require.NoError(t, d.ReadCredentials(credentials(t, files)))
	}
	return d
}

var awsKey = map[string]string{backup.AccessKeyID: "AKIA", backup.SecretAccessKey: "sword/fish+"}

func TestURI(t *testing.T) {
	implicit := destination(t, "us=s3://backups/plaza?region=us-east-1", nil)
	require.Equal(t, "s3://backups/plaza?AUTH=implicit&AWS_REGION=us-east-1&COCKROACH_LOCALITY=region%3Dus-east1",
		implicit.URI("region=us-east1"))
	require.Equal(t, "s3://backups/plaza?AUTH=implicit&AWS_REGION=us-east-1", implicit.URI(""))

	specified := destination(t, "us=s3://backups", awsKey)
	require.Equal(t, "s3://backups?AUTH=specified&AWS_ACCESS_KEY_ID=AKIA&AWS_SECRET_ACCESS_KEY=sword%2Ffish%2B&COCKROACH_LOCALITY=default",
		specified.URI("default"))
	require.Equal(t, "s3://backups", specified.String())

	google := destination(t, "sg=gs://backups", map[string]string{backup.GoogleKey: `{"private_key":"x"}`})
	require.Equal(t, "gs://backups?AUTH=specified&CREDENTIALS=eyJwcml2YXRlX2tleSI6IngifQ%3D%3D", google.URI(""))
}

func TestReadCredentialsNamesWhatIsMissing(t *testing.T) {
	d := destination(t, "us=s3://backups", nil)
	require.EqualError(t, d.ReadCredentials(credentials(t, map[string]string{backup.AccessKeyID: "AKIA"})),
		"the credentials of the backups of us lack AWS_SECRET_ACCESS_KEY")
	require.NoError(t, d.ReadCredentials(credentials(t, awsKey)), "a session token is optional")
}

func TestRedact(t *testing.T) {
	google := destination(t, "sg=gs://backups", map[string]string{backup.GoogleKey: `{"private_key":"hunter2"}`})
	all := []backup.Destination{destination(t, "us=s3://backups", awsKey), google}
	for _, d := range all {
		u, err := url.Parse(d.URI("default"))
		require.NoError(t, err)
		text := backup.Redact(fmt.Sprint("refused: ", u, u.Query(), `{"private_key":"hunter2"} sword/fish+`), all)
		for _, secret := range []string{"sword", "fish", "hunter2", "eyJwcm"} {
			require.NotContains(t, text, secret)
		}
		require.Contains(t, text, "refused: ")
	}
}

func keys(t *testing.T, b *blob.Bucket) []string {
	t.Helper()
	var found []string
	objects := b.List(nil)
	for {
		object, err := objects.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		found = append(found, object.Key)
	}
}

func TestPrune(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer func() { require.NoError(t, bucket.Close()) }()
	kept := []string{
		"2026/11/02-030000.00/BACKUP_MANIFEST", "2026/11/02-030000.01/data/1.sst", "2026/99/99-030000.00/BACKUP_MANIFEST",
		"metadata/latest/LATEST-1", "notes/2026/01/01-000000.00/file",
	}
	for _, key := range append([]string{"2026/11/01-235959.99/BACKUP_MANIFEST", "2026/11/01-235959.99/data/1.sst", "2025/12/31-000000.00/x"},
		kept...) {
		require.NoError(t, bucket.WriteAll(t.Context(), key, []byte("x"), nil))
	}
	n, err := backup.Prune(t.Context(), bucket, time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.ElementsMatch(t, kept, keys(t, bucket))
}

// TestOpenAmazon lists and deletes at an endpoint, with the credentials of the destination.
func TestOpenAmazon(t *testing.T) {
	var deleted []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), "Credential=AKIA/") || !strings.HasPrefix(r.URL.Path, "/backups") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if r.Method == http.MethodDelete {
			deleted = append(deleted, r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if r.Method == http.MethodHead {
			w.Header().Set("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")
			w.Header().Set("Etag", `"0123456789abcdef0123456789abcdef"`)
			return
		}
		if r.URL.Query().Get("prefix") != "plaza/" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>plaza/2025/01/01-000000.00/x</Key>`+
			`<LastModified>2025-01-01T00:00:00Z</LastModified><ETag>"0123456789abcdef0123456789abcdef"</ETag><Size>1</Size></Contents></ListBucketResult>`)
	}))
	defer server.Close()
	open := func(key map[string]string) *blob.Bucket {
		bucket, err := destination(t, "us=s3://backups/plaza?region=us-east-1&endpoint="+server.URL, key).Open(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = bucket.Close() })
		return bucket
	}
	n, err := backup.Prune(t.Context(), open(awsKey), time.Now())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []string{"/backups/plaza/2025/01/01-000000.00/x"}, deleted)

	_, err = backup.Prune(context.WithoutCancel(t.Context()),
		open(map[string]string{backup.AccessKeyID: "other", backup.SecretAccessKey: "swordfish"}), time.Now())
	require.ErrorContains(t, err, "list the backups")
	require.NotContains(t, err.Error(), "swordfish")
}
