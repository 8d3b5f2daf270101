package auth_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

const (
	networkID  = "0a0b0c0d0e0f101112131415"
	aliceID    = "02aaaaaaaaaaaaaaaaaaaaaa" // home region eu
	strangerID = "01bbbbbbbbbbbbbbbbbbbbbb"
	keyOne     = "first-secret-key-0123456789"
	keyTwo     = "second-secret-key-9876543210"
)

var quietly = auth.WithLogger(slog.New(slog.DiscardHandler))

var start = time.Date(2026, 11, 20, 12, 0, 0, 250_000_000, time.UTC)

// clock is a clock that only moves when told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logBuffer is a log that is safe to read while it is written.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) Lines() int { return strings.Count(l.String(), "\n") }

func (l *logBuffer) Logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// keys returns the JSON of a server key file; each entry is "id", "key", "notAfter".
func keys(entries ...[3]string) string {
	parts := make([]string, len(entries))
	for i, e := range entries {
		parts[i] = fmt.Sprintf(`{"id":%q,"key":%q,"notAfter":%q}`, e[0], e[1], e[2])
	}
	return `{"keys":[` + strings.Join(parts, ",") + `]}`
}

// seeds returns the JSON of a signing key file; each entry is "kid", a letter with which to fill the seed, "notAfter".
func seeds(entries ...[3]string) string {
	parts := make([]string, len(entries))
	for i, e := range entries {
		parts[i] = fmt.Sprintf(`{"kid":%q,"seed":%q,"notAfter":%q}`, e[0], seed(e[1]), e[2])
	}
	return `{"keys":[` + strings.Join(parts, ",") + `]}`
}

func seed(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

func openKeySet(t testing.TB, content string, opts ...auth.FileOption) (*auth.KeySet, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	writeFile(t, path, content)
	set, err := auth.OpenKeySet(path, append([]auth.FileOption{quietly}, opts...)...)
	require.NoError(t, err)
	return set, path
}

func openKeyring(t testing.TB, content string, opts ...auth.FileOption) (*auth.Keyring, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "signing.json")
	writeFile(t, path, content)
	ring, err := auth.OpenKeyring(path, append([]auth.FileOption{quietly}, opts...)...)
	require.NoError(t, err)
	return ring, path
}

// newIssuer returns an issuer with one signing key, "s1", that uses the clock c.
func newIssuer(t testing.TB, c *clock, opts ...auth.IssuerOption) *auth.Issuer {
	t.Helper()
	ring, _ := openKeyring(t, seeds([3]string{"s1", "a", ""}), auth.WithClock(c.Now))
	return auth.NewIssuer(networkID, ring, append([]auth.IssuerOption{auth.WithIssuerClock(c.Now)}, opts...)...)
}

func alice() auth.AccessSubject {
	return auth.AccessSubject{UserID: aliceID, PublicID: "alice", SessionID: "02cccccccccccccccccccccc"}
}

func mint(t testing.TB, issuer *auth.Issuer) string {
	t.Helper()
	token, _, _, err := issuer.MintAccess(alice())
	require.NoError(t, err)
	return token
}

// user returns a confirmed user with network roles.
func user(t testing.TB, id string, roles ...string) *auth.Caller {
	t.Helper()
	c := &auth.Caller{Kind: auth.User, UserID: id, IssuedAt: start}
	require.NoError(t, auth.Confirm(auth.WithCaller(t.Context(), c), auth.Facts{Exists: true, SessionAuthenticated: true, Roles: roles}))
	return c
}

// printed formats values in every way in which they can reach a log or an error message.
func printed(t testing.TB, values ...any) string {
	t.Helper()
	var out strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		nested := struct {
			Public any
			hidden any
		}{v, v}
		fmt.Fprintf(&out, "%v %+v %#v\n", nested, nested, nested)
		for _, handler := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
			slog.New(handler).Info("value", "value", v, "nested", nested, slog.Group("group", "value", v))
		}
	}
	return out.String()
}

func requireCause(t testing.TB, err, want, cause error) {
	t.Helper()
	require.ErrorIs(t, err, want)
	require.ErrorIs(t, err, cause)
	var typed *fail.Error
	require.ErrorAs(t, err, &typed)
}
