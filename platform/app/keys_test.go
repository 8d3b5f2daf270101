package app_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/statusz"
)

// mounted is a directory like a Secret mounted by the kubelet: files are links into ..data, a link that is swapped.
type mounted struct {
	t       *testing.T
	dir     string
	version int
}

func mount(t *testing.T, files map[string]string) *mounted {
	t.Helper()
	m := &mounted{t: t, dir: t.TempDir()}
	m.swap(files)
	for name := range files {
		require.NoError(t, os.Symlink(filepath.Join("..data", name), filepath.Join(m.dir, name)))
	}
	return m
}

// swap atomically replaces all files and removes the old ones, as the kubelet does.
func (m *mounted) swap(files map[string]string) {
	m.t.Helper()
	m.version++
	folder := fmt.Sprintf("..v%d", m.version)
	require.NoError(m.t, os.Mkdir(filepath.Join(m.dir, folder), 0o700))
	for name, content := range files {
		require.NoError(m.t, os.WriteFile(filepath.Join(m.dir, folder, name), []byte(content), 0o600))
	}
	require.NoError(m.t, os.Symlink(folder, filepath.Join(m.dir, "..data_tmp")))
	require.NoError(m.t, os.Rename(filepath.Join(m.dir, "..data_tmp"), filepath.Join(m.dir, "..data")))
	require.NoError(m.t, os.RemoveAll(filepath.Join(m.dir, fmt.Sprintf("..v%d", m.version-1))))
}

func (m *mounted) configure(cfg *config.Config) {
	cfg.ServerKeysFile, cfg.APIKeysFile = filepath.Join(m.dir, "server.json"), filepath.Join(m.dir, "api.json")
	cfg.SigningKeysFile = filepath.Join(m.dir, "signing.json")
}

// key is a server or API key in a file; its text is derived from its id.
type key struct {
	id       string
	notAfter time.Time
}

func textOf(id string) string { return strings.Repeat(id+"-", 16) }

// generation returns the content of the three files with the same ids.
func generation(t *testing.T, keys ...key) map[string]string {
	t.Helper()
	var set, ring []map[string]any
	for _, k := range keys {
		plain := map[string]any{"id": k.id, "key": textOf(k.id)}
		signing := map[string]any{"kid": k.id, "seed": []byte(fmt.Sprintf("%-32s", k.id))} // bytes become base64
		if !k.notAfter.IsZero() {
			plain["notAfter"], signing["notAfter"] = k.notAfter.Format(time.RFC3339Nano), k.notAfter.Format(time.RFC3339Nano)
		}
		set, ring = append(set, plain), append(ring, signing)
	}
	text := func(keys []map[string]any) string {
		content, err := json.Marshal(map[string]any{"keys": keys})
		require.NoError(t, err)
		return string(content)
	}
	return map[string]string{"server.json": text(set), "api.json": text(set), "signing.json": text(ring)}
}

// accepts returns the kinds of keys that the server accepts for id; the server key is tried on both listeners.
func (r *running) accepts(t *testing.T, cfg config.Config, id string) string {
	t.Helper()
	api := "http://" + r.APIAddr()
	var got []string
	note := func(kind string, ok bool) {
		if ok {
			got = append(got, kind)
		}
	}
	status, _ := send(t, http.MethodPost, api+"/api/v4/authentication/token", `{"userId":"alice"}`, "x-server-key", textOf(id))
	note("server", status == http.StatusOK)
	nonce := strings.Repeat("n", statusz.MinNonce)
	_, body := send(t, http.MethodPost, "http://"+r.OpsAddr()+statusz.ServerKeyPath, `{"id":"`+id+`","nonce":"`+nonce+`"}`)
	note("statusz", strings.Contains(body, statusz.ServerKeyDigest(sha256.Sum256([]byte(textOf(id))), id, nonce)))
	ring, err := auth.ParseKeyring([]byte(generation(t, key{id: id})["signing.json"]))
	require.NoError(t, err)
	issuer := auth.NewIssuer(string(cfg.NetworkID), ring)
	authToken, err := issuer.MintAuthToken("alice")
	require.NoError(t, err)
	status, _ = send(t, http.MethodPost, api+"/api/v5/sessions", `{"userId":"alice","deviceId":"d","authToken":"`+authToken+`"}`,
		"X-API-Key", textOf(id))
	note("api", status == http.StatusOK)
	token, _, err := issuer.MintAdmin("operator", time.Minute)
	require.NoError(t, err)
	status, _ = get(t, http.DefaultClient, api+"/api/v3/network-settings", "Authorization", "Bearer "+token)
	note("signing", status == http.StatusOK)
	return strings.Join(got, " ")
}

const everyKind = "server statusz api signing"

// TestKeysOfAMountedSecret rotates all keys of a running server like Kubernetes, by swapping a link.
func TestKeysOfAMountedSecret(t *testing.T) {
	secret := mount(t, generation(t, key{id: "k1"}))
	r, cfg := serving(t, secret.configure)
	eventually := func(id, want string) {
		t.Helper()
		require.Eventually(t, func() bool { return r.accepts(t, cfg, id) == want }, patience, 50*time.Millisecond, "%s: %s", id, want)
	}
	require.Equal(t, everyKind, r.accepts(t, cfg, "k1"))
	require.Empty(t, r.accepts(t, cfg, "k2"))

	ends := time.Now()
	secret.swap(generation(t, key{id: "k2"}, key{id: "k1", notAfter: ends}))
	eventually("k2", everyKind)
	s := r.status(t)
	for _, file := range []statusz.KeyFile{s.Keys.Server, s.Keys.API, s.Keys.Signing} {
		require.Len(t, file.Keys, 2)
		require.Equal(t, "k2", file.Keys[0].ID)
		require.WithinDuration(t, ends, file.Keys[1].NotAfter, time.Second)
		require.True(t, file.LoadedAt.After(s.StartedAt))
	}
	eventually("k1", "") // expired according to the file
	old, _ := r.status(t).Keys.Server.Find("k1")
	require.False(t, old.Valid)
	require.Equal(t, everyKind, r.accepts(t, cfg, "k2"))

	secret.swap(map[string]string{}) // the files are deleted
	unreadable := func() bool {
		s := r.status(t)
		return s.Keys.Server.Error != "" && s.Keys.API.Error != "" && s.Keys.Signing.Error != ""
	}
	require.Eventually(t, unreadable, patience, 50*time.Millisecond)
	require.Equal(t, everyKind, r.accepts(t, cfg, "k2"), "the previous keys stay in use")
	_, metrics := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/metrics")
	for _, kind := range []string{"server", "api", "signing"} {
		require.Regexp(t, `(?m)^plaza_keys_file_readable\{kind="`+kind+`",.*\} 0$`, metrics)
		require.Regexp(t, `(?m)^plaza_keys\{kind="`+kind+`",.*\} 1$`, metrics)
	}

	secret.swap(generation(t, key{id: "k3"}))
	eventually("k3", everyKind)
	eventually("k2", "")
	require.False(t, unreadable())
}
