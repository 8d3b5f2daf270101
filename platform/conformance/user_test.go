package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func TestGetUser(t *testing.T) {
	t.Parallel()
	reader := newUser(t, region.US, "reader")
	alice := newUser(t, region.EU, "alice")
	for _, code := range region.All() {
		for name, path := range map[string]string{
			"public":   "/api/v3/users/" + alice.UserID,
			"said so":  "/api/v3/users/" + alice.UserID + "?type=public",
			"internal": "/api/v3/users/" + alice.InternalID + "?type=internal",
			"by admin": "/api/v3/users/" + alice.UserID,
		} {
			t.Run(code.String()+" "+name, func(t *testing.T) {
				by := reader
				if name == "by admin" {
					by = admin(t)
				}
				user := requireAggregate(t, by.At(code).Do(t, http.MethodGet, path, nil), "", userAggregate).one("users")
				require.Equal(t, alice.UserID, user["userId"])
				require.Equal(t, alice.InternalID, user["_id"])
				require.Equal(t, alice.InternalID, user["userInternalId"])
				require.Nil(t, user["hashFlag"])
				require.Equal(t, []any{}, user["roles"])
				require.Equal(t, []any{}, user["permissions"])
				require.Equal(t, object{}, user["metadata"])
			})
		}
	}
	requireAttempts(t, []attempt{
		{"unknown", reader, http.MethodGet, "/api/v3/users/unknown-user", nil, notFound},
		{"unknown internal id", reader, http.MethodGet, "/api/v3/users/" + unknownID + "?type=internal", nil, notFound},
		{"public id as internal", reader, http.MethodGet, "/api/v3/users/" + alice.UserID + "?type=internal", nil, notFound},
		{"other type", reader, http.MethodGet, "/api/v3/users/" + alice.UserID + "?type=secret", nil, invalid("type")},
		{"id of 900", reader, http.MethodGet, "/api/v3/users/" + strings.Repeat("x", 900), nil, notFound},
		{"id of 901", reader, http.MethodGet, "/api/v3/users/" + strings.Repeat("x", 901), nil, invalid("userId")},
	})
}

func TestBatchGetUsers(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice, bob := newUser(t, region.SG, "alice"), newUser(t, region.US, "bob")
	odd := n.NewUser(t, region.EU, "a b/c%d@é+&[x]")
	list := func(ids ...string) string {
		return "/api/v3/users/list?" + url.Values{"userIds[]": ids}.Encode()
	}
	get := func(t *testing.T, path string) []string {
		t.Helper()
		return requireAggregate(t, alice.Do(t, http.MethodGet, path, nil), "", userAggregate).values("users", "userId")
	}
	require.Equal(t, []string{bob.UserID, alice.UserID}, get(t, list(bob.UserID, alice.UserID)), "the order of the request")
	require.Equal(t, []string{bob.UserID}, get(t, list("unknown-user", bob.UserID, bob.UserID)), "unknown ones are left out")
	require.Equal(t, []string{}, get(t, list("unknown-user")))
	require.Equal(t, []string{odd.UserID}, get(t, list(odd.UserID)), "encoded once")
	require.Equal(t, []string{odd.UserID, bob.UserID}, get(t, list(url.PathEscape(odd.UserID), bob.UserID)), "encoded twice")
	require.Equal(t, []string{bob.UserID, alice.UserID}, get(t, "/api/v3/users/list?userIds[0]="+bob.UserID+"&userIds[1]="+alice.UserID))
	hundred := slices.Repeat([]string{bob.UserID}, 100)
	requireAttempts(t, []attempt{
		{"100 ids", alice, http.MethodGet, list(hundred...), nil, failure{}},
		{"101 ids", alice, http.MethodGet, list(append(hundred, "x")...), nil, invalid("userIds")},
		{"no ids", alice, http.MethodGet, "/api/v3/users/list", nil, invalid("userIds")},
		{"id of 901", alice, http.MethodGet, list(strings.Repeat("x", 901)), nil, invalid("userIds[0]")},
	})
}

// TestSpecialUserIDs uses an id with every kind of character in every place where an id can occur.
func TestSpecialUserIDs(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	odd := n.NewUser(t, region.EU, "a b/c%d@é+&?#")
	escaped := url.PathEscape(odd.UserID)
	for _, path := range []string{"/api/v3/users/" + escaped, "/api/v3/users/" + escaped + "/"} {
		require.Equal(t, odd.UserID, odd.At(region.SG).Do(t, http.MethodGet, path, nil).OK(t).String(t, "users.0.userId"))
	}
	newWallPost(t, odd)
	r := odd.Do(t, http.MethodGet, "/api/v3/user-feeds/"+escaped, nil).OK(t)
	require.Equal(t, odd.UserID, r.String(t, "data.posts.0.targetId"))
	require.Equal(t, odd.UserID, r.String(t, "data.posts.0.postedUserId"))
	community := newCommunity(t, newUser(t, region.US, "boss"), object{"userIds": []string{odd.UserID}})
	r = odd.Do(t, http.MethodGet, "/api/v3/communities/"+community+"/users?search="+url.QueryEscape("a b/c%d@É"), nil).OK(t)
	require.Contains(t, r.Strings(t, "communityUsers", "userId"), odd.UserID)
	n.Admin(region.EU).Do(t, http.MethodDelete, "/api/v4/sessions/users/"+escaped, nil).OK(t)
	requireFailure(t, unauthorized, odd.Do(t, http.MethodGet, verifyPath, nil))
}

