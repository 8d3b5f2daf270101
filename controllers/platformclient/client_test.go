package platformclient_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

const hush = "hush-hush-hush-hush"

func secretOf(t *testing.T, path string) keyring.Secret {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return keyring.NewSecret(string(content))
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Patience)
	t.Cleanup(cancel)
	return ctx
}

func TestStatus(t *testing.T) {
	certificates := newSecured(t)
	n := apptest.Start(t, apptest.WithConfig(certificates.configure))
	for _, code := range region.All() {
		status, err := platformclient.New().Status(within(t), certificates.server(n, code))
		require.NoError(t, err)
		require.Equal(t, string(code), status.Region)
		require.Equal(t, n.NetworkID, status.NetworkID)
		key, found := status.Keys.Server.Find("k1")
		require.True(t, found && key.Valid)
		require.Equal(t, status.Schema.Required, status.Schema.Current)
	}
}

func TestServersVerifyKeys(t *testing.T) {
	certificates := newSecured(t)
	n := apptest.Start(t, apptest.WithConfig(certificates.configure))
	servers := platformclient.New()
	for _, code := range region.All() {
		ops := certificates.server(n, code)
		require.NoError(t, servers.VerifyServerKey(within(t), ops, "k1", keyring.NewSecret(n.ServerKey)))
		require.ErrorIs(t, servers.VerifyServerKey(within(t), ops, "k2", keyring.NewSecret(n.ServerKey)), platformclient.ErrKeyRefused,
			"another id")
		for _, wrong := range []string{hush, n.APIKey, n.ServerKey + "x"} {
			require.ErrorIs(t, servers.VerifyServerKey(within(t), ops, "k1", keyring.NewSecret(wrong)), platformclient.ErrKeyRefused)
		}
	}
}

// TestServersRotate rotates keys like the operator, with servers that read the result of the state machine.
func TestServersRotate(t *testing.T) {
	certificates := newSecured(t)
	n := apptest.Start(t, apptest.WithConfig(certificates.configure))
	servers := platformclient.New()
	now := time.Now()
	in := keyring.Input{
		RotateEvery: keyring.DefaultRotateEvery, Overlap: time.Hour, Random: strings.NewReader(strings.Repeat("0123456789abcdef", 100)),
		Content: secretOf(t, n.Keys.Server), Request: "now", Verified: "k1",
		Annotations: map[string]string{keyring.AnnotationActive: "k1"},
	}
	step := func() keyring.Result {
		in.Now = time.Now()
		result, err := keyring.Step(in)
		require.NoError(t, err)
		in.Content, in.Annotations = result.Content, result.Annotations
		write(t, n.Keys.Server, result.Content)
		return result
	}
	step()
	candidate, found, err := keyring.Candidate(in.Content, in.Annotations)
	require.NoError(t, err)
	require.True(t, found)
	for _, code := range region.All() {
		ops := certificates.server(n, code)
		require.NoError(t, servers.VerifyServerKey(within(t), ops, candidate.ID, candidate.Key), "a new key is accepted immediately")
		require.NoError(t, servers.VerifyServerKey(within(t), ops, "k1", keyring.NewSecret(n.ServerKey)), "both are accepted")
	}
	in.Verified = candidate.ID
	result := step()
	require.Len(t, result.Keys, 2)
	require.WithinRange(t, result.Keys[1].NotAfter, now.Add(in.Overlap-time.Second), time.Now().Add(in.Overlap+time.Second))
	in.Content = expired(t, in.Content, "k1")
	write(t, n.Keys.Server, in.Content)
	for _, code := range region.All() { // the old key expires by itself
		require.Eventually(t, func() bool {
			err := servers.VerifyServerKey(within(t), certificates.server(n, code), "k1", keyring.NewSecret(n.ServerKey))
			return errors.Is(err, platformclient.ErrKeyRefused)
		}, apptest.Patience, 20*time.Millisecond)
		require.NoError(t, servers.VerifyServerKey(within(t), certificates.server(n, code), candidate.ID, candidate.Key))
	}
	require.Len(t, step().Keys, 1)
}

