package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
)

// limited starts a network whose limits are refilled so slowly that nothing is refilled during a test. Users may sign in
// more often than that, however fast the machine is.
func limited(t *testing.T, change func(cfg *config.Config)) *apptest.Network {
	t.Helper()
	return apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		cfg.RateLimit, cfg.SessionRateLimit = perHour(1000), perHour(10_000)
		change(cfg)
	}))
}

func perHour(n int) ratelimit.Limit { return ratelimit.Limit{Requests: n, Per: time.Hour} }

// requireLimited checks the answer to a request beyond a limit.
func requireLimited(t *testing.T, answer *apptest.Response, limit int, what string) {
	t.Helper()
	require.Equal(t, http.StatusTooManyRequests, answer.Status, answer.Short())
	code, message := answer.Error(t)
	require.Equal(t, 400311, code)
	require.Equal(t, "Too many requests", message)
	require.Contains(t, answer.String(t, "data.detail.0"), what)
	require.Equal(t, strconv.Itoa(limit), answer.Header.Get("RateLimit-Limit"))
	require.Equal(t, "0", answer.Header.Get("RateLimit-Remaining"))
	wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.LessOrEqual(t, wait, 3600/limit+1)
	require.Greater(t, wait, 3600/limit/2, "the requests of the test take less than that")
}

func TestRateLimitOfUsers(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.RateLimit = perHour(10) })
	alice, bob := n.NewUser(t, region.EU, "alice"), n.NewUser(t, region.EU, "bob")
	second := n.SignIn(t, region.EU, alice.UserID)
	for i := range 10 {
		answer := []*apptest.Client{alice, second}[i%2].Do(t, http.MethodGet, "/api/v3/users/"+alice.UserID, nil).OK(t)
		require.Equal(t, "10", answer.Header.Get("RateLimit-Limit"))
		require.Equal(t, "10;w=3600", answer.Header.Get("RateLimit-Policy"))
		require.Equal(t, strconv.Itoa(9-i), answer.Header.Get("RateLimit-Remaining"))
		require.NotEmpty(t, answer.Header.Get("RateLimit-Reset"))
		require.Empty(t, answer.Header.Get("Retry-After"))
	}
	for _, session := range []*apptest.Client{alice, second} {
		requireLimited(t, session.Do(t, http.MethodGet, "/api/v3/users/"+alice.UserID, nil), 10, "10/1h requests per user")
	}
	for _, request := range [][2]string{
		{http.MethodPost, "/api/v4/images"},
		{http.MethodGet, "/api/v3/files/" + alice.InternalID + "/download"},
		{http.MethodGet, addedStream},
		{http.MethodPost, "/api/v4/posts"},
	} {
		form := alice.With("Content-Type", "multipart/form-data; boundary=x")
		requireLimited(t, form.Do(t, request[0], request[1], nil), 10, "requests per user")
	}
	rpc := alice.Do(t, http.MethodPost, "/plaza.v1.UserService/GetUser", object{"userId": alice.UserID})
	require.Equal(t, http.StatusTooManyRequests, rpc.Status)
	require.Equal(t, "resource_exhausted", rpc.String(t, "code"))
	require.NotEmpty(t, rpc.Header.Get("Retry-After"))
	requireResourceExhausted(t, alice)
	bob.Do(t, http.MethodGet, "/api/v3/users/"+bob.UserID, nil).OK(t)
}

// requireResourceExhausted checks the answer over gRPC.
func requireResourceExhausted(t *testing.T, c *apptest.Client) {
	t.Helper()
	request := c.Request(t, http.MethodPost, "/plaza.v1.UserService/GetUser", "\x00\x00\x00\x00\x00")
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	answer, err := c.Network.HTTP().Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, errors.Join(err, answer.Body.Close()))
	require.Equal(t, "8", cmp.Or(answer.Trailer.Get("Grpc-Status"), answer.Header.Get("Grpc-Status")))
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
}

// TestRateLimitOfStreams checks that an event stream counts as one request.
func TestRateLimitOfStreams(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.RateLimit = perHour(2) })
	alice := n.NewUser(t, region.EU, "alice")
	first := alice.Listen(t, addedStream, "")
	require.Equal(t, "1", first.Header.Get("RateLimit-Remaining"))
	alice.Listen(t, addedStream, "")
	requireLimited(t, alice.Do(t, http.MethodGet, addedStream, nil), 2, "requests per user")
}

