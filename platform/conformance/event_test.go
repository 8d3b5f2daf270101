package conformance

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const eventsPath = "/api/v1/events"

var (
	eventFields = resource{
		"eventId": "id", "publicId": "id", "userId": "s", "userPublicId": "s", "userInternalId": "id", "title": "s", "description": "s",
		"type":   "s",
		"status": "s", "startTime": "ts", "endTime": "ts", "location": "s", "externalUrl": "s", "coverImageFileId": "s", "originType": "s",
		"originId": "s", "isOriginPublic": "b", "discussionCommunityId": "s", "postId": "s", "rsvpCount": "n", "interestedCount": "n",
		"tags":     "s[]",
		"metadata": "o", "isDeleted": "b", "path": "s", "createdAt": "ts", "updatedAt": "ts",
	}
	eventRsvpFields = resource{
		"eventId": "id", "userId": "s", "userPublicId": "s", "userInternalId": "id", "status": "s", "respondedAt": "ts", "createdAt": "ts",
		"updatedAt": "ts",
	}
)

var eventRefused = failure{status: 400, code: 400000}

// eventIn returns a request for an event of a community that starts in an hour.
func eventIn(communityID string) object {
	return object{
		"title": "Climb", "type": "in_person", "location": "The wall", "originType": "community", "originId": communityID,
		"startTime": inTime(time.Hour), "endTime": inTime(2 * time.Hour),
	}
}

func inTime(d time.Duration) string {
	return time.Now().Add(d).UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

// newEvent creates an event and returns its id.
func newEvent(t *testing.T, c *apptest.Client, request object) string {
	t.Helper()
	return text(requireEvent(t, c.Do(t, http.MethodPost, eventsPath, request)), "eventId")
}

// requireEvent checks an answer with one event and returns the event.
func requireEvent(t *testing.T, r *apptest.Response) object {
	t.Helper()
	r.OK(t)
	for _, name := range []string{"events", "eventResponses", "users", "files", "communities", "posts", "rooms"} {
		r.List(t, name)
	}
	e := r.Get(t, "events.0").(object)
	requireResource(t, "events.0", eventFields, e)
	require.Contains(t, r.Strings(t, "users", "userId"), text(e, "userId"))
	return e
}

// getEvent returns an event as a user sees it.
func getEvent(t *testing.T, c *apptest.Client, id string) object {
	t.Helper()
	return requireEvent(t, c.Do(t, http.MethodGet, eventsPath+"/"+id, nil))
}

// requireRsvp checks an answer with one answer to an event and returns the latter.
func requireRsvp(t *testing.T, r *apptest.Response) object {
	t.Helper()
	r.OK(t)
	for _, name := range []string{"events", "eventResponses", "users", "files"} {
		r.List(t, name)
	}
	a := r.Get(t, "eventResponses.0").(object)
	requireResource(t, "eventResponses.0", eventRsvpFields, a)
	require.Contains(t, r.Strings(t, "users", "userId"), text(a, "userId"))
	return a
}

func rsvp(t *testing.T, c *apptest.Client, method, id, status string) *apptest.Response {
	t.Helper()
	return c.Do(t, method, eventsPath+"/"+id+"/rsvp", object{"status": status})
}

func TestEvent(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	community := newCommunity(t, boss, object{"userIds": []string{member.UserID}})
	cover := n.File(t, "image", 0)
	request := with(eventIn(community), object{
		"description": "D", "externalUrl": "https://example.com/a", "coverImageFileId": cover, "tags": []string{"sport"},
		"metadata": object{"timezone": "UTC"},
	})
	r := boss.Do(t, http.MethodPost, eventsPath, request)
	e := requireEvent(t, r)
	id := text(e, "eventId")
	for field, want := range map[string]any{
		"title": "Climb", "description": "D", "type": "in_person", "status": "scheduled", "location": "The wall",
		"externalUrl":      "https://example.com/a",
		"coverImageFileId": cover, "originType": "community", "originId": community, "isOriginPublic": true, "tags": []any{"sport"},
		"metadata": object{"timezone": "UTC"}, "startTime": request["startTime"], "endTime": request["endTime"], "userId": boss.UserID,
		"path": communityTopic(boss, community) + "/event/" + id, "rsvpCount": 0.0, "isDeleted": false,
	} {
		require.Equal(t, want, e[field], field)
	}
	require.Equal(t, []string{community}, r.Strings(t, "communities", "communityId"))
	require.Equal(t, []string{cover}, r.Strings(t, "files", "fileId"))
	require.Equal(t, e, getEvent(t, member, id))

	e = requireEvent(t, boss.Do(t, http.MethodPut, eventsPath+"/"+id,
		object{"title": "Run", "type": "virtual", "startTime": inTime(90 * time.Minute)}))
	require.Equal(t, "Run", e["title"])
	require.Equal(t, "virtual", e["type"])
	require.Equal(t, "The wall", e["location"], "absent fields do not change")
	require.Equal(t, []any{"sport"}, e["tags"])
	e = requireEvent(t, boss.Do(t, http.MethodPut, eventsPath+"/"+id, object{
		"description": "E", "location": "", "externalUrl": "https://example.com/b", "tags": []string{"fun", "fun"},
		"metadata": object{"timezone": "CET"},
	}))
	for field, want := range map[string]any{
		"title": "Run", "description": "E", "location": "", "externalUrl": "https://example.com/b", "tags": []any{"fun"},
		"coverImageFileId": cover, "metadata": object{"timezone": "CET"},
	} {
		require.Equal(t, want, e[field], field)
	}
	e = requireEvent(t, boss.Do(t, http.MethodPut, eventsPath+"/"+id, object{"status": "cancelled"}))
	require.Equal(t, "cancelled", e["status"])
	requireFailure(t, eventRefused, boss.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "again"}))
	requireFailure(t, eventRefused, rsvp(t, member, http.MethodPost, id, "going"))

	boss.Do(t, http.MethodDelete, eventsPath+"/"+id, nil).OK(t)
	requireFailure(t, notFound, boss.Do(t, http.MethodGet, eventsPath+"/"+id, nil))
	requireFailure(t, notFound, boss.Do(t, http.MethodDelete, eventsPath+"/"+id, nil))
}

