package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const auditPath = "/api/v1/audit/events"

// identified returns a client whose next requests have an id of their own, and the id.
func identified(c *apptest.Client) (*apptest.Client, string) {
	id := apptest.UserID("request")
	return c.With("X-Request-Id", id), id
}

// auditFixture is a network with a community, whose owner is boss, and staff.
type auditFixture struct {
	n                         *apptest.Network
	events                    *auditReader
	boss, member, mod, staff  *apptest.Client
	community, post, bossPost string
}

func newAuditFixture(t *testing.T) *auditFixture {
	t.Helper()
	n := apptest.Start(t)
	f := &auditFixture{n: n, events: newAuditReader(t, n)}
	f.boss, f.member, f.mod = n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "member"), n.NewUser(t, region.SG, "mod")
	f.staff = n.NewUser(t, region.US, "staff")
	n.Admin(region.SG).Do(t, http.MethodPut, "/api/v3/users", object{"userId": f.staff.UserID, "roles": []string{"super-moderator"}}).OK(t)
	f.community = newCommunity(t, f.boss)
	join(t, f.community, f.member, f.mod, f.staff)
	promote(t, f.boss, f.community, f.mod)
	f.post, f.bossPost = newPost(t, f.member, f.community), newPost(t, f.boss, f.community)
	flag(t, f.boss, "posts", f.post)
	return f
}

// do sends a request and returns its events.
func (f *auditFixture) do(t *testing.T, c *apptest.Client, method, path string, body any) []auditRow {
	t.Helper()
	c, id := identified(c)
	c.Do(t, method, path, body).OK(t)
	return f.events.of(t, id)
}

func (f *auditFixture) internalID(t *testing.T, c *apptest.Client) string {
	t.Helper()
	return c.Do(t, http.MethodGet, "/api/v3/users/"+c.UserID, nil).OK(t).String(t, "users.0.userInternalId")
}