func TestRateLimitExemptsAdministratorsAndServerKeys(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	n := apptest.Start(t, apptest.WithLog(slog.New(slog.NewTextHandler(&log, nil))),
		apptest.WithConfig(func(cfg *config.Config) { cfg.RateLimit = perHour(3) }))
	for range 5 {
		n.Admin(region.EU).Do(t, http.MethodGet, "/api/v3/users", nil).OK(t)
		n.Anonymous(region.US).With("X-Server-Key", n.ServerKey).Do(t, http.MethodPost, "/api/v4/authentication/token",
			object{"userId": "alice"}).OK(t)
	}
	require.Equal(t, 2, strings.Count(log.String(), "a caller without rate limit exceeds the limit of users"),
		"one line per server and minute")
	require.Contains(t, log.String(), "caller.name=test")
	require.Contains(t, log.String(), "caller.keyId=k1")
}

// TestRateLimitSetting checks that the network setting takes precedence over the configuration.
func TestRateLimitSetting(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.RateLimit = perHour(2) })
	admin, alice := n.Admin(region.EU), n.NewUser(t, region.EU, "alice")
	limitAt := func(code region.Code) string {
		return alice.At(code).Do(t, http.MethodGet, "/api/v3/users/"+alice.UserID, nil).Header.Get("RateLimit-Limit")
	}
	require.Equal(t, "2", limitAt(region.EU))
	require.Empty(t, admin.Do(t, http.MethodGet, "/api/v3/network-settings", nil).OK(t).String(t, "rateLimit"))
	for setting, want := range map[string]string{"7/1h": "7", "off": ""} {
		require.Equal(t, setting, admin.Do(t, http.MethodPut, "/api/v3/network-settings", object{"rateLimit": setting}).OK(t).String(t,
			"rateLimit"))
		for _, code := range region.All() {
			require.Eventually(t, func() bool { return limitAt(code) == want }, apptest.Patience, 50*time.Millisecond)
		}
	}
	admin.Do(t, http.MethodPut, "/api/v3/network-settings", object{"rateLimit": ""}).OK(t)
	require.Eventually(t, func() bool { return limitAt(region.EU) == "2" }, apptest.Patience, 50*time.Millisecond)
	for _, wrong := range []string{"x", "0/1s", "1000001/1s", "1/999ms", "1/61m"} {
		answer := admin.Do(t, http.MethodPut, "/api/v3/network-settings", object{"rateLimit": wrong})
		require.Equal(t, http.StatusUnprocessableEntity, answer.Status)
		require.Contains(t, answer.String(t, "data.detail.0"), "rateLimit: ")
	}
}

func newSession(t *testing.T, n *apptest.Network, from ...string) *apptest.Response {
	t.Helper()
	id := apptest.UserID("new")
	return n.Anonymous(region.EU).With("X-API-Key", n.APIKey).With(from...).Do(t, http.MethodPost, "/api/v5/sessions",
		object{"userId": id, "deviceId": id})
}

func TestRateLimitOfSessionsByAddress(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) {
		cfg.SessionRateLimit = perHour(4)
		require.NoError(t, cfg.TrustedProxies.UnmarshalText([]byte("1")))
	})
	for range 4 {
		newSession(t, n, "X-Forwarded-For", "203.0.113.1").OK(t)
	}
	requireLimited(t, newSession(t, n, "X-Forwarded-For", "203.0.113.1"), 4, "sessions per address")
	requireLimited(t, newSession(t, n, "X-Forwarded-For", "198.51.100.1, 203.0.113.1"), 4, "sessions per address")
	newSession(t, n, "X-Forwarded-For", "203.0.113.1, 203.0.113.2").OK(t)
}

// TestRateLimitIgnoresForgedAddresses checks that without trusted proxies only the address of the connection counts.
func TestRateLimitIgnoresForgedAddresses(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.SessionRateLimit = perHour(4) })
	for i := range 4 {
		newSession(t, n, "X-Forwarded-For", "203.0.113."+strconv.Itoa(i)).OK(t)
	}
	requireLimited(t, newSession(t, n, "X-Forwarded-For", "203.0.113.9"), 4, "sessions per address")
}

