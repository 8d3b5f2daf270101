package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// wire connects the addresses of pods to real servers and records every byte.
type wire struct {
	mu   sync.Mutex
	to   map[string]string
	sent map[string]*strings.Builder // by port
}

func (w *wire) connect(pod, server string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to[pod] = server
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	server := w.to[address]
	w.mu.Unlock()
	_, port, err := net.SplitHostPort(address)
	if server == "" || err != nil {
		return nil, fmt.Errorf("no server at %s", address)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, server)
	return &tappedConn{conn, w, port}, err
}

func (w *wire) add(port string, text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent[port] == nil {
		w.sent[port] = &strings.Builder{}
	}
	_, _ = w.sent[port].Write(text)
}

// on returns what was sent and received on a port.
func (w *wire) on(port int32) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := w.sent[strconv.Itoa(int(port))]; text != nil {
		return text.String()
	}
	return ""
}

type tappedConn struct {
	net.Conn

	wire *wire
	port string
}

func (c *tappedConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.wire.add(c.port, into[:n])
	return n, err
}

func (c *tappedConn) Write(text []byte) (int, error) {
	c.wire.add(c.port, text)
	return c.Conn.Write(text)
}

// kubelet keeps the files of a network's Secrets in folders, as they are mounted into pods.
type kubelet struct {
	o       *operator
	network string
	dir     string
}

func (k kubelet) path(secret, file string) string { return filepath.Join(k.dir, secret, file) }

// sync writes the files of every Secret that a pod mounts.
func (k kubelet) sync() {
	k.o.t.Helper()
	names := render.SharedSecrets(k.network)
	for _, code := range v1alpha1.RegionCodes() {
		names = append(names, render.ServerKeysSecret(k.network, code), render.ControlSecret(k.network, code))
	}
	for _, name := range names {
		secret := get(k.o, &corev1.Secret{}, name)
		require.NoError(k.o.t, os.MkdirAll(filepath.Join(k.dir, name), 0o700))
		for file, text := range secret.Data {
			path := k.path(name, file)
			if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
				continue
			}
			require.NoError(k.o.t, os.WriteFile(path+".new", text, 0o600))
			require.NoError(k.o.t, os.Rename(path+".new", path))
		}
	}
}

// configure gives a server the mounted files of its region.
func (k kubelet) configure(cfg *config.Config) {
	code := v1alpha1.RegionCode(cfg.Region)
	identity := render.IdentitySecret(k.network)
	id, err := os.ReadFile(k.path(identity, keyring.NetworkIDFile))
	require.NoError(k.o.t, err)
	key, err := os.ReadFile(k.path(identity, keyring.DirectoryKeyFile))
	require.NoError(k.o.t, err)
	cfg.NetworkID, cfg.DirectoryKey = config.NetworkID(id), telemetry.Secret(key)
	cfg.ServerKeysFile = k.path(render.ServerKeysSecret(k.network, code), keyring.ServerKeysFile)
	cfg.APIKeysFile = k.path(render.APIKeysSecret(k.network), keyring.APIKeysFile)
	cfg.SigningKeysFile = k.path(render.SigningKeysSecret(k.network), keyring.SigningKeysFile)
	secret := render.ControlSecret(k.network, code)
	cfg.ControlListen = "127.0.0.1:0"
	cfg.ControlCertFile, cfg.ControlKeyFile = k.path(secret, control.CertificateFile), k.path(secret, control.KeyFile)
	cfg.ControlCAFile = k.path(secret, control.AuthoritiesFile)
}

// activeAuthority returns the id of the authority that issues certificates.
func (o *operator) activeAuthority(network string) string {
	o.t.Helper()
	return get(o, &corev1.Secret{}, render.ControlAuthoritySecret(network)).Annotations[keyring.AnnotationActive]
}