// TestListUsers uses a network of its own because it lists all users.
func TestListUsers(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	var byTime, byName []string
	names := map[string]string{}
	for i, name := range []string{"Mira", "Bela", "bea", "BO", "anna", "Zoe", "Ödön", "b"} {
		id := fmt.Sprintf("user-%d", i)
		nextMillisecond()
		device(n, region.All()[i%3]).Do(t, http.MethodPost, "/api/v5/sessions", session(id, object{"displayName": name})).OK(t)
		byTime, names[name] = append(byTime, id), id
	}
	for _, name := range []string{"anna", "b", "bea", "Bela", "BO", "Mira", "Zoe", "Ödön"} {
		byName = append(byName, names[name])
	}
	reader := n.SignIn(t, region.EU, "user-4")
	l := listing{by: reader, path: "/api/v3/users", list: "users", id: "userId"}
	for _, code := range region.All() {
		l.by = reader.At(code)
		l.requireOrder(t, byName)
	}
	l.with("sortBy", "displayName").requirePages(t, 3, byName)
	l.with("sortBy", "firstCreated").requirePages(t, 3, byTime)
	l.with("sortBy", "lastCreated").requirePages(t, 3, reversed(byTime))
	be := []string{names["b"], names["bea"], names["Bela"], names["BO"]}
	l.with("keyword", "B").requireOrder(t, be)
	l.with("displayName", "b").requirePages(t, 1, be)
	l.with("keyword", "BEA").requireOrder(t, []string{names["bea"]})
	l.with("keyword", "b").with("exactMatchKeyword", "true").requireOrder(t, []string{names["b"]})
	l.with("keyword", "B").with("matchType", "exact").requireOrder(t, []string{names["b"]})
	for _, match := range []string{"default", "partial"} {
		l.with("keyword", "B").with("matchType", match).with("exactMatchKeyword", "false").requireOrder(t, be)
	}
	l.with("keyword", "nobody").requireOrder(t, []string{})
	reader.Do(t, http.MethodPut, "/api/v3/users", object{"userId": reader.UserID, "profileHandle": "b"}).OK(t)
	search := "/api/v3/users?keyword=b&searchBy[]=displayName&searchBy[]=profileHandle&options"
	page := reader.Do(t, http.MethodGet, search+"[limit]=3", nil).OK(t)
	require.Equal(t, append([]string{reader.UserID}, be[:3]...), page.Strings(t, "users", "userId"), "the user with this handle precedes them")
	page = reader.Do(t, http.MethodGet, search+"[token]="+url.QueryEscape(page.String(t, "paging.next")), nil).OK(t)
	require.Equal(t, be[3:], page.Strings(t, "users", "userId"))
	flagged := l.as(n.Admin(region.US)).with("filter", "flagged")
	flagged.requireOrder(t, []string{})
	for _, i := range []int{5, 0, 3} {
		reader.Do(t, http.MethodPost, myFlagsPath+byTime[i], nil).OK(t)
	}
	for _, order := range []string{"", "displayName", "lastCreated"} {
		flagged.with("sortBy", order).requirePages(t, 1, []string{byTime[5], byTime[3], byTime[0]})
	}
	flagged.with("sortBy", "firstCreated").requirePages(t, 1, []string{byTime[0], byTime[3], byTime[5]})
	l.with("filter", "all").requireOrder(t, byName)
	l.with("isDeleted", "true").requireOrder(t, []string{})
	l.with("isDeleted", "false").requireOrder(t, byName)
	l.with("searchBy[]", "displayName").with("keyword", "zo").requireOrder(t, []string{names["Zoe"]})
	l.requireLimits(t)
	requireAggregate(t, l.page(t, nil), "", userAggregate)
	requireAttempts(t, []attempt{
		{"keyword of 100", reader, http.MethodGet, "/api/v3/users?keyword=" + strings.Repeat("x", 100), nil, failure{}},
		{"keyword of 101", reader, http.MethodGet, "/api/v3/users?keyword=" + strings.Repeat("x", 101), nil, invalid("keyword")},
		{"other sort", reader, http.MethodGet, "/api/v3/users?sortBy=age", nil, invalid("sortBy")},
		{"other filter", reader, http.MethodGet, "/api/v3/users?filter=some", nil, invalid("filter")},
		{"no boolean", reader, http.MethodGet, "/api/v3/users?isDeleted=perhaps", nil, invalid("isDeleted")},
	})
}