func TestRateLimitOfSessionsByAPIKey(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.APIKeyRateLimit = perHour(4) })
	for range 4 {
		newSession(t, n).OK(t)
	}
	requireLimited(t, newSession(t, n), 4, "sessions per API key")
}

func TestRateLimitOfWrongCredentials(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.CredentialRateLimit = perHour(4) })
	alice := n.NewUser(t, region.EU, "alice")
	wrong := []func() *apptest.Response{
		func() *apptest.Response {
			return n.Bearer(region.EU, alice.Token+"x").Do(t, http.MethodGet, "/api/v3/users", nil)
		},
		func() *apptest.Response {
			return n.Anonymous(region.EU).With("X-Server-Key", "wrong").Do(t, http.MethodPost, "/api/v4/authentication/token",
				object{"userId": "alice"})
		},
		func() *apptest.Response {
			return n.Anonymous(region.EU).With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions",
				object{"userId": alice.UserID, "deviceId": "x", "authToken": "wrong"})
		},
		func() *apptest.Response { return n.Bearer(region.EU, "wrong").Do(t, http.MethodGet, addedStream, nil) },
	}
	for _, try := range wrong {
		require.Equal(t, http.StatusUnauthorized, try().Status)
	}
	for _, try := range wrong {
		requireLimited(t, try(), 4, "wrong credentials per address")
	}
	alice.Do(t, http.MethodGet, "/api/v3/users", nil).OK(t) // others at the address are not locked out
	n.Anonymous(region.EU).Do(t, http.MethodGet, "/api/v3/users", nil).Error(t)
}

func TestRateLimitOfDownloads(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.DownloadRateLimit = perHour(4) })
	alice := n.NewUser(t, region.EU, "alice")
	address := filesPath + "/" + alice.Upload(t, "image", "a.png", pngOf(t, 2, 2)).OK(t).String(t, "0.fileId") + "/download"
	for range 4 {
		n.Anonymous(region.EU).Do(t, http.MethodGet, address, nil).OK(t)
	}
	requireLimited(t, n.Anonymous(region.EU).Do(t, http.MethodGet, address, nil), 4, "downloads without a token per address")
	requireLimited(t, n.Bearer(region.EU, "wrong").Do(t, http.MethodGet, address, nil), 4, "downloads without a token per address")
	alice.Do(t, http.MethodGet, address, nil).OK(t) // whose own limit counts
}

// TestRateLimitOfMQTT checks that connections and subscriptions count as requests of their user, and wrong tokens as those of requests.
func TestRateLimitOfMQTT(t *testing.T) {
	t.Parallel()
	const limit = 40
	n := limited(t, func(cfg *config.Config) { cfg.RateLimit, cfg.CredentialRateLimit = perHour(limit), perHour(2) })
	alice := n.NewUser(t, region.EU, "alice")
	connect := func(token string) error {
		connecting := mqtt.NewClient(alice.MQTTOptions().SetPassword(token)).Connect()
		require.True(t, connecting.WaitTimeout(apptest.Patience))
		return connecting.Error()
	}
	for range 2 {
		require.ErrorIs(t, connect("wrong"), packets.ErrorRefusedNotAuthorised)
	}
	require.ErrorIs(t, connect("wrong"), packets.ErrorRefusedServerUnavailable, "one past the limit")
	requireLimited(t, n.Bearer(region.EU, "wrong").Do(t, http.MethodGet, "/api/v3/users", nil), 2, "wrong credentials per address")

	client := alice.ConnectMQTT(t)
	require.Equal(t, limit-2, remaining(t, alice))
	var refused []string
	for i := range 25 {
		refused = append(refused, fmt.Sprintf("%s/social/community/%s/%d", n.NetworkID, region.NewID(region.EU), i))
	}
	require.Zero(t, client.SubscribeTo(t, refused...))
	require.Equal(t, limit-2-3-1, remaining(t, alice), "ten filters count as one request")
	require.True(t, client.Subscribe(t, n.NetworkID+"/user/"+alice.InternalID))
	require.Equal(t, limit-6-1-1, remaining(t, alice))
	for remaining(t, alice) > 0 {
		continue
	}
	require.ErrorIs(t, connect(alice.Token), packets.ErrorRefusedServerUnavailable)
}