func TestEventValidation(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	community := newCommunity(t, boss)
	for _, test := range []struct {
		field  string
		change object
	}{
		{"startTime", object{"startTime": inTime(-time.Minute)}},
		{"endTime", object{"endTime": inTime(time.Minute)}},
		{"endTime", object{"endTime": inTime(32 * 24 * time.Hour)}},
		{"location", object{"location": ""}},
		{"title", object{"title": ""}},
		{"title", object{"title": strings.Repeat("a", 61)}},
		{"externalUrl", object{"externalUrl": "javascript:alert(1)"}},
		{"type", object{"type": "party"}},
		{"tags", object{"tags": []string{"a", "b", "c", "d", "e", "f"}}},
	} {
		requireFailure(t, invalid(test.field), boss.Do(t, http.MethodPost, eventsPath, with(eventIn(community), test.change)))
	}
	requireFailure(t, notFound, boss.Do(t, http.MethodPost, eventsPath,
		with(eventIn(community), object{"coverImageFileId": "0102030405060708090a0b0c"})))
	requireFailure(t, notFound, boss.Do(t, http.MethodPost, eventsPath, eventIn("0102030405060708090a0b0c")))
	request := eventIn(community)
	delete(request, "endTime")
	e := requireEvent(t, boss.Do(t, http.MethodPost, eventsPath, request))
	require.Equal(t, 24*time.Hour, timeAt(t, e, "endTime").Sub(timeAt(t, e, "startTime")))
}

func timeAt(t *testing.T, o object, field string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text(o, field))
	require.NoError(t, err)
	return at
}

