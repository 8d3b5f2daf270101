package platformclient_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/platform/statusz"
)

// answers serves one text for each path.
func answers(t *testing.T, texts map[string]string) platformclient.Server {
	t.Helper()
	t.Helper()
	return newSecured(t).serve(func(w http.ResponseWriter, r *http.Request) {
		text, found := texts[r.URL.Path]
		if !found {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, text)
	})
}

func TestResponseErrors(t *testing.T) {
	for want, err := range map[string]*platformclient.ResponseError{
		"unexpected response: why":                       {Status: 200, Code: 7, Reason: "why"},
		"the server responded with status 422, code 500": {Status: 422, Code: 500},
		"the server responded with status 503":           {Status: 503},
	} {
		require.EqualError(t, err, want)
	}
	for status, want := range map[int]bool{
		200: false, 302: false, 399: false, 400: true, 404: true, 429: false, 499: true, 500: false,
		503: false,
	} {
		require.Equal(t, want, (&platformclient.ResponseError{Status: status}).Permanent(), status)
	}
}

// TestIncompleteStatus checks that a status without a region or without a network is not that of a server.
func TestIncompleteStatus(t *testing.T) {
	for text, isValid := range map[string]bool{
		`{"region":"eu"}`: false, `{"networkId":"n"}`: false, `{"region":"eu","networkId":"n"}`: true,
		`{"region":"eu","networkId":"n"}` + strings.Repeat(" ", 1<<20-31): true,
		`{"region":"eu","networkId":"n"}` + strings.Repeat(" ", 1<<20-30): false,
	} {
		status, err := platformclient.New().Status(within(t), answers(t, map[string]string{statusz.Path: text}))
		require.Equal(t, isValid, err == nil, len(text))
		require.Equal(t, isValid, status.Region == "eu")
	}
}

// TestAnswersAboutKeys checks that a server accepts a key only if it says so, about the key of that id, with the digest of the key.
func TestAnswersAboutKeys(t *testing.T) {
	for name, change := range map[string]func(*statusz.ServerKeyAnswer){
		"":                  func(*statusz.ServerKeyAnswer) {},
		"it is not valid":   func(a *statusz.ServerKeyAnswer) { a.Valid = false },
		"it is another key": func(a *statusz.ServerKeyAnswer) { a.ID = "k2" },
		"of another text":   func(a *statusz.ServerKeyAnswer) { a.Digest += "x" },
	} {
		server := newSecured(t).serve(func(w http.ResponseWriter, r *http.Request) {
			var asked statusz.ServerKeyRequest
			_ = json.NewDecoder(r.Body).Decode(&asked)
			answer := statusz.ServerKeyAnswer{
				Valid: true, ID: asked.ID, Digest: statusz.ServerKeyDigest(sha256.Sum256([]byte(hush)), asked.ID, asked.Nonce),
			}
			change(&answer)
			_ = json.NewEncoder(w).Encode(answer)
		})
		err := platformclient.New().VerifyServerKey(within(t), server, "k1", keyring.NewSecret(hush))
		if name == "" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, platformclient.ErrKeyRefused, name)
		}
	}
	knows := `{"region":"eu","networkId":"n","keys":{"server":{"keys":[{"id":"k1","valid":true}]}}}`
	server := answers(t, map[string]string{statusz.Path: knows})
	var answer *platformclient.ResponseError
	require.ErrorAs(t, platformclient.New().VerifyServerKey(within(t), server, "k1", keyring.NewSecret(hush)), &answer,
		"a server with a control port must prove that it has the key")
	require.Equal(t, http.StatusBadRequest, answer.Status)
}

// TestHeaders checks what the requests say about themselves.
func TestHeaders(t *testing.T) {
	var seen http.Header
	server := newSecured(t).serve(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		fmt.Fprint(w, `{}`)
	})
	servers := platformclient.New()
	_, _ = servers.Status(within(t), server)
	require.Equal(t, "application/json", seen.Get("Accept"))
	require.Equal(t, "plaza-operator", seen.Get("User-Agent"))
	require.NotContains(t, seen, "Content-Type")
	require.NotContains(t, seen, "Authorization")
	_ = servers.PushModeration(within(t), server, keyring.NewSecret("token"), platformclient.Moderation{})
	require.Equal(t, "application/json", seen.Get("Content-Type"))
	require.Equal(t, "Bearer token", seen.Get("Authorization"))
}