// remaining makes a request, and returns how many more the rate limit of the user allows.
func remaining(t *testing.T, c *apptest.Client) int {
	t.Helper()
	left, err := strconv.Atoi(c.Do(t, http.MethodGet, "/api/v3/users/"+c.UserID, nil).OK(t).Header.Get("RateLimit-Remaining"))
	require.NoError(t, err)
	return left
}

// TestRateLimitOfResumedStreams checks that each five events that a stream has missed count as a request, and so do its topics.
func TestRateLimitOfResumedStreams(t *testing.T) {
	t.Parallel()
	const limit = 100
	n := limited(t, func(cfg *config.Config) { cfg.RateLimit = perHour(limit) })
	owner := n.NewUser(t, region.EU, "owner")
	community := newCommunity(t, owner)
	for path, stream := range map[string]struct {
		topics int
		write  func()
	}{
		severalStream + topics(communityTopic(owner, community)+"/post/+"): {1, func() { newPost(t, owner, community) }},
		addedStream: {0, func() { add(t, owner, community, n.NewUser(t, region.EU, "joins")) }},
	} {
		reader := n.NewUser(t, region.EU, "reader")
		reader.Do(t, http.MethodPost, "/api/v3/communities/"+community+"/join", nil).OK(t)
		s := reader.Listen(t, path, "")
		s.Close()
		witness := n.NewUser(t, region.EU, "witness")
		witness.Do(t, http.MethodPost, "/api/v3/communities/"+community+"/join", nil).OK(t)
		logged := witness.Listen(t, path, "")
		for range 11 {
			stream.write()
			logged.Next(t)
		}
		s = reader.Listen(t, path, s.LastID)
		before, err := strconv.Atoi(s.Header.Get("RateLimit-Remaining"))
		require.NoError(t, err)
		for range 11 {
			s.Next(t)
		}
		require.Equal(t, before-stream.topics-3-1, remaining(t, reader), path)
	}
}

// TestWaitingStreamsEnd bans the readers of streams that wait for the rate limit before they have written what was missed.
func TestWaitingStreamsEnd(t *testing.T) {
	t.Parallel()
	n := limited(t, func(cfg *config.Config) { cfg.RateLimit = perHour(20) })
	owner := n.Admin(region.EU)
	first := n.NewUser(t, region.EU, "first")
	community := newCommunity(t, first)
	write := func() { add(t, owner, community, n.NewUser(t, region.EU, "joins")) }
	for _, path := range []string{severalStream + topics(communityTopic(first, community)+"/#"), addedStream} {
		reader := n.NewUser(t, region.EU, "reader")
		add(t, owner, community, reader)
		s := reader.Listen(t, path, "")
		s.Close()
		for range 60 { // 12 requests, of which half of the limit of 20 allows fewer
			write()
		}
		s = reader.Listen(t, path, s.LastID)
		for range 5 {
			s.Next(t)
		}
		owner.Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": reader.UserID}).OK(t)
		ctx, cancel := context.WithTimeout(t.Context(), apptest.Patience)
		for open := true; open; {
			_, open = s.Poll(ctx)
		}
		require.NoError(t, ctx.Err(), path)
		cancel()
	}
}

// TestRateLimitIsShared sends the requests of a user to the servers of three regions at once, in four sessions.
func TestRateLimitIsShared(t *testing.T) {
	t.Parallel()
	const limit = 100
	n := limited(t, func(cfg *config.Config) { cfg.RateLimit = perHour(limit) })
	sessions := []*apptest.Client{n.NewUser(t, region.EU, "alice")}
	for range 3 {
		sessions = append(sessions, n.SignIn(t, region.EU, sessions[0].UserID))
	}
	var admitted atomic.Int64
	var g sync.WaitGroup
	for _, code := range region.All() {
		for _, alice := range sessions {
			g.Go(func() {
				for range limit / 2 {
					if alice.At(code).Do(t, http.MethodGet, "/api/v3/users/"+alice.UserID, nil).Status == http.StatusOK {
						admitted.Add(1)
					}
				}
			})
		}
	}
	g.Wait()
	t.Logf("%d requests admitted by three servers, limit %d", admitted.Load(), limit)
	require.GreaterOrEqual(t, admitted.Load(), int64(limit))
	require.LessOrEqual(t, admitted.Load(), int64(limit*11/10))
}