// TestEventRsvp covers answers, their counts, and the discussion community that follows them.
func TestEventRsvp(t *testing.T) {
	t.Parallel()
	boss, member, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	community := newCommunity(t, boss, object{"userIds": []string{member.UserID}})
	id := newEvent(t, boss, eventIn(community))
	discussion := text(getEvent(t, member, id), "discussionCommunityId")
	members := func() []string {
		return boss.Do(t, http.MethodGet, membersPath(discussion)+"?memberships[]=member", nil).OK(t).Strings(t, "communityUsers", "userId")
	}
	require.Equal(t, []string{boss.UserID}, members())
	requireFailure(t, notFound, member.Do(t, http.MethodGet, "/api/v3/communities/"+discussion, nil))
	requireFailure(t, notFound, member.Do(t, http.MethodGet, eventsPath+"/"+id+"/me/rsvp", nil))
	requireFailure(t, notFound, rsvp(t, member, http.MethodPut, id, "going"))
	requireFailure(t, notMember, rsvp(t, stranger, http.MethodPost, id, "going"))
	requireFailure(t, invalid("status"), rsvp(t, member, http.MethodPost, id, "perhaps"))

	a := requireRsvp(t, rsvp(t, member, http.MethodPost, id, "going"))
	require.Equal(t, "going", a["status"])
	require.Equal(t, member.InternalID, a["userInternalId"])
	requireFailure(t, exists, rsvp(t, member, http.MethodPost, id, "interested"))
	require.Equal(t, a, requireRsvp(t, member.Do(t, http.MethodGet, eventsPath+"/"+id+"/me/rsvp", nil)))
	require.ElementsMatch(t, []string{boss.UserID, member.UserID}, members())
	require.Equal(t, "event",
		text(member.Do(t, http.MethodGet, "/api/v3/communities/"+discussion, nil).OK(t).Get(t, "communities.0").(object), "type"))
	requireRsvp(t, rsvp(t, boss, http.MethodPost, id, "interested"))
	require.Contains(t, members(), boss.UserID, "the moderator stays")
	requireCounts := func(going, interested float64) {
		t.Helper()
		e := getEvent(t, stranger, id)
		require.Equal(t, []any{going, interested}, []any{e["rsvpCount"], e["interestedCount"]})
	}
	requireCounts(1, 1)
	requireRsvp(t, rsvp(t, member, http.MethodPut, id, "not_going"))
	requireRsvp(t, rsvp(t, member, http.MethodPut, id, "not_going"))
	requireCounts(0, 1)
	require.Equal(t, []string{boss.UserID}, members())

	answers := func(query string) []string {
		r := stranger.Do(t, http.MethodGet, eventsPath+"/"+id+"/rsvp"+query, nil).OK(t)
		require.Equal(t, []string{id}, r.Strings(t, "events", "eventId"))
		return r.Strings(t, "eventResponses", "userId")
	}
	require.Equal(t, []string{member.UserID, boss.UserID}, answers(""), "newest first")
	require.Equal(t, []string{boss.UserID}, answers("?status=interested"))
	require.Equal(t, []string{member.UserID, boss.UserID}, answers("?status[]=interested&status[]=not_going"))
	require.Empty(t, answers("?status=going"))
	first := stranger.Do(t, http.MethodGet, eventsPath+"/"+id+"/rsvp?options[limit]=1", nil).OK(t)
	require.Equal(t, []string{boss.UserID}, answers("?options[token]="+url.QueryEscape(first.String(t, "paging.next"))))

	for _, c := range []struct {
		by     *apptest.Client
		answer string
	}{{member, "not_going"}, {boss, "interested"}, {stranger, ""}, {admin(t), ""}} {
		for _, path := range []string{eventsPath + "/" + id, eventsPath + "?originType=community&originId=" + community} {
			r := c.by.Do(t, http.MethodGet, path, nil).OK(t)
			if c.answer == "" {
				require.Empty(t, r.List(t, "eventResponses"), path)
				continue
			}
			require.Equal(t, []string{c.by.UserID}, r.Strings(t, "eventResponses", "userId"), path)
			require.Equal(t, []string{c.answer}, r.Strings(t, "eventResponses", "status"), path)
			require.Contains(t, r.Strings(t, "users", "userId"), c.by.UserID, path)
		}
	}
	mine := member.Do(t, http.MethodGet, eventsPath+"/me/rsvps?status=not_going", nil).OK(t)
	require.Equal(t, []string{id}, mine.Strings(t, "eventResponses", "eventId"))
	require.Equal(t, []string{id}, mine.Strings(t, "events", "eventId"))
	require.Empty(t, member.Do(t, http.MethodGet, eventsPath+"/me/rsvps?status=going", nil).OK(t).List(t, "eventResponses"))
}