// expired returns the content of a key file in which a key has expired an hour ago.
func expired(t *testing.T, content keyring.Secret, id string) keyring.Secret {
	t.Helper()
	var file map[string]any
	require.NoError(t, json.Unmarshal([]byte(content.Reveal()), &file))
	for _, key := range file["keys"].([]any) {
		if key := key.(map[string]any); key["id"] == id {
			key["notAfter"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		}
	}
	changed, err := json.Marshal(file)
	require.NoError(t, err)
	return keyring.NewSecret(string(changed))
}

func write(t *testing.T, path string, content keyring.Secret) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(content.Reveal()), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

// TestPushModeration pushes to one region, and reads back the settings of all three.
func TestPushModeration(t *testing.T) {
	certificates := newSecured(t)
	n := apptest.Start(t, apptest.WithConfig(certificates.configure))
	servers := platformclient.New()
	token, err := platformclient.AdminToken(secretOf(t, n.Keys.Signing), n.NetworkID, time.Now())
	require.NoError(t, err)
	for i, m := range []platformclient.Moderation{
		{WhitelistEnabled: true, ReportEnabled: false, FlagLimit: 7, FlagHideLimit: 5, Generation: 3},
		{WhitelistEnabled: false, ReportEnabled: true, FlagLimit: 1000, Generation: 1 << 40},
	} {
		require.NoError(t, servers.PushModeration(within(t), certificates.server(n, region.All()[i]), token, m))
		for _, code := range region.All() {
			require.Eventually(t, func() bool {
				status, err := servers.Status(within(t), certificates.server(n, code))
				require.NoError(t, err)
				return status.Moderation.Hash() == m.Hash() && status.Moderation.Digest == m.Hash() &&
					status.Moderation.Generation == m.ReportedGeneration()
			}, apptest.Patience, 20*time.Millisecond)
		}
	}
	var answer *platformclient.ResponseError
	api := certificates.server(n, region.EU)
	require.ErrorAs(t, servers.PushModeration(within(t), api, token, platformclient.Moderation{FlagLimit: 1_000_001, Generation: 1}), &answer)
	require.Equal(t, &platformclient.ResponseError{Status: 422, Code: 500000}, answer)
	require.True(t, answer.Permanent())
	require.ErrorAs(t, servers.PushModeration(within(t), api, keyring.Secret{}, platformclient.Moderation{FlagLimit: 1}), &answer)
	require.Equal(t, http.StatusUnauthorized, answer.Status)
	old, err := platformclient.AdminToken(secretOf(t, n.Keys.Signing), n.NetworkID, time.Now().Add(-3*time.Minute))
	require.NoError(t, err)
	require.ErrorAs(t, servers.PushModeration(within(t), api, old, platformclient.Moderation{FlagLimit: 1}), &answer)
	require.Equal(t, http.StatusUnauthorized, answer.Status)
	other, err := platformclient.AdminToken(secretOf(t, n.Keys.Signing), "111111111111111111111111", time.Now())
	require.NoError(t, err)
	require.ErrorAs(t, servers.PushModeration(within(t), api, other, platformclient.Moderation{FlagLimit: 1}), &answer)
	require.Equal(t, http.StatusUnauthorized, answer.Status)
}

// TestPushHooks pushes webhooks and a pre-hook to all regions concurrently, and reads back from each the digests that the operator
// expects. The status of no server has a secret.
func TestPushHooks(t *testing.T) {
	certificates := newSecured(t)
	n := apptest.Start(t, apptest.WithConfig(certificates.configure))
	var seen record
	servers := platformclient.NewVia(seen.dial)
	token, err := platformclient.AdminToken(secretOf(t, n.Keys.Signing), n.NetworkID, time.Now())
	require.NoError(t, err)
	one := statusz.HookSettings{
		Name: "one", URL: "https://one.example.com", Events: []string{"post.updated", "post.created"}, Enabled: true,
		Secret: hush + hush,
	}
	two := statusz.HookSettings{Name: "two", URL: "http://10.0.0.1", Enabled: true, Secret: hush + hush}
	ask := statusz.HookSettings{URL: "https://ask.example.com", DefaultAction: "deny", TimeoutMS: 700, Enabled: true, Secret: hush + hush}
	other := one
	other.Secret, other.Enabled = hush+hush+"x", false
	for _, c := range []struct {
		push    platformclient.Hooks
		refused []platformclient.Refusal
		want    []statusz.HookSettings
		prehook *statusz.HookSettings
	}{
		{push: platformclient.Hooks{}},
		{push: platformclient.Hooks{Webhooks: []statusz.HookSettings{one}, Prehook: &ask}, want: []statusz.HookSettings{one}, prehook: &ask},
		{
			push: platformclient.Hooks{Webhooks: []statusz.HookSettings{other, two}, Prehook: &ask}, want: []statusz.HookSettings{other},
			prehook: &ask,
			refused: []platformclient.Refusal{{Name: "two", Reason: "url: the address is not public"}},
		},
		{push: platformclient.Hooks{}},
	} {
		var pushes sync.WaitGroup
		errs, refusals := make([]error, 3), make([][]platformclient.Refusal, 3)
		for i, code := range region.All() {
			pushes.Go(func() {
				refusals[i], errs[i] = servers.PushHooks(within(t), certificates.server(n, code), token, c.push)
			})
		}
		pushes.Wait()
		for i, refused := range refusals {
			require.NoError(t, errs[i])
			require.Len(t, refused, len(c.refused))
			for j := range refused {
				require.Equal(t, c.refused[j].Name, refused[j].Name)
				require.Contains(t, refused[j].Reason, c.refused[j].Reason)
			}
		}
		for _, code := range region.All() {
			require.Eventually(t, func() bool {
				status, err := servers.Status(within(t), certificates.server(n, code))
				require.NoError(t, err)
				require.NotNil(t, status.Hooks)
				return runs(status.Hooks, c.want, c.prehook)
			}, apptest.Patience, 20*time.Millisecond)
		}
	}
	require.NotContains(t, seen.String(), hush)
	var answer *platformclient.ResponseError
	_, err = servers.PushHooks(within(t), certificates.server(n, region.EU), keyring.Secret{}, platformclient.Hooks{})
	require.ErrorAs(t, err, &answer)
	require.Equal(t, http.StatusUnauthorized, answer.Status)
}

// runs reports whether a server runs hooks.
func runs(hooks *statusz.Hooks, want []statusz.HookSettings, prehook *statusz.HookSettings) bool {
	digest := ""
	if prehook != nil {
		digest = prehook.Hash([]byte(apptest.DirectoryKey))
	}
	if len(hooks.Webhooks) != len(want) || hooks.PrehookDigest != digest || hooks.AsOf.IsZero() || !hooks.Enabled {
		return false
	}
	for _, settings := range want {
		if found := hooks.Find(settings.Name); found == nil || found.Digest != settings.Hash([]byte(apptest.DirectoryKey)) {
			return false
		}
	}
	return true
}

func TestAdminToken(t *testing.T) {
	keys, err := keyring.NewSigningKeys(bytes.NewReader(bytes.Repeat([]byte("x"), 100)))
	require.NoError(t, err)
	now := time.Date(2026, 11, 21, 21, 0, 0, 0, time.UTC)
	token, err := platformclient.AdminToken(keys, "0123456789abcdef01234567", now)
	require.NoError(t, err)
	ring, err := auth.ParseKeyring([]byte(keys.Reveal()))
	require.NoError(t, err)
	claims, err := auth.NewIssuer("0123456789abcdef01234567", ring,
		auth.WithIssuerClock(func() time.Time { return now })).Verify(token.Reveal())
	require.NoError(t, err)
	require.True(t, claims.Admin)
	require.Equal(t, 2*time.Minute, claims.ExpiresAt.Sub(claims.IssuedAt))
	require.NoError(t, platformclient.CheckSigningKeys(keys, now))
	for _, broken := range []string{
		"", hush, `{"keys":[]}`, `{"keys":[{"kid":"a","seed":"` + hush + `"}]}`, `{"keys":[{"kid":"a","hush":"` + hush + `"}]}`,
		strings.Replace(keys.Reveal(), `"seed"`, `"notAfter":"2026-11-21T20:00:00Z","seed"`, 1),
	} {
		_, err := platformclient.AdminToken(keyring.NewSecret(broken), "0123456789abcdef01234567", now)
		require.ErrorIs(t, err, platformclient.ErrSigningKeys)
		require.NotContains(t, err.Error(), "hush")
		require.ErrorIs(t, platformclient.CheckSigningKeys(keyring.NewSecret(broken), now), platformclient.ErrSigningKeys)
	}
}

// TestInvalidResponses checks that errors do not quote the server's response.
func TestInvalidResponses(t *testing.T) {
	long := `{"region":"eu","networkId":"` + strings.Repeat("hush", 1<<19) + `"}`
	for name, c := range map[string]struct {
		status int
		body   string
		want   platformclient.ResponseError
	}{
		"no JSON":    {200, hush, platformclient.ResponseError{Status: 200, Reason: "it is not valid JSON"}},
		"empty":      {200, "", platformclient.ResponseError{Status: 200, Reason: "it is not valid JSON"}},
		"too long":   {200, long, platformclient.ResponseError{Status: 200, Reason: "it is too large"}},
		"a redirect": {302, hush, platformclient.ResponseError{Status: 302}},
		"not found":  {404, hush, platformclient.ResponseError{Status: 404}},
		"refused":    {422, `{"status":"error","code":500000,"message":"hush"}`, platformclient.ResponseError{Status: 422, Code: 500000}},
		"busy":       {429, hush, platformclient.ResponseError{Status: 429}},
		"broken":     {503, `{"code":500300,"hush":"hush"}`, platformclient.ResponseError{Status: 503, Code: 500300}},
	} {
		t.Run(name, func(t *testing.T) {
			server := newSecured(t).serve(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/hush")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})
			for what, err := range everyCall(t, server) {
				var answer *platformclient.ResponseError
				require.ErrorAs(t, err, &answer, what)
				require.Equal(t, c.want, *answer, what)
				require.NotContains(t, err.Error(), "hush")
				require.Equal(t, c.status == 404 || c.status == 422, answer.Permanent())
			}
		})
	}
}

func everyCall(t *testing.T, server platformclient.Server) map[string]error {
	t.Helper()
	servers := platformclient.New()
	_, err := servers.Status(within(t), server)
	return map[string]error{
		"status": err,
		"verify": servers.VerifyServerKey(within(t), server, "a", keyring.NewSecret(hush)),
		"hooks": pushHooks(servers.PushHooks(within(t), server, keyring.NewSecret(hush),
			platformclient.Hooks{Webhooks: []statusz.HookSettings{{Secret: hush}}})),
		"push": servers.PushModeration(within(t), server, keyring.NewSecret(hush), platformclient.Moderation{FlagLimit: 1, Generation: 1}),
	}
}

func pushHooks(_ []platformclient.Refusal, err error) error { return err }

func TestEmptyAnswers(t *testing.T) {
	errs := everyCall(t, newSecured(t).serve(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }))
	require.EqualError(t, errs["status"], "unexpected response: it has no region or no network id")
	require.ErrorIs(t, errs["verify"], platformclient.ErrKeyRefused)
	require.EqualError(t, errs["push"], "unexpected response: it has other settings than the request")
	require.EqualError(t, errs["hooks"], "unexpected response: it has other webhooks than the request")
}

// TestReadiness reads the checks of a server that is ready and of one that is not, which responds with 503.
func TestReadiness(t *testing.T) {
	for status, isReady := range map[int]bool{http.StatusOK: true, http.StatusServiceUnavailable: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"ready":%t,"checks":[{"name":"database-us","ready":%t}]}`, isReady, isReady)
		}))
		t.Cleanup(server.Close)
		readiness, err := platformclient.New().Readiness(within(t), server.Listener.Addr().String())
		require.NoError(t, err)
		require.Equal(t, isReady, readiness.Ready)
		require.Equal(t, []statusz.CheckResult{{Name: "database-us", Ready: isReady}}, readiness.Checks)
	}
}

func TestNewerServers(t *testing.T) {
	server := newSecured(t).serve(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"region":"eu","networkId":"n","something":{"new":[1]}}`)
	})
	status, err := platformclient.New().Status(within(t), server)
	require.NoError(t, err)
	require.Equal(t, statusz.Status{Region: "eu", NetworkID: "n"}, status)
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	server := platformclient.Server{Ops: address, Control: address, Credentials: newSecured(t).credentials("x", control.Operator)}
	for what, err := range everyCall(t, server) {
		require.ErrorAs(t, err, new(*platformclient.UnreachableError), what)
		require.NotContains(t, err.Error(), "hush")
	}
	server.Control = "no address"
	for what, err := range everyCall(t, server) {
		require.Error(t, err, what)
		require.NotContains(t, err.Error(), "hush")
	}
}

