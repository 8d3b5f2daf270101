package faults

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
)

// withLosable starts a network that reaches the rows of eu through a proxy.
func withLosable(t *testing.T) (*apptest.Network, *proxy.Proxy) {
	t.Helper()
	var p *proxy.Proxy
	var once sync.Once
	n := apptest.Start(t,
		apptest.WithConfig(func(cfg *config.Config) { cfg.StatementTimeout = config.Duration(2 * time.Second) }),
		apptest.WithDatabaseURLs(map[region.Code]func(string) string{region.EU: func(url string) string {
			once.Do(func() { p = proxy.New(t, url) })
			return p.Through(url)
		}}))
	t.Cleanup(p.Restore) // before the servers end: they close their connections in good order
	return n, p
}

// lostWorld has people and content in every region.
type lostWorld struct {
	t *testing.T
	*apptest.Network
	*proxy.Proxy
	people    map[region.Code]*apptest.Client
	known     []*apptest.Client // more people of us
	community map[region.Code]string
	post      map[region.Code]string
	comment   map[region.Code]string // on the us post, by the person of that region
}

func newLostWorld(t *testing.T) *lostWorld {
	t.Helper()
	w := &lostWorld{
		t: t, people: map[region.Code]*apptest.Client{}, community: map[region.Code]string{},
		post: map[region.Code]string{}, comment: map[region.Code]string{},
	}
	w.Network, w.Proxy = withLosable(t)
	for _, home := range region.All() {
		w.people[home] = w.NewUser(t, home, "of-"+home.String())
		w.community[home] = newCommunity(t, w.people[home], nil)
		w.post[home] = newPost(t, w.people[home], w.community[home])
	}
	for range 12 {
		w.known = append(w.known, w.NewUser(t, region.US, "known"))
	}
	for _, home := range region.All() {
		if home != region.US {
			join(t, w.people[home], w.community[region.US])
		}
		w.comment[home] = newComment(t, w.people[home], w.post[region.US], "")
	}
	return w
}

// unanswered returns how many round trips for callers at a region's address eu left unanswered.
func (w *lostWorld) unanswered(at region.Code) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.OpsURL(at)+"/metrics", nil)
	require.NoError(w.t, err)
	resp, err := w.HTTP().Do(req)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(name, "plaza_database_unavailable_total{") && strings.Contains(name, `home="eu"`) {
			n, err := strconv.Atoi(value)
			require.NoError(w.t, err)
			return n
		}
	}
	return 0
}

// requireAway fails unless the answer says that eu is away.
func (w *lostWorld) requireAway(answer *apptest.Response) {
	w.t.Helper()
	code, message := answer.Error(w.t)
	require.Equal(w.t, http.StatusServiceUnavailable, answer.Status, "%s", answer.Body)
	require.Equal(w.t, 500000, code)
	require.Equal(w.t, "Unexpected error", message)
	require.Equal(w.t, []any{"home region eu did not answer in time"}, answer.List(w.t, "data.detail"))
}

// readEU asks for what lives in eu.
func (w *lostWorld) readEU(c *apptest.Client) *apptest.Response {
	w.t.Helper()
	return c.Do(w.t, http.MethodGet, "/api/v3/posts/"+w.post[region.EU], nil)
}

// TestALostHome takes the rows of eu away: nobody is told, statements simply hang.
func TestALostHome(t *testing.T) {
	w := newLostWorld(t)
	w.Cut()
	for _, at := range region.All() { // each server finds out for itself, within its statement time-out
		w.requireAway(w.readEU(w.people[region.US].At(at)))
		require.Positive(t, w.unanswered(at))
	}
	t.Run("what lives there is refused at once", w.lost)
	t.Run("everything else works, and waits for nothing", w.others)
	t.Run("a page without somebody from there", w.partial)

	t.Run("nor does signing in, but for new people whom eu decides on", w.signIns)

	w.Restore()
	for _, at := range region.All() {
		require.Eventually(t, func() bool { return w.readEU(w.people[region.US].At(at)).Status == http.StatusOK }, time.Minute, 50*time.Millisecond)
	}
	t.Run("and everything is as it was", w.back)
}