// TestEventFollowsTime moves events in time: their rows do not change when they start and end.
func TestEventFollowsTime(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	community := newCommunity(t, boss, object{"userIds": []string{member.UserID}})
	events := map[string]string{}
	for _, status := range []string{"scheduled", "live", "ended", "cancelled"} {
		events[status] = newEvent(t, boss, eventIn(community))
		requireRsvp(t, rsvp(t, member, http.MethodPost, events[status], "going"))
	}
	move := func(id string, by string) {
		execute(t, n, "UPDATE planned_events SET start_time = start_time - $2::interval, end_time = end_time - $2::interval WHERE id = $1", id,
			by)
	}
	move(events["live"], "90 minutes")
	move(events["ended"], "3 hours")
	boss.Do(t, http.MethodPut, eventsPath+"/"+events["cancelled"], object{"status": "cancelled"}).OK(t)
	for status, id := range events {
		require.Equal(t, status, getEvent(t, member, id)["status"])
		for _, order := range []string{"&sortBy=createdAt", "&sortBy=startTime", "&orderBy=desc"} {
			r := member.Do(t, http.MethodGet, eventsPath+"?originType=community&originId="+community+"&status="+status+order, nil).OK(t)
			require.Equal(t, []string{id}, r.Strings(t, "events", "eventId"), status+order)
		}
	}
	every := member.Do(t, http.MethodGet, eventsPath+"?originType=community&originId="+community, nil).OK(t).Strings(t, "events", "eventId")
	require.ElementsMatch(t, slices.Collect(maps.Values(events)), every, "of every status by default")
	requireFailure(t, eventRefused, rsvp(t, boss, http.MethodPost, events["ended"], "going"))
	requireFailure(t, eventRefused, boss.Do(t, http.MethodPut, eventsPath+"/"+events["ended"], object{"title": "late"}))
	requireRsvp(t, rsvp(t, boss, http.MethodPost, events["live"], "going"))
	move(events["scheduled"], "50 minutes")
	requireRsvp(t, rsvp(t, boss, http.MethodPost, events["scheduled"], "interested"))
	requireRsvp(t, rsvp(t, boss, http.MethodPut, events["scheduled"], "interested"))
	requireFailure(t, eventRefused, rsvp(t, boss, http.MethodPut, events["scheduled"], "going"))
	requireRsvp(t, rsvp(t, member, http.MethodPut, events["scheduled"], "not_going"))
}

