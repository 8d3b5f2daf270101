package main

import (
	"context"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/bench/bare"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestBareMatchesPlaza compares the bare server with the platform: equal answers from the same statements. A change of
// what an operation reads or returns requires a change of package bare; otherwise `make bench` compares different
// things.
func TestBareMatchesPlaza(t *testing.T) {
	through := &recorder{}
	network := apptest.Start(t, apptest.WithDatabaseURLs(map[region.Code]func(string) string{
		home: func(database string) string { return through.start(t, database) },
	}), apptest.WithConfig(func(cfg *config.Config) { cfg.PushLocal = false }))
	require.Equal(t, networkID, network.NetworkID)
	data := seedFor(t, network)
	plaza := dialTest(t, network.Region(home).APIAddr())
	other := dialTest(t, startBareTest(t, network, through))

	network.Region(home).StopWorkers() // so that all statements are those of requests
	through.take()                     // ignores startup
	for _, op := range operations(data, bareName) {
		t.Run(op.name, func(t *testing.T) {
			want, got := through.ofOperation(t, op, plaza), through.ofOperation(t, op, other)
			require.NotEmpty(t, want)
			require.Equal(t, want, got, "statements of the platform and of package bare")
			require.NoError(t, compareAnswers(op, plaza, other))
			through.take()
		})
	}
}

func seedFor(t *testing.T, network *apptest.Network) *data {
	t.Helper()
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": network.DatabaseURL}})
	require.NoError(t, err)
	defer st.Close()
	ring, err := auth.OpenKeyring(network.Keys.Signing)
	require.NoError(t, err)
	made, err := seed(t.Context(), st, auth.NewIssuer(networkID, ring), amounts{
		users: 8, authors: 4, feedPosts: 25, feedComments: 4, flagPosts: 2, flagComments: 2, circles: 1, reactions: 3,
	})
	require.NoError(t, err)
	return made
}

func startBareTest(t *testing.T, network *apptest.Network, through *recorder) (address string) {
	t.Helper()
	s, err := bare.New(t.Context(), bare.Config{
		DatabaseURL: through.url, NetworkID: networkID, SigningKeysFile: network.Keys.Signing, Home: home, PoolSize: 2,
	}, prometheus.NewRegistry())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func dialTest(t *testing.T, address string) *client {
	t.Helper()
	c, err := dial(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(c.close)
	return c
}

func TestDifference(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct {
		a, b any
		want string
	}{
		"equal":                  {object{"a": 1.0, "b": []any{"x"}}, object{"b": []any{"x"}, "a": 1.0}, ""},
		"value":                  {object{"a": 1.0}, object{"a": 2.0}, "op.a: 1 and 2"},
		"type":                   {object{"a": 1.0}, object{"a": "1"}, `op.a: 1 and "1"`},
		"null and nothing":       {object{"a": nil}, object{}, "op.a: present on one side only"},
		"nothing and null":       {object{}, object{"a": nil}, "op.a: present on one side only"},
		"length":                 {object{"a": []any{1.0}}, object{"a": []any{}}, "op.a: 1 elements and 0"},
		"order of texts":         {[]any{"x", "y"}, []any{"y", "x"}, `op[0]: "x" and "y"`},
		"order of objects":       {[]any{object{"_id": "1"}, object{"_id": "2"}}, []any{object{"_id": "2"}, object{"_id": "1"}}, ""},
		"order of posts matters": {object{"posts": []any{object{"_id": "1"}, object{"_id": "2"}}}, object{"posts": []any{object{"_id": "2"}, object{"_id": "1"}}}, `op.posts[0]._id: "1" and "2"`},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, difference("op", c.a, c.b)) })
	}
}

func TestWithoutNewFields(t *testing.T) {
	answer := map[string]any{
		"posts": []any{map[string]any{"postId": "p1", "_id": "p1", "path": "n/post/p1", "createdAt": "now", "data": "kept"}},
		"feeds": []any{map[string]any{"postCount": 3.0, "feedId": "f"}}, "communities": []any{map[string]any{"postsCount": 3.0}},
	}
	withoutNewFields(answer)
	require.Equal(t, map[string]any{
		"posts": []any{map[string]any{"path": "n/post/id", "data": "kept"}},
		"feeds": []any{map[string]any{"feedId": "f"}}, "communities": []any{map[string]any{}},
	}, answer)
}

func TestHTTPRequest(t *testing.T) {
	require.Equal(t, "GET /a HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer t\r\n\r\n", string(httpRequest("GET", "/a", "t", "")))
	require.True(t, strings.HasSuffix(string(httpRequest("POST", "/a", "t", "{}")), "Content-Length: 2\r\n\r\n{}"))
}

// listenLocal listens on a free local port.
func listenLocal(t testing.TB) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.WithoutCancel(t.Context()), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}