// TestSearchPrefersExactName finds the user with exactly the name among many whose names begin with it.
func TestSearchPrefersExactName(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	name := strings.ToLower(apptest.UserID("Sam"))
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = apptest.UserID("sam")
		called := name + strings.Repeat("m", i)
		device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(ids[i], object{"displayName": called})).OK(t)
	}
	l := listing{by: n.SignIn(t, region.EU, ids[5]), path: "/api/v3/users", list: "users", id: "userId"}
	l = l.with("exactMatchKeyword", "true")
	for i, id := range ids {
		page := l.with("keyword", name+strings.Repeat("m", i)).page(t, url.Values{"options[limit]": {"1"}})
		require.Equal(t, []string{id}, l.ids(t, page))
	}
}

// TestSearchUsers searches by the fields of searchBy.
func TestSearchUsers(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	id, name, handle := apptest.UserID("uid"), apptest.UserID("name"), apptest.UserID("handle")
	device(n, region.SG).Do(t, http.MethodPost, "/api/v5/sessions", session(id, object{"displayName": name, "profileHandle": handle})).OK(t)
	l := listing{by: n.SignIn(t, region.EU, id), path: "/api/v3/users", list: "users", id: "userId"}
	for field, keyword := range map[string]string{"displayName": name, "profileHandle": handle, "userId": id} {
		t.Run(field, func(t *testing.T) {
			l.with("searchBy[]", field).with("keyword", keyword).requireOrder(t, []string{id})
			for other, foreign := range map[string]string{"displayName": name, "profileHandle": handle, "userId": id} {
				if other != field {
					l.with("searchBy[]", field).with("keyword", foreign).requireOrder(t, []string{})
				}
			}
		})
	}
	l.with("searchBy[]", "displayName", "profileHandle", "userId").with("keyword", handle).requireOrder(t, []string{id})
	requireAttempts(t, []attempt{
		{"other field", l.by, http.MethodGet, "/api/v3/users?keyword=x&searchBy[]=email", nil, invalid("searchBy[0]")},
	})
}

func TestUpdateUser(t *testing.T) {
	t.Parallel()
	alice, bob := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob")
	put := func(t *testing.T, by *apptest.Client, body object) object {
		t.Helper()
		return requireAggregate(t, by.Do(t, http.MethodPut, "/api/v3/users/", body), "", userAggregate).one("users")
	}
	before := put(t, alice.At(region.SG), object{
		"userId": alice.UserID, "displayName": "Alice", "description": "about", "avatarFileId": fileOf(t, "image"), "profileHandle": "al",
		"avatarCustomUrl": "https://example.com/a.png", "metadata": object{"deep": object{"a": []any{1.0, "x", nil}}},
		"createNewUserWhenNotFound": false,
	})
	for field, want := range map[string]any{
		"displayName": "Alice", "description": "about", "avatarFileId": fileOf(t, "image"), "profileHandle": "al",
		"avatarCustomUrl": "https://example.com/a.png", "metadata": object{"deep": object{"a": []any{1.0, "x", nil}}},
	} {
		require.Equal(t, want, before[field], field)
	}
	after := put(t, alice, object{"description": ""})
	require.Empty(t, after["description"], "an empty text is a text")
	require.Equal(t, "Alice", after["displayName"], "absent fields stay")
	require.Equal(t, before["metadata"], after["metadata"])
	require.Equal(t, before["createdAt"], after["createdAt"])
	require.Equal(t, "Bobby", put(t, admin(t), object{"userId": bob.UserID, "displayName": "Bobby"})["displayName"])
	requireAttempts(t, []attempt{
		{"another user", alice, http.MethodPut, "/api/v3/users", object{"userId": bob.UserID, "displayName": "x"}, notAllowed},
		{"own roles", alice, http.MethodPut, "/api/v3/users", object{"roles": []string{"global-admin"}}, notAllowed},
		{"own roles away", alice, http.MethodPut, "/api/v3/users", object{"roles": []string{}}, notAllowed},
		{"unknown", admin(t), http.MethodPut, "/api/v3/users", object{"userId": "unknown-user", "displayName": "x"}, notFound},
		{"unknown to a user", alice, http.MethodPut, "/api/v3/users", object{"userId": "unknown-user", "displayName": "x"}, notAllowed},
		{"unknown role", admin(t), http.MethodPut, "/api/v3/users", object{"userId": bob.UserID, "roles": []string{"king"}}, invalid("roles")},
		{
			"community role", admin(t), http.MethodPut, "/api/v3/users",
			object{"userId": bob.UserID, "roles": []string{"community-moderator"}},
			invalid("roles"),
		},
	})
}