// TestListEvents covers filters, orders and pages, of events in communities of all regions that a user sees or does not.
func TestListEvents(t *testing.T) {
	t.Parallel()
	boss, member, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	open := newCommunity(t, boss, object{"userIds": []string{member.UserID}})
	private := newCommunity(t, boss, object{"isPublic": false, "userIds": []string{member.UserID}})
	var ids []string
	for i, kind := range []string{"virtual", "in_person", "virtual"} {
		start := time.Duration(3-i) * time.Hour
		ids = append(ids,
			newEvent(t, boss,
				with(eventIn(open), object{"type": kind, "startTime": inTime(start), "endTime": inTime(start + time.Hour), "tags": []string{kind}})))
	}
	nextMillisecond()
	hidden := newEvent(t, boss, eventIn(private))
	own := newEvent(t, boss, with(eventIn(boss.UserID), object{"originType": "user"}))
	list := func(c *apptest.Client, query string) []string {
		t.Helper()
		return c.Do(t, http.MethodGet, eventsPath+"?"+query, nil).OK(t).Strings(t, "events", "eventId")
	}
	ofOpen := "originType=community&originId=" + open
	require.Equal(t, []string{ids[2], ids[1], ids[0]}, list(stranger, ofOpen), "by start")
	require.Equal(t, ids, list(stranger, ofOpen+"&orderBy=desc"))
	require.Equal(t, ids, list(stranger, ofOpen+"&sortBy=createdAt&orderBy=asc"))
	require.Equal(t, []string{ids[2], ids[0]}, list(stranger, ofOpen+"&type=virtual"))
	require.Equal(t, []string{ids[1]}, list(stranger, ofOpen+"&tags[]=in_person&tags[]=other"))
	require.Equal(t, []string{ids[1]}, list(stranger, ofOpen+"&startTimeGte="+inTime(90*time.Minute)+"&startTimeLte="+inTime(150*time.Minute)))
	require.Equal(t, []string{own}, list(stranger, "originType=user&originId="+boss.UserID))
	require.Empty(t, list(stranger, "originType=user&originId=absent"))
	ofBoss := "userId=" + boss.UserID + "&orderBy=desc"
	require.ElementsMatch(t, append([]string{own}, ids...), list(stranger, ofBoss))
	require.ElementsMatch(t, append([]string{own, hidden}, ids...), list(member, ofBoss))
	require.Equal(t, []string{own}, list(member, ofBoss+"&originType=user"))
	require.ElementsMatch(t, append([]string{hidden}, ids...), list(member, ofBoss+"&originType=community"))
	requireFailure(t, notFound, stranger.Do(t, http.MethodGet, eventsPath+"?originType=community&originId="+private, nil))
	requireFailure(t, notFound, stranger.Do(t, http.MethodGet, eventsPath+"/"+hidden, nil))

	for _, id := range []string{ids[0], ids[2], hidden} {
		nextMillisecond()
		requireRsvp(t, rsvp(t, member, http.MethodPost, id, "going"))
	}
	require.Equal(t, []string{ids[2], ids[0]}, list(member, "onlyAttendee=true&type=virtual"))
	require.Equal(t, []string{ids[2], ids[0]}, list(stranger, "onlyAttendee=true&userId="+member.UserID))
	nextMillisecond()
	requireRsvp(t, rsvp(t, member, http.MethodPost, ids[1], "interested"))
	attendedByMember := "onlyAttendee=true&userId=" + member.UserID
	require.Equal(t, []string{ids[2], ids[0]}, list(stranger, attendedByMember), "those who are interested do not attend")
	require.Empty(t, list(stranger, "userId=absent"))
	require.Empty(t, list(stranger, "onlyAttendee=true&userId=absent"))
	require.Empty(t, list(admin(t), "onlyAttendee=true"), "an administrator attends nothing")
	require.Equal(t, ids, list(stranger, "orderBy=desc&originId="+open), "the origin is a community by default")
	require.Empty(t, list(stranger, "originId=absent"))
	require.Equal(t, false, getEvent(t, member, hidden)["isOriginPublic"])
	events := listing{by: member.At(region.SG), path: eventsPath, list: "events", id: "eventId"}
	events.with("originType", "community").with("originId", open).requirePages(t, 1, []string{ids[2], ids[1], ids[0]})
	attended := events.with("onlyAttendee", "true").with("userId", member.UserID)
	for order, want := range map[string][]string{"asc": {ids[2], hidden, ids[0]}, "desc": {ids[0], hidden, ids[2]}} {
		require.Equal(t, want, pagedEvents(t, member, attended.with("orderBy", order).query.Encode()), order)
		l := attended.with("orderBy", order)
		first := l.page(t, url.Values{"options[limit]": {"1"}})
		second := l.page(t, url.Values{"options[token]": {l.token(t, first, "next")}})
		require.Equal(t, want[:1], l.ids(t, l.page(t, url.Values{"options[token]": {l.token(t, second, "previous")}})), order)
	}
	answered := []string{ids[1], hidden, ids[2], ids[0]}
	mine := listing{by: member.At(region.EU), path: eventsPath + "/me/rsvps", list: "eventResponses", id: "eventId"}
	mine.requirePages(t, 1, answered)
	require.Equal(t, answered, mine.page(t, nil).Strings(t, "events", "eventId"))
	for query, want := range map[string][]string{
		ofOpen: {ids[2], ids[1], ids[0]}, ofOpen + "&type=virtual": {ids[2], ids[0]}, "onlyAttendee=true&type=virtual": {ids[2], ids[0]},
	} {
		require.Equal(t, want, pagedEvents(t, member, query), query)
	}
}