// TestAnswersAboutSettings checks that a server must answer with the settings that it was sent.
func TestAnswersAboutSettings(t *testing.T) {
	sent := platformclient.Moderation{WhitelistEnabled: true, ReportEnabled: true, FlagLimit: 7, FlagHideLimit: 5, Generation: 3}
	same := `{"isWhitelistEnabled":true,"isReportEnabled":true,"flagLimit":7,"flagHideLimit":5,"generation":3}`
	push := func(text string) error {
		server := answers(t, map[string]string{statusz.SettingsPath: text})
		return platformclient.New().PushModeration(within(t), server, keyring.NewSecret("token"), sent)
	}
	require.NoError(t, push(same))
	for _, other := range []string{
		`"isWhitelistEnabled":true`, `"isReportEnabled":true`, `"flagLimit":7`, `"flagHideLimit":5`,
		`"generation":3`,
	} {
		name, _, _ := strings.Cut(other, ":")
		err := push(strings.Replace(same, other, name+":null", 1))
		require.EqualError(t, err, "unexpected response: it has other settings than the request")
	}
}

// TestAnswersAboutHooks checks which refusals of a server are reported: those of webhooks, and that of the pre-hook, without a name.
func TestAnswersAboutHooks(t *testing.T) {
	all := platformclient.Hooks{Webhooks: []statusz.HookSettings{{Name: "a"}, {Name: "b"}}, Prehook: &statusz.HookSettings{URL: "x"}}
	const webhooks, prehook = `{"webhooks":[{"name":"a"}],"refused":[{"name":"b","reason":"bad"}]}`, `{"prehook":{}}`
	for _, c := range []struct {
		webhooks, prehook string
		refused           []platformclient.Refusal
		wrong             string
	}{
		{webhooks, prehook, []platformclient.Refusal{{Name: "b", Reason: "bad"}}, ""},
		{webhooks, `{"prehook":{},"refused":" worse\n"}`, []platformclient.Refusal{{Name: "b", Reason: "bad"}, {Reason: "worse"}}, ""},
		{`{"webhooks":[{"name":"a"},{"name":"b"}]}`, prehook, nil, ""},
		{`{"webhooks":[{"name":"a"}]}`, prehook, nil, "unexpected response: it has other webhooks than the request"},
		{webhooks, `{}`, []platformclient.Refusal{{Name: "b", Reason: "bad"}}, "unexpected response: it has no pre-hook"},
	} {
		server := answers(t, map[string]string{statusz.WebhooksPath: c.webhooks, statusz.PrehookPath: c.prehook})
		refused, err := platformclient.New().PushHooks(within(t), server, keyring.NewSecret("token"), all)
		if c.wrong != "" {
			require.EqualError(t, err, c.wrong)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, c.refused, refused)
	}
}

// TestModerationOfTheSpec checks what a server with the settings of a spec reports.
func TestModerationOfTheSpec(t *testing.T) {
	for generation, want := range map[int64]int{3: 3, 1<<31 - 1: 1<<31 - 1, 1 << 31: 1<<31 - 1} {
		require.Equal(t, want, platformclient.Moderation{Generation: generation}.ReportedGeneration())
	}
	hashes := map[string]bool{}
	for _, m := range []platformclient.Moderation{{}, {WhitelistEnabled: true}, {ReportEnabled: true}, {FlagLimit: 1}, {FlagHideLimit: 1}} {
		hashes[m.Hash()] = true
	}
	require.Len(t, hashes, 5)
	require.Equal(t, platformclient.Moderation{}.Hash(), platformclient.Moderation{Generation: 7}.Hash(), "the generation is not a setting")
}