// TestPrivilegesLeaveAnEvent has administrators, staff, moderators and keys act on what others own.
func TestPrivilegesLeaveAnEvent(t *testing.T) {
	t.Parallel()
	f := newAuditFixture(t)
	members := membersPath(f.community)
	on := object{"userIds": []string{f.member.UserID}}
	memberID := f.internalID(t, f.member)
	for _, c := range []struct {
		what         string
		by           *apptest.Client
		method, path string
		body         any
		kind         string
		permission   string
		targets      []string
	}{
		{
			"edit a profile", f.staff, http.MethodPut, "/api/v3/users",
			object{"userId": f.member.UserID, "displayName": "M"},
			"user", "EDIT_USER",
			[]string{"user " + memberID},
		},
		{
			"edit a post", f.mod, http.MethodPut, "/api/v4/posts/" + f.post,
			object{"data": object{"text": "changed"}},
			"user",
			"EDIT_COMMUNITY_POST",
			[]string{"post " + f.post},
		},
		{
			"edit a post as an administrator", f.n.Admin(region.SG), http.MethodPut, "/api/v4/posts/" + f.post,
			object{"data": object{"text": "again"}},
			"administrator", "",
			[]string{"post " + f.post},
		},
		{
			"remove a member", f.mod, http.MethodDelete, members, on, "user", "REMOVE_COMMUNITY_USER",
			[]string{"community " + f.community, "user " + memberID},
		},
		{
			"add a member", f.mod, http.MethodPost, members, on, "user", "ADD_COMMUNITY_USER",
			[]string{"community " + f.community, "user " + memberID},
		},
		{
			"ban a member", f.mod, http.MethodPut, members + "/ban", on, "user", "BAN_COMMUNITY_USER",
			[]string{"community " + f.community, "user " + memberID},
		},
		{
			"unban a user", f.mod, http.MethodPut, members + "/unban", on, "user", "BAN_COMMUNITY_USER",
			[]string{"community " + f.community, "user " + memberID},
		},
		{
			"ban from the network", f.staff, http.MethodPost, "/api/v2/users/ban",
			object{"userId": f.member.UserID},
			"user", "BAN_USER",
			[]string{"user " + memberID},
		},
		{
			"settings", f.n.Admin(region.EU), http.MethodPut, settingsPath,
			object{"flagLimit": 7},
			"administrator", "",
			[]string{"settings network"},
		},
		{
			"resolve flags", f.staff, http.MethodPost, flagItemsPath + "/" + f.post + "/resolve",
			object{"outcome": "dismissed"},
			"user",
			"MODERATE_POST_AND_COMMENT",
			[]string{"flagItem " + f.post},
		},
		{
			"delete a post", f.staff, http.MethodDelete, "/api/v4/posts/" + f.post, nil, "user", "DELETE_COMMUNITY_POST",
			[]string{"post " + f.post},
		},
	} {
		found := f.do(t, c.by, c.method, c.path, c.body)
		require.Len(t, found, 1, c.what)
		require.Equal(t, []string{c.kind, c.permission}, []string{found[0].Kind, found[0].Permission}, c.what)
		targets := []string{}
		for _, target := range found[0].Targets {
			targets = append(targets, target.Type+" "+target.ID)
		}
		require.Equal(t, c.targets, targets, c.what)
	}
	token := f.do(t, f.n.Anonymous(region.EU).With("X-Server-Key", f.n.ServerKey), http.MethodPost, "/api/v4/authentication/token",
		object{"userId": f.mod.UserID})
	require.Len(t, token, 1)
	require.Equal(t, []string{"serverKey", "AuthenticationService/CreateToken"}, []string{token[0].Kind, token[0].Operation})
	require.NotContains(t, token[0].KeyID, f.n.ServerKey)
	require.Equal(t, f.internalID(t, f.mod), token[0].Targets[0].ID)
	token = f.do(t, f.n.Anonymous(region.EU).With("X-Server-Key", f.n.ServerKey), http.MethodPost, "/api/v4/authentication/token",
		object{"userId": "newcomer"})
	require.True(t, strings.HasPrefix(token[0].Targets[0].ID, "unknown:"), "no public ids: %v", token)
	signIn := func(c *apptest.Client) []auditRow {
		return f.do(t, f.n.Anonymous(region.US).With("X-Api-Key", f.n.APIKey), http.MethodPost, "/api/v5/sessions",
			object{"userId": c.UserID, "deviceId": "d", "authToken": f.n.AuthToken(t, c.UserID)})
	}
	require.Empty(t, signIn(f.boss), "ordinary users")
	started := signIn(f.staff)
	require.Len(t, started, 1)
	require.Equal(t, []string{"super-moderator"}, started[0].Roles)
	require.Equal(t, f.internalID(t, f.staff), started[0].Actor)
}