// TestEventsAtOneTime lists events of two homes that begin at the same time, and were created at the same time: they are ordered by id.
func TestEventsAtOneTime(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	both := object{"startTime": inTime(time.Hour), "endTime": inTime(2 * time.Hour)}
	var ids []string
	for _, owner := range []*apptest.Client{boss, newUser(t, region.US, "owner")} {
		community := newCommunity(t, owner, object{"userIds": []string{boss.UserID}})
		owner.Do(t, http.MethodPost, membersPath(community)+"/roles",
			object{"role": "community-moderator", "userIds": []string{boss.UserID}}).OK(t)
		for range 3 {
			ids = append(ids, newEvent(t, boss, with(eventIn(community), both)))
		}
	}
	slices.Sort(ids)
	execute(t, boss.Network, "UPDATE planned_events SET created_at = now() WHERE id = ANY($1)", ids)
	backward := slices.Clone(ids)
	slices.Reverse(backward)
	events := listing{by: boss.At(region.SG), path: eventsPath, list: "events", id: "eventId"}.with("userId", boss.UserID)
	for _, sorted := range []string{"startTime", "createdAt"} {
		events.with("sortBy", sorted).with("orderBy", "asc").requirePages(t, 1, ids)
		events.with("sortBy", sorted).with("orderBy", "desc").requirePages(t, 2, backward)
	}
}

// pagedEvents reads a list of events one by one.
func pagedEvents(t *testing.T, c *apptest.Client, query string) []string {
	t.Helper()
	var all []string
	next := query + "&options[limit]=1"
	for range 10 {
		r := c.Do(t, http.MethodGet, eventsPath+"?"+next, nil).OK(t)
		all = append(all, r.Strings(t, "events", "eventId")...)
		token := r.String(t, "paging.next")
		if token == "" {
			break
		}
		next = query + "&options[token]=" + url.QueryEscape(token)
	}
	return all
}

// TestEventsOfUser covers events on walls: where profiles are private, followers see them.
func TestEventsOfUser(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	anna, bob := n.NewUser(t, region.EU, "anna"), n.NewUser(t, region.US, "bob")
	e := requireEvent(t, anna.Do(t, http.MethodPost, eventsPath, with(eventIn(anna.UserID), object{"originType": "user"})))
	id := text(e, "eventId")
	require.Equal(t, true, e["isOriginPublic"])
	require.Empty(t, e["discussionCommunityId"])
	requireFailure(t, forbidden, bob.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "mine"}))
	requireEvent(t, anna.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "mine"}))
	requireRsvp(t, rsvp(t, bob, http.MethodPost, id, "going"))
	anna.Do(t, http.MethodPost, "/api/v4/me/user-blocks/"+bob.UserID, nil).OK(t)
	requireFailure(t, notFound, bob.Do(t, http.MethodGet, eventsPath+"/"+id, nil))
	require.Empty(t, bob.Do(t, http.MethodGet, eventsPath+"/me/rsvps", nil).OK(t).List(t, "eventResponses"))
	anna.Do(t, http.MethodDelete, "/api/v4/me/user-blocks/"+bob.UserID, nil).OK(t)
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings/social", object{"userPrivacySetting": "private"}).OK(t)
	requireFailure(t, notMember, bob.Do(t, http.MethodGet, eventsPath+"/"+id, nil))
	require.Equal(t, false, getEvent(t, anna, id)["isOriginPublic"])
}