// TestControlCallsOnTheWire runs a network with real servers. The keys and the authority of control calls are rotated and settings are
// pushed while every byte between operator and servers is recorded: none is of a key or a token.
func TestControlCallsOnTheWire(t *testing.T) {
	o := prepare(t)
	taps := &wire{to: map[string]string{}, sent: map[string]*strings.Builder{}}
	o.platform = platformclient.NewVia(taps.dial)
	o.run()
	t.Cleanup(o.end)
	o.apply(sample(t, "socialnetwork"))
	o.condition("acme", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	mounts := kubelet{o, "acme", t.TempDir()}
	o.eventually("the certificates", func() string {
		for _, code := range v1alpha1.RegionCodes() {
			if !o.exists(&corev1.Secret{}, render.ControlSecret("acme", code)) {
				return "none of " + string(code)
			}
		}
		return ""
	})
	mounts.sync()
	signing := readFile(t, mounts.path(render.SigningKeysSecret("acme"), keyring.SigningKeysFile))
	servers := apptest.Start(t, apptest.WithConfig(mounts.configure))
	o.migrate("acme")
	for _, code := range region.All() {
		o.serve("acme", v1alpha1.RegionCode(code))
		for _, pod := range o.pods("acme", v1alpha1.RegionCode(code)) {
			taps.connect(net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(render.PortControl))), servers.Region(code).ControlAddr())
			taps.connect(net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(render.PortOps))), servers.Region(code).OpsAddr())
		}
	}
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	for _, code := range v1alpha1.RegionCodes() {
		o.regionCondition("acme", code, v1alpha1.RegionControlSecured, v1alpha1.ReasonControlSecured)
	}
	secrets := o.secretTexts()
	first := o.activeAuthority("acme")
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.SetAnnotations(map[string]string{
			v1alpha1.AnnotationRotate: "now", v1alpha1.AnnotationRotateControl: "now",
			v1alpha1.AnnotationRotateSigning: "now", v1alpha1.AnnotationRotateAPI: "now",
		})
		sn.Spec.Moderation.FlagLimit = 77
	})
	o.eventually("a rotation of everything", func() string {
		mounts.sync()
		for _, code := range v1alpha1.RegionCodes() {
			if states := o.states("acme", code); states != "Active Retiring" {
				return fmt.Sprintf("the keys of %s are %s", code, states)
			}
		}
		if o.activeAuthority("acme") == first {
			return "the first authority is still active"
		}
		status := get(o, &v1alpha1.SocialNetwork{}, "acme").Status
		for _, keys := range [][]v1alpha1.KeyStatus{status.SigningKeys, status.APIKeys} {
			if len(keys) != 2 || keys[0].State != v1alpha1.KeyActive || keys[1].State != v1alpha1.KeyRetiring {
				return fmt.Sprintf("the shared keys are %v", keys)
			}
		}
		return ""
	})
	mounts.sync()
	o.condition("acme", v1alpha1.ConditionModerationApplied, "True", v1alpha1.ReasonModerationRuns)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	for _, code := range v1alpha1.RegionCodes() { // called with certificates of the new authority
		o.regionCondition("acme", code, v1alpha1.RegionControlSecured, v1alpha1.ReasonControlSecured)
	}
	requireAccepted(t, servers, signing, get(o, &v1alpha1.SocialNetwork{}, "acme").Status.NetworkID)
	controlled, plain := taps.on(render.PortControl), taps.on(render.PortOps)
	require.Greater(t, len(controlled), 10_000)
	require.NotContains(t, plain, "/statusz")
	for _, text := range append(append(secrets, o.secretTexts()...), "Bearer", "Authorization", "flagLimit", "PRIVATE KEY") {
		require.NotContains(t, controlled, text)
		require.NotContains(t, plain, text)
	}
}

func readFile(t *testing.T, path string) keyring.Secret {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return keyring.NewSecret(string(text))
}

// requireAccepted checks that every server accepts a token that was signed with keys of before a rotation.
func requireAccepted(t *testing.T, servers *apptest.Network, signing keyring.Secret, networkID string) {
	t.Helper()
	token, err := platformclient.AdminToken(signing, networkID, time.Now())
	require.NoError(t, err)
	for _, code := range region.All() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, servers.BaseURL(code)+"/api/v3/network-settings", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, code)
	}
}