// TestOwnersLeaveNoEvent has users with roles act on what they own, and use the network like everybody.
func TestOwnersLeaveNoEvent(t *testing.T) {
	t.Parallel()
	f := newAuditFixture(t)
	for _, c := range []*apptest.Client{f.staff, f.mod, f.boss} {
		reader, id := identified(c)
		post := newPost(t, reader, f.community)
		comment := newComment(t, reader, post)
		for _, a := range []struct {
			method, path string
			body         any
		}{
			{http.MethodPut, "/api/v4/posts/" + post, object{"data": object{"text": "changed"}}},
			{http.MethodPut, "/api/v3/comments/" + comment, object{"data": object{"text": "changed"}}},
			{http.MethodDelete, "/api/v4/comments/" + comment, nil},
			{http.MethodDelete, "/api/v4/posts/" + post, nil},
			{http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": f.post, "reactionName": "like"}},
			{http.MethodPost, "/api/v3/posts/" + f.post + "/flag", object{}},
			{http.MethodPut, "/api/v3/users", object{"userId": c.UserID, "description": "me"}},
			{http.MethodGet, "/api/v3/posts/" + f.post, nil},
		} {
			reader.Do(t, a.method, a.path, a.body).OK(t)
		}
		newStory(t, reader, newCommunity(t, reader))
		channel := newChannel(t, reader, object{"type": "community"})
		sent := reader.Do(t, http.MethodPost, "/api/v5/messages",
			object{"messageFeedId": channel, "dataType": "text", "data": object{"text": "hello"}}).OK(t).String(t, "messages.0.messageId")
		reader.Do(t, http.MethodDelete, "/api/v5/messages/"+sent, nil).OK(t)
		require.Empty(t, f.events.of(t, id))
	}
	boss, id := identified(f.boss)
	boss.Do(t, http.MethodPut, communitiesPath+"/"+f.community, object{"description": "mine"}).OK(t)
	require.Empty(t, f.events.of(t, id), "the creator of the community")
}

// TestEventsAreStoredOnce repeats requests, lets them fail, and has them change several homes.
func TestEventsAreStoredOnce(t *testing.T) {
	t.Parallel()
	f := newAuditFixture(t)
	boss, id := identified(f.n.Admin(region.US))
	boss = boss.With("Idempotency-Key", "once")
	for range 3 {
		boss.Do(t, http.MethodPost, "/api/v3/community-categories", object{"name": "c"}).OK(t)
	}
	require.Len(t, f.events.of(t, id), 1, "answers that are replayed leave no event")
	for _, c := range []struct {
		method, path string
		body         object
	}{
		{http.MethodPut, "/api/v4/posts/" + strings.Repeat("0", 24), object{"data": object{"text": "x"}}},
		{http.MethodPut, "/api/v3/users", object{"userId": f.member.UserID, "profileHandle": "taken"}},
		{http.MethodPut, settingsPath, object{"flagLimit": 1001}},
	} {
		f.boss.Do(t, http.MethodPut, "/api/v3/users", object{"profileHandle": "taken"})
		c1, failed := identified(f.n.Admin(region.EU))
		require.GreaterOrEqual(t, c1.Do(t, c.method, c.path, c.body).Status, 400, c.path)
		require.Empty(t, f.events.of(t, failed), c.path)
	}
	require.Len(t, f.do(t, f.n.Admin(region.EU), http.MethodDelete, "/api/v1/pinned-posts/global", nil), 1, "of three homes")
	require.Len(t, f.do(t, f.n.Admin(region.EU), http.MethodPut, "/api/v3/users",
		object{"userId": f.member.UserID, "profileHandle": "free"}), 1)
	require.Len(t, f.do(t, f.n.Admin(region.EU), http.MethodDelete, "/api/v4/posts/"+f.post+"?permanent=true", nil), 1)
}

// TestReadAudit reads events by every filter, page by page.
func TestReadAudit(t *testing.T) {
	t.Parallel()
	f := newAuditFixture(t)
	began := time.Now().UTC()
	f.do(t, f.mod.With("User-Agent", strings.Repeat("ä", 300)), http.MethodPut, "/api/v4/posts/"+f.post,
		object{"data": object{"text": "changed"}})
	f.do(t, f.staff, http.MethodPost, "/api/v2/users/ban", object{"userId": f.member.UserID})
	f.do(t, f.n.Admin(region.SG), http.MethodPut, settingsPath, object{"flagLimit": 7})
	reader := f.n.Admin(region.EU)
	list := func(query string) []any {
		t.Helper()
		return reader.Do(t, http.MethodGet, auditPath+"?"+query, nil).OK(t).List(t, "events")
	}
	edits := list("actor=" + f.mod.UserID + "&operation=PostService/UpdatePost")
	require.Len(t, edits, 1)
	edit := edits[0].(object)
	require.Equal(t, f.mod.UserID, text(edit["actor"].(object), "userId"))
	require.Equal(t, "127.0.0.1", text(edit, "address"))
	require.Equal(t, strings.Repeat("ä", 256), text(edit, "userAgent"))
	change := edit["changes"].([]any)[0].(object)
	require.NotEqual(t, "changed", text(change["before"].(object), "text"))
	require.Equal(t, "changed", text(change["after"].(object), "text"))
	bans := list("targetType=user&targetId=" + f.member.UserID)
	require.Len(t, bans, 1)
	change = bans[0].(object)["changes"].([]any)[0].(object)
	require.Equal(t, []any{false, true}, []any{change["before"].(object)["isGlobalBan"], change["after"].(object)["isGlobalBan"]})
	settings := list("targetType=settings&targetId=network")[0].(object)["changes"].([]any)[0].(object)
	require.InDelta(t, 7, settings["after"].(object)["flagLimit"], 0)
	since := "from=" + began.Format(time.RFC3339Nano)
	require.GreaterOrEqual(t, len(list(since)), 3)
	require.Empty(t, list("to="+began.AddDate(-1, 0, 0).Format(time.RFC3339Nano)))
	reads := list("operation=AuditService/ListAuditEvents&to=" + time.Now().UTC().Format(time.RFC3339Nano))
	require.Len(t, reads, 5, "reading leaves events")
	for _, read := range reads {
		require.Empty(t, read.(object)["changes"], "which change nothing")
	}
	all := list("operation=UserService/UpdateUser&options[limit]=100")
	require.Len(t, all, 1)
	requireAttempts(t, []attempt{
		{"as a moderator", f.mod, http.MethodGet, auditPath, nil, notAllowed},
		{"as a super moderator", f.staff, http.MethodGet, auditPath, nil, notAllowed},
		{"an export as a super moderator", f.staff, http.MethodGet, auditPath + "/export", nil, notAllowed},
		{"a target without its type", reader, http.MethodGet, auditPath + "?targetId=x", nil, invalid("")},
		{"an actor that is too long", reader, http.MethodGet, auditPath + "?actor=" + strings.Repeat("x", 201), nil, invalid("")},
		{"an export for one that is too long", reader, http.MethodGet, auditPath + "/export?actor=" + strings.Repeat("x", 201), nil, invalid("")},
		{"an export from a wrong time", reader, http.MethodGet, auditPath + "/export?from=x", nil, invalid("")},
		{"an export of a wrong region", reader, http.MethodGet, auditPath + "/export?region=xx", nil, invalid("")},
	})
	reader.Do(t, http.MethodGet, auditPath+"?actor="+strings.Repeat("x", 200), nil).OK(t)
}

// TestExportAudit exports more events than are read at a time.
func TestExportAudit(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	events := newAuditReader(t, n)
	_,
		err := events.conn.Exec(t.Context(),
		`INSERT INTO audit_events (home, at, id, actor_kind, actor, key_id, roles, permission, operation, targets, request_id)
		SELECT h.home, now() - n * INTERVAL '1 second', h.prefix || lpad(n::text, 22, '0'), 'administrator', 'x', '', '{}', '', 'S/M', '[]', ''
		FROM generate_series(1, 80) AS n, (VALUES ('us', '01'), ('eu', '02'), ('sg', '03')) AS h (home, prefix)`)
	require.NoError(t, err)
	admin, id := identified(n.Admin(region.EU))
	answer := admin.Do(t, http.MethodGet, auditPath+"/export?operation=S/M", nil)
	require.Equal(t, http.StatusOK, answer.Status)
	require.Equal(t, "application/x-ndjson", answer.Header.Get("Content-Type"))
	seen, last := map[string]bool{}, ""
	lines := bufio.NewScanner(bytes.NewReader(answer.Body))
	for lines.Scan() {
		var event object
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		seen[text(event, "eventId")] = true
		at := text(event, "createdAt")
		require.True(t, last == "" || at <= last, "newest first")
		last = at
	}
	require.Len(t, seen, 240)
	require.Len(t, events.of(t, id), 1, "an export leaves one event")
	var paged []string
	token := ""
	for range 4 {
		page := n.Admin(region.US).Do(t, http.MethodGet, auditPath+"?operation=S/M&options[limit]=80&options[token]="+token, nil).OK(t)
		paged = append(paged, page.Strings(t, "events", "eventId")...)
		if token, _ = page.Get(t, "paging").(object)["next"].(string); token == "" {
			break
		}
	}
	require.Len(t, paged, 240)
}