// TestMQTTEventEvents covers events of a private community, which a member watches in another region.
func TestMQTTEventEvents(t *testing.T) {
	t.Parallel()
	boss, member, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	community := newCommunity(t, boss, object{"isPublic": false, "userIds": []string{member.UserID}})
	topic := communityTopic(boss, community)
	reader := connected(t, member, topic)
	require.False(t, stranger.ConnectMQTT(t).Subscribe(t, topic))
	id := newEvent(t, boss, eventIn(community))
	next := func(m *apptest.MQTTClient, name string) *apptest.Response {
		t.Helper()
		e, _ := m.Until(t, name) // the community has events of its own
		require.Equal(t, id, e.Response().String(t, "data.events.0.eventId"))
		return e.Response()
	}
	require.Contains(t, next(reader, "event.created").Strings(t, "data.users", "userId"), boss.UserID)
	boss.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "Run"}).OK(t)
	require.Equal(t, "Run", next(reader, "event.updated").String(t, "data.events.0.title"))

	ofEvent := topic + "/event/" + id
	require.False(t, stranger.ConnectMQTT(t).Subscribe(t, ofEvent))
	answers := connected(t, boss, ofEvent)
	for _, act := range [][3]string{{http.MethodPost, "going", "event.rsvp.created"}, {http.MethodPut, "not_going", "event.rsvp.updated"}} {
		requireRsvp(t, rsvp(t, member, act[0], id, act[1]))
		r := next(answers, act[2])
		require.Equal(t, act[1], r.String(t, "data.eventResponses.0.status"))
		require.Equal(t, member.UserID, r.String(t, "data.eventResponses.0.userId"))
	}
	boss.Do(t, http.MethodDelete, eventsPath+"/"+id, nil).OK(t)
	for _, m := range []*apptest.MQTTClient{answers, reader} {
		r := next(m, "event.deleted")
		require.Equal(t, true, r.Get(t, "data.events.0.isDeleted"))
		require.Empty(t, r.String(t, "data.events.0.title"))
	}
}

// TestEventModerators changes the events of others by a role in the community.
func TestEventModerators(t *testing.T) {
	t.Parallel()
	boss, host, moderator := newUser(t, region.EU, "boss"), newUser(t, region.US, "host"), newUser(t, region.SG, "moderator")
	community := newCommunity(t, boss, object{"userIds": []string{host.UserID, moderator.UserID}})
	promote := func(c *apptest.Client) {
		boss.Do(t, http.MethodPost, membersPath(community)+"/roles", object{"role": "community-moderator", "userIds": []string{c.UserID}}).OK(t)
	}
	promote(host)
	id := newEvent(t, host, eventIn(community))
	boss.Do(t, http.MethodDelete, membersPath(community)+"/roles",
		object{"role": "community-moderator", "userIds": []string{host.UserID}}).OK(t)
	requireFailure(t, forbidden, host.Do(t, http.MethodPost, eventsPath, eventIn(community)))
	requireEvent(t, host.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "by the creator"}))
	requireFailure(t, forbidden, moderator.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "x"}))
	promote(moderator)
	requireEvent(t, moderator.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "by a moderator"}))
	banMember(t, boss, community, host)
	requireFailure(t, banned, host.Do(t, http.MethodPut, eventsPath+"/"+id, object{"title": "x"}))
	moderator.Do(t, http.MethodDelete, eventsPath+"/"+id, nil).OK(t)
}
