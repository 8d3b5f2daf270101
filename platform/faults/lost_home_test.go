//go:build faults

package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
)

// startWithProxy starts a network that reaches the rows of eu through a proxy.
func startWithProxy(t *testing.T) (*apptest.Network, *proxy.Proxy) {
	t.Helper()
	var p *proxy.Proxy
	var once sync.Once
	n := startAll(t, apptest.WithProductionLimits(),
		apptest.WithConfig(func(cfg *config.Config) { cfg.StatementTimeout = config.Duration(5 * time.Second) }),
		apptest.WithDatabaseURLs(map[region.Code]func(string) string{region.EU: func(url string) string {
			once.Do(func() { p = proxy.New(t, url) })
			return p.Through(url)
		}}))
	t.Cleanup(p.Restore) // before the servers stop, which close their connections
	return n, p
}

// outage is a network with users and content in every region, whose home eu can be cut off.
type outage struct {
	t *testing.T
	*apptest.Network
	*proxy.Proxy
	people    map[region.Code]*apptest.Client
	known     []*apptest.Client // more users of us
	community map[region.Code]string
	post      map[region.Code]string
	comment   map[region.Code]string // on the us post, by the user of that region
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	w := &outage{
		t: t, people: map[region.Code]*apptest.Client{}, community: map[region.Code]string{},
		post: map[region.Code]string{}, comment: map[region.Code]string{},
	}
	w.Network, w.Proxy = startWithProxy(t)
	for _, home := range region.All() {
		w.people[home] = w.NewUser(t, home, "of-"+home.String())
		w.community[home] = w.people[home].NewCommunity(t)
		w.post[home] = w.people[home].NewPost(t, w.community[home])
	}
	for range 12 {
		w.known = append(w.known, w.NewUser(t, region.US, "known"))
	}
	for _, home := range region.All() {
		if home != region.US {
			w.people[home].Join(t, w.community[region.US])
		}
		w.comment[home] = w.people[home].NewComment(t, w.post[region.US])
	}
	return w
}

// trips returns how many round trips to eu the server of a region has begun.
func (w *outage) trips(at region.Code) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.OpsURL(at)+"/metrics", nil)
	require.NoError(w.t, err)
	resp, err := w.HTTP().Do(req)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(name, "plaza_database_round_trips_total{") && strings.Contains(name, `home="eu"`) {
			n, err := strconv.Atoi(value)
			require.NoError(w.t, err)
			return n
		}
	}
	return 0
}

// requireUnavailable checks that the answer says that eu is unavailable.
func (w *outage) requireUnavailable(answer *apptest.Response) {
	w.t.Helper()
	code, message := answer.Error(w.t)
	require.Equal(w.t, http.StatusServiceUnavailable, answer.Status, "%s", answer.Body)
	require.Equal(w.t, 500000, code)
	require.Equal(w.t, "Unexpected error", message)
	require.Equal(w.t, []any{"home region eu did not answer in time"}, answer.List(w.t, "data.detail"))
}

// readEU reads a post of eu.
func (w *outage) readEU(c *apptest.Client) *apptest.Response {
	w.t.Helper()
	return c.Do(w.t, http.MethodGet, "/api/v3/posts/"+w.post[region.EU], nil)
}

// TestHomeOutage cuts off the rows of eu. Connections stay open, and statements do not return.
func TestHomeOutage(t *testing.T) {
	w := newOutage(t)
	w.Cut()
	for _, at := range region.All() { // each server notices after its statement timeout
		require.Eventually(t, func() bool {
			before := w.trips(at)
			w.requireUnavailable(w.readEU(w.people[region.US].At(at)))
			return w.trips(at) == before
		}, apptest.Patience, time.Millisecond)
	}
	t.Run("requests for its rows are refused without waiting", w.refused)
	t.Run("other requests work without waiting", w.unaffected)
	t.Run("pages omit its users", w.partialPage)
	t.Run("every server stays ready", w.ready)

	t.Run("only new users with a directory row there cannot sign in", w.signIns)

	w.Restore()
	for _, at := range region.All() {
		require.Eventually(t, func() bool { return w.readEU(w.people[region.US].At(at)).Status == http.StatusOK }, apptest.Patience,
			50*time.Millisecond)
	}
	t.Run("everything works after the outage", w.recovered)
}

func (w *outage) refused(t *testing.T) {
	us, eu := w.people[region.US], w.people[region.EU]
	before := w.totalTrips()
	for _, at := range region.All() {
		w.requireUnavailable(w.readEU(us.At(at)))
		w.requireUnavailable(us.At(at).Do(t, http.MethodGet, "/api/v3/communities/"+w.community[region.EU], nil))
		w.requireUnavailable(us.At(at).Do(t, http.MethodPost, "/api/v3/communities/"+w.community[region.EU]+"/join", nil))
		w.requireUnavailable(us.At(at).Do(t, http.MethodPost, "/api/v3/posts/"+w.post[region.EU]+"/flag", nil))
		w.requireUnavailable(eu.At(at).Do(t, http.MethodGet, "/api/v3/posts/"+w.post[region.US], nil)) // whether the user is banned is unknown
	}
	require.Equal(t, before, w.totalTrips())
}