func (w *lostWorld) lost(t *testing.T) {
	us, eu := w.people[region.US], w.people[region.EU]
	waits := w.waits()
	for _, at := range region.All() {
		w.requireAway(w.readEU(us.At(at)))
		w.requireAway(us.At(at).Do(t, http.MethodGet, "/api/v3/communities/"+w.community[region.EU], nil))
		w.requireAway(us.At(at).Do(t, http.MethodPost, "/api/v3/communities/"+w.community[region.EU]+"/join", nil))
		w.requireAway(us.At(at).Do(t, http.MethodPost, "/api/v3/posts/"+w.post[region.EU]+"/flag", nil))
		w.requireAway(eu.At(at).Do(t, http.MethodGet, "/api/v3/posts/"+w.post[region.US], nil)) // nobody knows whether eu is banned
	}
	require.Equal(t, waits, w.waits())
}

// waits is how many round trips eu has left unanswered so far, at all servers.
func (w *lostWorld) waits() int {
	sum := 0
	for _, at := range region.All() {
		sum += w.unanswered(at)
	}
	return sum
}

func (w *lostWorld) others(t *testing.T) {
	waits := w.waits()
	for _, home := range []region.Code{region.US, region.SG} {
		c := w.people[home]
		for _, at := range region.All() {
			w.useEverything(t, c.At(at))
		}
		w.SignIn(t, home, c.UserID)
		post(t, c, "/api/v3/posts/"+w.post[region.US]+"/flag", nil)
		post(t, c, "/api/v3/comments/"+w.comment[region.EU]+"/flag", nil)
		c.Do(t, http.MethodDelete, "/api/v3/comments/"+w.comment[region.EU]+"/unflag", nil).OK(t)
		c.Do(t, http.MethodDelete, "/api/v3/posts/"+w.post[region.US]+"/unflag", nil).OK(t)
		id := newCommunity(t, c, nil)
		c.Do(t, http.MethodDelete, "/api/v3/communities/"+id, nil).OK(t)
	}
	require.Equal(t, waits, w.waits(), "no call waited for eu")
}

// useEverything calls operations whose data lives in us and sg, as somebody from there.
func (w *lostWorld) useEverything(t *testing.T, c *apptest.Client) {
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
	id := newPost(t, c, us)
	comment := newComment(t, c, id, "")
	newComment(t, c, id, comment)
	c.Do(t, http.MethodDelete, "/api/v4/comments/"+comment, nil).OK(t)
	c.Do(t, http.MethodDelete, "/api/v4/posts/"+id, nil).OK(t)
	c.Do(t, http.MethodPut, "/api/v3/users", object{"userId": c.UserID, "description": "still here"}).OK(t)
}

func (w *lostWorld) comments(t *testing.T) *apptest.Response {
	t.Helper()
	return w.people[region.SG].Do(t, http.MethodGet, "/api/v3/comments?referenceType=post&referenceId="+w.post[region.US], nil).OK(t)
}

func (w *lostWorld) partial(t *testing.T) {
	page := w.comments(t)
	require.Contains(t, page.Strings(t, "comments", "commentId"), w.comment[region.EU])
	require.NotContains(t, page.Strings(t, "users", "userId"), w.people[region.EU].UserID)
	require.Contains(t, page.Strings(t, "users", "userId"), w.people[region.US].UserID)
	require.Contains(t, page.Strings(t, "communityUsers", "userId"), w.people[region.EU].UserID, "the membership lives with the community")
}

// signIns signs in people of us, at addresses that saw them before and that did not, and new ones: a third of those has its deciding row in eu.
func (w *lostWorld) signIns(t *testing.T) {
	for i, c := range w.known {
		w.SignIn(t, []region.Code{region.US, region.SG}[i%2], c.UserID)
	}
	away := 0
	const people = 40
	for i := range people {
		answer := signIn(t, w.Network, region.US, fmt.Sprintf("new %d", i))
		if answer.Status != http.StatusOK {
			w.requireAway(answer)
			away++
		}
	}
	require.Positive(t, away)
	require.Less(t, away, people)
}

func (w *lostWorld) back(t *testing.T) {
	require.Contains(t, w.comments(t).Strings(t, "users", "userId"), w.people[region.EU].UserID)
	for _, c := range w.people {
		for _, at := range region.All() {
			w.useEverything(t, c.At(at))
		}
	}
	c := w.SignIn(t, region.EU, w.people[region.EU].UserID)
	newPost(t, c, w.community[region.EU])
	join(t, w.people[region.SG], w.community[region.EU])
}