// TestUnresponsiveServer checks that a call of a server that never responds ends with its context.
func TestUnresponsiveServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	server := newSecured(t).serve(func(_ http.ResponseWriter, req *http.Request) {
		cancel() // the request has arrived
		select {
		case <-release:
		case <-req.Context().Done():
		}
	})
	defer close(release)
	_, err := platformclient.New().Status(ctx, server)
	require.ErrorAs(t, err, new(*platformclient.UnreachableError))
	require.ErrorIs(t, err, context.Canceled)
}

// TestProxy checks that pods are reached directly.
func TestProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	n := apptest.Shared(t)
	_, err := platformclient.New().Readiness(within(t), n.Region(region.EU).OpsAddr())
	require.NoError(t, err)
}

// TestKeysAreNotSent verifies a key at a server: none of the requests contains it.
func TestKeysAreNotSent(t *testing.T) {
	key := "a-server-key-of-32-characters-xx"
	var seen strings.Builder
	server := newSecured(t).serve(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(&seen, "%s %v %s\n", r.URL, r.Header, body)
		var asked statusz.ServerKeyRequest
		if json.Unmarshal(body, &asked) != nil {
			http.Error(w, "want a key", http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(statusz.ServerKeyAnswer{
			Valid: true, ID: asked.ID, Digest: statusz.ServerKeyDigest(sha256.Sum256([]byte(key)), asked.ID, asked.Nonce),
		})
	})
	servers := platformclient.New()
	require.NoError(t, servers.VerifyServerKey(within(t), server, "k1", keyring.NewSecret(key)))
	require.ErrorIs(t, servers.VerifyServerKey(within(t), server, "k1", keyring.NewSecret(key+"x")), platformclient.ErrKeyRefused)
	require.Contains(t, seen.String(), statusz.ServerKeyPath)
	require.NotContains(t, seen.String(), key)
}
