package observed_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// planted are texts that must not leave the requests that contain them, by what they stand for.
type planted struct {
	mu  sync.Mutex
	all map[string]string
}

// text plants a text with a word that is found nowhere else.
func (p *planted) text(what string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	word := fmt.Sprintf("planted%dword", len(p.all))
	p.all[what] = word
	return word
}

// email plants an e-mail address.
func (p *planted) email(what string) string {
	address := p.text(what) + "@mail.example"
	return address
}

// secret plants a value that exists already.
func (p *planted) secret(what, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[what] = value
}

// requireAbsent requires that none of the planted texts is in what is observed.
func (p *planted) requireAbsent(t *testing.T, where, text string) {
	t.Helper()
	require.NotEmpty(t, text, where)
	for what, word := range p.all {
		for _, form := range []string{word, url.QueryEscape(word)} {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("the %s is in the %s: %s", what, where, text[max(0, at-200):min(len(text), at+200)])
			}
		}
	}
}

// TestSecretsStayInside uses a network with texts, tokens and addresses that are found nowhere else, in accepted and in wrong requests,
// and searches for them in the logs at level debug, the traces and the metrics.
func TestSecretsStayInside(t *testing.T) {
	c, log := startCollector(t), &logBuffer{}
	p := &planted{all: map[string]string{}}
	n := apptest.Start(t, apptest.WithLog(slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	p.keys(t, n)
	alice, bob := n.NewUser(t, region.EU, "alice"), n.NewUser(t, region.US, "bob")
	p.secret("access token", alice.Token)
	p.secret("access token of another user", bob.Token)
	p.use(t, alice, bob)
	p.misuse(t, n, alice)
	for _, code := range region.All() {
		p.requireAbsent(t, "metrics", openMetrics(t, n, code))
		n.Restart(t, code) // which exports the traces
	}
	require.Contains(t, log.String(), `"error":`)
	p.requireAbsent(t, "log", log.String())
	traces := strings.Join(c.text(), "\n")
	require.Contains(t, traces, "plaza.statements")
	p.requireAbsent(t, "traces", traces)
}

// keys plants the secrets of the network.
func (p *planted) keys(t *testing.T, n *apptest.Network) {
	t.Helper()
	p.secret("API key", n.APIKey)
	p.secret("server key", n.ServerKey)
	p.secret("administrator's token", n.AdminToken)
	p.secret("directory key", apptest.DirectoryKey)
	signing, err := os.ReadFile(n.Keys.Signing)
	require.NoError(t, err)
	for part := range strings.SplitSeq(string(signing), `"`) {
		if len(part) > 40 {
			p.secret("signing key", part)
		}
	}
	require.Contains(t, p.all, "signing key")
}

// use sends accepted requests.
func (p *planted) use(t *testing.T, alice, bob *apptest.Client) {
	t.Helper()
	alice.Do(t, http.MethodPut, "/api/v3/users", apptest.Object{
		"userId": alice.UserID, "displayName": p.text("display name"), "description": p.email("description of a user"),
		"metadata": apptest.Object{"email": p.email("e-mail address")},
	}).OK(t)
	community := alice.NewCommunity(t, apptest.Object{"displayName": p.text("name of a community")})
	bob.Join(t, community)
	post := alice.NewPost(t, community, apptest.Object{"data": apptest.Object{"text": p.text("text of a post")}})
	comment := bob.NewComment(t, post, apptest.Object{"data": apptest.Object{"text": p.text("text of a comment")}})
	alice.Do(t, http.MethodPost, "/api/v3/comments/"+comment+"/flag", apptest.Object{"reason": p.text("reason of a flag")})
	alice.Do(t, http.MethodPost, "/api/v4/me/following/"+bob.UserID, nil).OK(t)
	for _, path := range []string{"/api/v3/users?keyword=", "/api/v3/communities?keyword=", "/api/v5/posts?targetType=community&targetId="} {
		alice.Do(t, http.MethodGet, path+p.text("query "+path), nil)
	}
	for range 20 {
		bob.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t)
	}
}

// misuse sends wrong requests.
func (p *planted) misuse(t *testing.T, n *apptest.Network, alice *apptest.Client) {
	t.Helper()
	anonymous := n.Anonymous(region.EU)
	for _, header := range []string{
		"Authorization", "X-API-Key", "X-Server-Key", "Cookie", "User-Agent", "Origin", "X-Forwarded-For",
		"Idempotency-Key", "Traceparent", "Tracestate", "Baggage",
	} {
		value := p.text("header " + header)
		if header == "Authorization" {
			value = "Bearer " + value
		}
		anonymous.With(header, value).Do(t, http.MethodPost, "/api/v5/sessions",
			apptest.Object{"userId": "carol", "deviceId": p.text("device id with " + header)})
	}
	anonymous.With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions", apptest.Object{
		"userId": p.email("user id"), "deviceId": "d", "authToken": p.text("authToken"),
	})
	for i, body := range []any{
		apptest.Object{
			"targetType": "community", "targetId": p.text("id of a target"),
			"data": apptest.Object{"text": p.text("text of a rejected post")},
		},
		apptest.Object{"targetType": p.text("enum value")},
		apptest.Object{p.text("unknown field"): p.text("value of an unknown field")},
		apptest.Object{"data": p.text("value of a wrong type")},
		apptest.Object{"tags": strings.Repeat(p.text("long text"), 100)},
		apptest.Object{"data": apptest.Object{"text": p.text("text with a null character") + "\x00"}},
	} {
		require.GreaterOrEqual(t, alice.Do(t, http.MethodPost, "/api/v4/posts", body).Status, 400, i)
	}
	for _, path := range []string{
		"/", "/api/v3/posts/", "/api/v3/users/", "/api/v3/users?options%5Blimit%5D=", "/plaza.v1.PostService/",
		"/api/v3/files/",
	} {
		alice.Do(t, http.MethodGet, path+p.text("path "+path), nil)
		alice.Do(t, http.MethodDelete, path+p.email("address in the path "+path), nil)
	}
	alice.Upload(t, "images", p.text("name of a file"), []byte(p.text("content of a file")))
}
