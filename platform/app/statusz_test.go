package app_test

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

// serving starts a server on a migrated database.
func serving(t testing.TB, change ...func(*config.Config)) (*running, config.Config) {
	t.Helper()
	return servingWithLog(t, quiet, change...)
}

// servingWithLog is serving with a log.
func servingWithLog(t testing.TB, log *slog.Logger, change ...func(*config.Config)) (*running, config.Config) {
	t.Helper()
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	cfg := fullConfig(t, url)
	for _, c := range change {
		c(&cfg)
	}
	r := runWithLog(t, cfg, log)
	require.Eventually(t, func() bool { return r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	return r, cfg
}

func (r *running) status(t *testing.T) statusz.Status {
	t.Helper()
	code, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+statusz.Path)
	require.Equal(t, http.StatusOK, code)
	var s statusz.Status
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	return s
}

// send sends a request with a JSON body and returns the status and body of the response.
func send(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

func TestStatusz(t *testing.T) {
	key := auth.NewEvacuatedKey("k9", "a-server-key-of-k9", time.Now().Add(time.Hour))
	evacuation := auth.EvacuationFile{Regions: []auth.EvacuatedRegion{{Region: "us", ServerKeys: []auth.EvacuatedKey{key}}}}
	path := filepath.Join(t.TempDir(), "evacuation.json")
	require.NoError(t, os.WriteFile(path, evacuation.Content(), 0o600))
	r, cfg := serving(t, func(cfg *config.Config) { cfg.EvacuationFile = path })
	var s statusz.Status
	require.Eventually(t, func() bool {
		s = r.status(t)
		return s.Placement.Reason != statusz.ReasonNotCheckedYet && !s.Moderation.AsOf.IsZero()
	}, patience, 10*time.Millisecond)
	require.Equal(t, "eu", s.Region)
	require.Equal(t, string(cfg.NetworkID), s.NetworkID)
	require.NotEmpty(t, s.Version)
	require.WithinDuration(t, time.Now(), s.StartedAt, time.Hour)
	require.False(t, s.Draining)
	require.Equal(t, db.TargetVersion(), s.Schema.Current)
	require.Equal(t, db.TargetVersion(), s.Schema.Required)
	require.Empty(t, s.Schema.Error)
	require.Equal(t, cfg.Hash(), s.Configuration.Hash)
	for _, file := range []statusz.KeyFile{s.Keys.Server, s.Keys.API, s.Keys.Signing} {
		require.Len(t, file.Keys, 1)
		require.True(t, file.Keys[0].Valid)
		require.False(t, file.LoadedAt.IsZero())
		require.False(t, file.CheckedAt.IsZero())
		require.Empty(t, file.Error)
	}
	require.Equal(t, "k1", s.Keys.Server.Keys[0].ID)
	want := statusz.Moderation{IsReportEnabled: true, FlagLimit: 100}
	require.Equal(t, want.Hash(), s.Moderation.Digest)
	require.False(t, s.Moderation.AsOf.IsZero())
	require.Empty(t, s.Moderation.Error)
	if !testdb.Cockroach(t) {
		require.Equal(t, statusz.Unknown, s.Placement.State)
		require.Equal(t, statusz.ReasonNoPlacement, s.Placement.Reason)
		require.Equal(t, "postgresql", s.Placement.Engine)
	}
	require.Equal(t, map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"}, s.Placement.Want.Localities)
	require.Equal(t, "zone", s.Placement.Want.Survive)
	require.Equal(t, string(cfg.PrimaryRegion), s.Placement.Want.Primary)
	require.NotNil(t, s.Evacuated)
	require.Len(t, s.Evacuated.Regions, 1)
	require.Equal(t, "us", s.Evacuated.Regions[0].Region)
	require.Equal(t, "k9", s.Evacuated.Regions[0].ServerKeys[0].ID)
}

func TestStatuszContainsNoSecret(t *testing.T) {
	r, cfg := serving(t)
	secrets := []string{cfg.DirectoryKey.Reveal()}
	for _, path := range []string{cfg.ServerKeysFile, cfg.APIKeysFile} {
		key, err := auth.EnsureKeySet(path, "k1")
		require.NoError(t, err)
		secrets = append(secrets, key)
	}
	_, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+statusz.Path)
	for _, secret := range secrets {
		require.NotContains(t, body, secret)
	}
	code, _ := get(t, http.DefaultClient, "http://"+r.APIAddr()+statusz.Path)
	require.Equal(t, http.StatusNotFound, code, "only the operations listener serves it")
}

func TestStatuszWithUnreachableDatabase(t *testing.T) {
	r := run(t, fullConfig(t, "postgresql://plaza:hunter2@127.0.0.1:1/plaza"))
	var s statusz.Status
	require.Eventually(t, func() bool {
		s = r.status(t)
		return s.Placement.Reason == statusz.ReasonCheckFailed && s.Schema.Error != "" && s.Moderation.Error != ""
	}, patience, 10*time.Millisecond)
	require.True(t, s.Schema.AsOf.IsZero())
	require.Empty(t, s.Moderation.Digest)
	require.Len(t, s.Keys.Server.Keys, 1, "parts that do not need the database are present")
	_, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+statusz.Path)
	require.NotContains(t, body, "hunter2")
	_, metrics := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/metrics")
	require.NotContains(t, metrics, "plaza_schema_version{", "unknown values are absent")
	require.Eventually(t, func() bool {
		_, metrics := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/metrics")
		return strings.Count(metrics, "plaza_database_up{") == 3 &&
			!strings.Contains(metrics, `plaza_database_up{home="eu",network="`+strings.Repeat("a", 24)+`",region="eu"} 1`)
	}, patience, 50*time.Millisecond)
}

func TestServerKeyRequest(t *testing.T) {
	r, cfg := serving(t)
	key, err := auth.EnsureKeySet(cfg.ServerKeysFile, "k1")
	require.NoError(t, err)
	other, err := auth.EnsureKeySet(cfg.APIKeysFile, "k1")
	require.NoError(t, err)
	nonce := strings.Repeat("n", statusz.MinNonce)
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"its id": {
			`{"id":"k1","nonce":"` + nonce + `"}`, 200,
			`{"valid":true,"id":"k1","digest":"` + statusz.ServerKeyDigest(sha256.Sum256([]byte(key)), "k1", nonce) + `"}`,
		},
		"another id":       {`{"id":"k2","nonce":"` + nonce + `"}`, 200, `{"valid":false}`},
		"a short nonce":    {`{"id":"k1","nonce":"` + nonce[1:] + `"}`, 400, ""},
		"the longest":      {`{"id":"k2","nonce":"` + strings.Repeat(nonce, 4) + `"}`, 200, `{"valid":false}`},
		"a nonce too long": {`{"id":"k1","nonce":"` + strings.Repeat(nonce, 4) + `x"}`, 400, ""},
		"a nonce alone":    {`{"nonce":"` + nonce + `"}`, 400, ""},
		"both":             {`{"id":"k1","nonce":"` + nonce + `","key":"` + key + `"}`, 400, ""},
		"its key":          {`{"key":"` + key + `"}`, 400, ""},
		"another key":      {`{"key":"` + other + `"}`, 400, ""},
		"no key":           {`{}`, 400, ""},
		"not JSON":         {key, 400, ""},
		"another name":     {`{"keys":"` + key + `"}`, 400, ""},
		"too long":         {`{"key":"` + strings.Repeat("x", 5000) + `"}`, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := send(t, http.MethodPost, "http://"+r.OpsAddr()+statusz.ServerKeyPath, c.body)
			require.Equal(t, c.status, status)
			require.NotContains(t, body, key)
			if c.want != "" {
				require.JSONEq(t, c.want, body)
			}
		})
	}
}