// TestNetworkRoles gives a user a network role. The role is shown with its permissions and applies immediately.
func TestNetworkRoles(t *testing.T) {
	t.Parallel()
	mod := newUser(t, region.US, "mod")
	requireFailure(t, notAllowed, mod.Do(t, http.MethodPut, "/api/v3/network-settings", object{}))
	r := admin(t).Do(t, http.MethodPut, "/api/v3/users", object{"userId": mod.UserID, "roles": []string{"global-admin"}})
	user := requireAggregate(t, r, "", userAggregate).one("users")
	require.Equal(t, []any{"global-admin"}, user["roles"])
	require.Contains(t, user["permissions"], "BAN_USER")
	mod.At(region.SG).Do(t, http.MethodGet, "/api/v3/network-settings", nil).OK(t)

	r = admin(t).Do(t, http.MethodPut, "/api/v3/users", object{"userId": mod.UserID, "displayName": "Mod"})
	require.Equal(t, []any{"global-admin"}, requireAggregate(t, r, "", userAggregate).one("users")["roles"], "roles that are absent stay")
	r = admin(t).Do(t, http.MethodPut, "/api/v3/users", object{"userId": mod.UserID, "roles": []string{}})
	require.Equal(t, []any{}, requireAggregate(t, r, "", userAggregate).one("users")["roles"])
	requireFailure(t, notAllowed, mod.At(region.SG).Do(t, http.MethodPut, "/api/v3/network-settings", object{}))
}

func TestUserLimits(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	var attempts []attempt
	for field, limit := range map[string]int{
		"displayName": 100, "description": 500, "avatarFileId": 50, "avatarCustomUrl": 1000, "profileHandle": 100,
	} {
		atLimit, start := failure{}, "ü" // another handle than in other tests
		switch field {
		case "avatarFileId":
			atLimit = notFound // no file has such an id
		case "avatarCustomUrl":
			start = "https://example.com/"
		}
		long := func(length int) string { return start + strings.Repeat("é", length-utf8.RuneCountInString(start)) }
		attempts = append(attempts,
			attempt{field + " at its limit", alice, http.MethodPut, "/api/v3/users", object{field: long(limit)}, atLimit},
			attempt{field + " past it", alice, http.MethodPut, "/api/v3/users", object{field: long(limit + 1)}, invalid(field)})
	}
	eleven := slices.Repeat([]string{"moderator"}, 11)
	requireAttempts(t, append(attempts,
		attempt{"10 roles", admin(t), http.MethodPut, "/api/v3/users", object{"userId": alice.UserID, "roles": eleven[:10]}, failure{}},
		attempt{"11 roles", admin(t), http.MethodPut, "/api/v3/users", object{"userId": alice.UserID, "roles": eleven}, invalid("roles")},
		attempt{"userId of 51", admin(t), http.MethodPut, "/api/v3/users", object{"userId": strings.Repeat("x", 51)}, invalid("userId")},
	))
}

func TestGlobalBan(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice := newUser(t, region.SG, "alice")
	ban := func(t *testing.T, path string) object {
		t.Helper()
		return requireAggregate(t, admin(t).Do(t, http.MethodPost, path, object{"userId": alice.UserID}), "", userAggregate).one("users")
	}
	requireFailure(t, notAllowed, alice.Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": alice.UserID}))
	user := ban(t, "/api/v2/users/ban")
	require.Equal(t, true, user["isGlobalBan"])
	require.Equal(t, true, user["isGlobalBanned"], "the name that older clients read")
	for _, code := range region.All() {
		requireFailure(t, globalBan, alice.At(code).Do(t, http.MethodGet, "/api/v3/users", nil))
		requireFailure(t, globalBan, device(n, code).Do(t, http.MethodPost, "/api/v5/sessions", session(alice.UserID)))
	}
	require.Equal(t, false, ban(t, "/api/v2/users/unban")["isGlobalBan"])
	n.SignIn(t, region.EU, alice.UserID).Do(t, http.MethodGet, "/api/v3/users", nil).OK(t)
	requireAttempts(t, []attempt{
		{"ban unknown", admin(t), http.MethodPost, "/api/v2/users/ban", object{"userId": "unknown-user"}, notFound},
		{"unban unknown", admin(t), http.MethodPost, "/api/v2/users/unban", object{"userId": "unknown-user"}, notFound},
		{"ban without a user", admin(t), http.MethodPost, "/api/v2/users/ban", object{}, invalid("userId")},
		{"userId of 51", admin(t), http.MethodPost, "/api/v2/users/unban", object{"userId": strings.Repeat("x", 51)}, invalid("userId")},
	})
}