// totalTrips returns how many round trips to eu all servers have begun. It does not change while all know that eu is away.
func (w *outage) totalTrips() int {
	sum := 0
	for _, at := range region.All() {
		sum += w.trips(at)
	}
	return sum
}

func (w *outage) unaffected(t *testing.T) {
	before := w.totalTrips()
	for _, home := range []region.Code{region.US, region.SG} {
		c := w.people[home]
		for _, at := range region.All() {
			w.callEverything(t, c.At(at))
		}
		w.SignIn(t, home, c.UserID)
		post(t, c, "/api/v3/posts/"+w.post[region.US]+"/flag", nil)
		post(t, c, "/api/v3/comments/"+w.comment[region.EU]+"/flag", nil)
		c.Do(t, http.MethodDelete, "/api/v3/comments/"+w.comment[region.EU]+"/unflag", nil).OK(t)
		c.Do(t, http.MethodDelete, "/api/v3/posts/"+w.post[region.US]+"/unflag", nil).OK(t)
		id := c.NewCommunity(t)
		c.Do(t, http.MethodDelete, "/api/v3/communities/"+id, nil).OK(t)
	}
	require.Equal(t, before, w.totalTrips(), "no call waited for eu")
}

// callEverything calls operations on data of us and sg, as a user of either.
func (w *outage) callEverything(t *testing.T, c *apptest.Client) {
	t.Helper()
	us := w.community[region.US]
	for _, path := range []string{
		"/api/v3/sessions", "/api/v3/users", "/api/v3/users/" + c.UserID, "/api/v3/communities", "/api/v3/communities/" + us,
		"/api/v3/communities/" + us + "/users", "/api/v4/posts?targetType=community&targetId=" + us, "/api/v3/posts/" + w.post[region.SG],
		"/api/v3/comments?referenceType=post&referenceId=" + w.post[region.US], "/api/v3/comments/" + w.comment[region.EU],
		"/api/v3/community-feeds/" + w.community[region.SG], "/api/v3/community-categories", "/api/v3/roles",
	} {
		c.Do(t, http.MethodGet, path, nil).OK(t)
	}
	id := c.NewPost(t, us)
	comment := c.NewComment(t, id)
	c.NewComment(t, id, object{"parentId": comment})
	c.Do(t, http.MethodDelete, "/api/v4/comments/"+comment, nil).OK(t)
	c.Do(t, http.MethodDelete, "/api/v4/posts/"+id, nil).OK(t)
	c.Do(t, http.MethodPut, "/api/v3/users", object{"userId": c.UserID, "description": "still here"}).OK(t)
}

func (w *outage) comments(t *testing.T) *apptest.Response {
	t.Helper()
	return w.people[region.SG].Do(t, http.MethodGet, "/api/v3/comments?referenceType=post&referenceId="+w.post[region.US], nil).OK(t)
}

// ready checks that the server of eu keeps receiving requests for the rows of the other homes.
func (w *outage) ready(t *testing.T) {
	for _, at := range region.All() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.OpsURL(at)+"/readyz", nil)
		require.NoError(t, err)
		resp, err := w.HTTP().Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, errors.Join(err, resp.Body.Close()))
		require.Equal(t, http.StatusOK, resp.StatusCode, string(text))
		require.Regexp(t, `(?m)^database eu: .* \(advisory\)$`, string(text))
	}
}

func (w *outage) partialPage(t *testing.T) {
	page := w.comments(t)
	require.Contains(t, page.Strings(t, "comments", "commentId"), w.comment[region.EU])
	require.NotContains(t, page.Strings(t, "users", "userId"), w.people[region.EU].UserID)
	require.Contains(t, page.Strings(t, "users", "userId"), w.people[region.US].UserID)
	require.Contains(t, page.Strings(t, "communityUsers", "userId"), w.people[region.EU].UserID, "the membership is stored with the community")
}

// signIns signs in users of us who are known at the address, users who are not, and new users. Only those new users are
// refused whose directory row is in eu, which is a third of them.
func (w *outage) signIns(t *testing.T) {
	for i, c := range w.known {
		w.SignIn(t, []region.Code{region.US, region.SG}[i%2], c.UserID)
	}
	d := directory.New(nil, region.US, []byte(apptest.DirectoryKey), time.Now, slog.New(slog.DiscardHandler))
	away := 0
	const people = 60
	for i := range people {
		userID := fmt.Sprintf("new %d", i)
		answer := signIn(t, w.Network, []region.Code{region.US, region.SG}[i%2], userID)
		if d.HomeOf(userID) != region.EU {
			answer.OK(t)
			continue
		}
		w.requireUnavailable(answer)
		away++
	}
	require.InDelta(t, people/3, away, people/6, "a third: the ids are the same in each run")
}

func (w *outage) recovered(t *testing.T) {
	require.Contains(t, w.comments(t).Strings(t, "users", "userId"), w.people[region.EU].UserID)
	for _, c := range w.people {
		for _, at := range region.All() {
			w.callEverything(t, c.At(at))
		}
	}
	c := w.SignIn(t, region.EU, w.people[region.EU].UserID)
	c.NewPost(t, w.community[region.EU])
	w.people[region.SG].Join(t, w.community[region.EU])
}
