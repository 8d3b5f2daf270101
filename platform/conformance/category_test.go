package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const categoriesPath = "/api/v3/community-categories"

// requireCategories checks an answer with categories in both of its shapes: wrapped, as the contract shows it, and
// at the top level, where public clients read it.
func requireCategories(t *testing.T, r *apptest.Response) *aggregate {
	t.Helper()
	wrapped := requireAggregate(t, r, "data.", categoryAggregate)
	require.Equal(t, "success", r.String(t, "status"))
	require.Equal(t, wrapped.lists, requireAggregate(t, r, "", categoryAggregate).lists)
	requireResource(t, "paging", resource{"next": "s", "previous": "s"}, r.Get(t, "paging"))
	return wrapped
}

func newCategory(t *testing.T, by *apptest.Client, name string, fields ...object) string {
	t.Helper()
	nextMillisecond()
	r := by.Do(t, http.MethodPost, categoriesPath, with(object{"name": name}, fields...))
	return text(requireCategories(t, r).one("categories"), "categoryId")
}

func TestCategory(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.US, "alice")
	for _, code := range region.All() {
		name := apptest.UserID("Ärzte & Nurses")
		metadata := object{"order": 1.0, "tags": []any{"a", nil, object{}}}
		id := newCategory(t, admin(t).At(code), name, object{"avatarFileId": fileOf(t, "image"), "metadata": metadata})
		home, err := region.HomeOf(id)
		require.NoError(t, err)
		require.Equal(t, code, home, "a category lives where it was made")
		for _, at := range region.All() {
			for _, path := range []string{
				categoriesPath + "/" + id, categoriesPath + "/list?categoryId=" + id,
				categoriesPath + "/list?categoryIds[]=" + id,
			} {
				c := requireCategories(t, alice.At(at).Do(t, http.MethodGet, path, nil)).one("categories")
				require.Equal(t, id, c["categoryId"])
				require.Equal(t, name, c["name"])
				require.Equal(t, fileOf(t, "image"), c["avatarFileId"])
				require.Equal(t, metadata, c["metadata"])
				require.Equal(t, false, c["isDeleted"])
			}
		}
	}
}

func TestBatchGetCategories(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.SignIn(t, region.EU, "alice")
	one, two := newCategory(t, n.Admin(region.US), "one"), newCategory(t, n.Admin(region.SG), "two")
	get := func(t *testing.T, query string) []string {
		t.Helper()
		return requireCategories(t, alice.Do(t, http.MethodGet, categoriesPath+"/list"+query, nil)).values("categories", "categoryId")
	}
	require.Equal(t, []string{two, one}, get(t, "?categoryIds[]="+two+"&categoryIds[]="+one), "the order of the request")
	require.Equal(t, []string{one}, get(t, "?categoryIds[]="+unknownID+"&categoryIds[]="+one+"&categoryIds[]="+one))
	require.Equal(t, []string{}, get(t, "?categoryId="+unknownID))
	require.Equal(t, []string{one, two}, get(t, ""), "without an id, all of them")
	require.Equal(t, []string{two, one}, get(t, "?sortBy=lastCreated"))
	ids := func(count, length int) string {
		return "?" + url.Values{"categoryIds[]": slices.Repeat([]string{strings.Repeat("x", length)}, count)}.Encode()
	}
	requireAttempts(t, []attempt{
		{"id of 1", alice, http.MethodGet, categoriesPath + "/list?categoryId=x", nil, failure{}},
		{"id of 50", alice, http.MethodGet, categoriesPath + "/list?categoryId=" + strings.Repeat("x", 50), nil, failure{}},
		{"id of 51", alice, http.MethodGet, categoriesPath + "/list?categoryId=" + strings.Repeat("x", 51), nil, invalid("categoryId")},
		{"empty id", alice, http.MethodGet, categoriesPath + "/list?categoryId=", nil, invalid("categoryId")},
		{"100 ids", alice, http.MethodGet, categoriesPath + "/list" + ids(100, 1), nil, failure{}},
		{"101 ids", alice, http.MethodGet, categoriesPath + "/list" + ids(101, 1), nil, invalid("categoryIds")},
		{"one of 50", alice, http.MethodGet, categoriesPath + "/list" + ids(1, 50), nil, failure{}},
		{"one of 51", alice, http.MethodGet, categoriesPath + "/list" + ids(1, 51), nil, invalid("categoryIds[0]")},
		{"one empty", alice, http.MethodGet, categoriesPath + "/list" + ids(1, 0), nil, invalid("categoryIds[0]")},
		{"other sort", alice, http.MethodGet, categoriesPath + "/list?sortBy=size", nil, invalid("sortBy")},
		{"anonymous", n.Anonymous(region.EU), http.MethodGet, categoriesPath + "/list", nil, unauthorized},
	})
}

// TestListCategories uses a network of its own because it lists all categories.
func TestListCategories(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	var byTime, byName []string
	ids := map[string]string{}
	for i, name := range []string{"Music", "art", "Zen", "Éclair", "books", "Cars", "Dance"} {
		ids[name] = newCategory(t, n.Admin(region.All()[i%3]), name)
		byTime = append(byTime, ids[name])
	}
	for _, name := range []string{"art", "books", "Cars", "Dance", "Music", "Zen", "Éclair"} {
		byName = append(byName, ids[name])
	}
	alice := n.SignIn(t, region.EU, "alice")
	for _, path := range []string{categoriesPath, categoriesPath + "/list"} {
		l := listing{by: alice, path: path, list: "categories", id: "categoryId"}
		for _, code := range region.All() {
			l.by = alice.At(code)
			l.requireOrder(t, byName)
		}
		l.with("sortBy", "name").requirePages(t, 2, byName)
		l.with("sortBy", "firstCreated").requirePages(t, 3, byTime)
		l.with("sortBy", "lastCreated").requirePages(t, 2, reversed(byTime))
		l.requireLimits(t)
		requireCategories(t, l.page(t, nil))
	}
	l := listing{by: alice, path: categoriesPath, list: "data.categories", id: "categoryId"}
	l.with("isDeleted", "true").requireOrder(t, []string{})
	l.with("isDeleted", "false").requireOrder(t, byName)
	requireAttempts(t, []attempt{
		{"other sort", alice, http.MethodGet, categoriesPath + "?sortBy=size", nil, invalid("sortBy")},
		{"no boolean", alice, http.MethodGet, categoriesPath + "?isDeleted=perhaps", nil, invalid("isDeleted")},
	})
}

// TestEqualNames pages through categories that differ only in their ids.
func TestEqualNames(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	ids := make([]string, 9)
	for i := range ids {
		ids[i] = newCategory(t, n.Admin(region.All()[i%3]), "the same name")
	}
	l := listing{by: n.SignIn(t, region.EU, "alice"), path: categoriesPath, list: "categories", id: "categoryId"}
	all := l.ids(t, l.page(t, url.Values{"options[limit]": {"100"}}))
	require.ElementsMatch(t, ids, all)
	l.requirePages(t, 2, all)
}

func TestCategoryLimits(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	long := func(length int) string { return strings.Repeat("é", length) }
	requireAttempts(t, []attempt{
		{"name of 1000", admin(t), http.MethodPost, categoriesPath, object{"name": long(1000)}, failure{}},
		{"name of 1001", admin(t), http.MethodPost, categoriesPath, object{"name": long(1001)}, invalid("name")},
		{"no name", admin(t), http.MethodPost, categoriesPath, object{}, invalid("name")},
		{"avatar of 50", admin(t), http.MethodPost, categoriesPath, object{"name": "x", "avatarFileId": long(50)}, notFound},
		{"avatar of 51", admin(t), http.MethodPost, categoriesPath, object{"name": "x", "avatarFileId": long(51)}, invalid("avatarFileId")},
		{"metadata that is not an object", admin(t), http.MethodPost, categoriesPath, object{"name": "x", "metadata": 7}, invalid("metadata")},
		{"as a user", alice, http.MethodPost, categoriesPath, object{"name": "x"}, notAllowed},
		{"unknown", alice, http.MethodGet, categoriesPath + "/" + unknownID, nil, notFound},
		{"no id of ours", alice, http.MethodGet, categoriesPath + "/nothing", nil, notFound},
		{"id of 50", alice, http.MethodGet, categoriesPath + "/" + strings.Repeat("x", 50), nil, notFound},
		{"id of 51", alice, http.MethodGet, categoriesPath + "/" + strings.Repeat("x", 51), nil, invalid("categoryId")},
	})
}

// TestCategoriesOfCommunities adds a community to categories of all three regions.
func TestCategoriesOfCommunities(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.SG, "alice")
	var categories []string
	for i, code := range region.All() {
		categories = append(categories, newCategory(t, admin(t).At(code), fmt.Sprint("category ", i)))
	}
	for _, code := range region.All() {
		id := newCommunity(t, alice.At(code), object{"categoryIds": categories})
		a := requireAggregate(t, alice.Do(t, http.MethodGet, "/api/v3/communities/"+id, nil), "", communityAggregate)
		require.ElementsMatch(t, categories, a.values("categories", "categoryId"))
		require.ElementsMatch(t, toAny(categories), a.one("communities")["categoryIds"])
		for _, category := range categories {
			l := listing{by: alice, path: "/api/v3/communities", list: "communities", id: "communityId"}
			require.Contains(t, l.ids(t, l.with("categoryId", category).page(t, nil)), id)
		}
	}
}

func toAny(texts []string) []any {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}

// TestDeleteCategory deletes a category that communities belong to.
func TestDeleteCategory(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.SignIn(t, region.US, "alice")
	kept := newCategory(t, n.Admin(region.SG), "kept")
	for _, code := range region.All() {
		id := newCategory(t, n.Admin(code), "gone")
		community := newCommunity(t, alice, object{"categoryIds": []string{id, kept}})
		r := n.Admin(region.EU).Do(t, http.MethodDelete, categoriesPath+"/"+id, nil).OK(t)
		require.Equal(t, "success", r.String(t, "status"))
		require.Equal(t, true, r.Get(t, "data.success"))
		for _, path := range []string{categoriesPath + "/" + id, categoriesPath + "/list?categoryId=" + id} {
			require.Equal(t, true, requireCategories(t, alice.Do(t, http.MethodGet, path, nil)).one("categories")["isDeleted"])
		}
		a := requireAggregate(t, alice.Do(t, http.MethodGet, "/api/v3/communities/"+community, nil), "", communityAggregate)
		require.Equal(t, true, a.find("categories", "categoryId", id)["isDeleted"])
		require.Equal(t, false, a.find("categories", "categoryId", kept)["isDeleted"])
		l := listing{by: alice, path: categoriesPath, list: "categories", id: "categoryId"}
		require.Contains(t, l.ids(t, l.with("isDeleted", "true").page(t, nil)), id)
		require.Equal(t, []string{kept}, l.ids(t, l.with("isDeleted", "false").page(t, nil)))
		requireFailure(t, notFound, alice.Do(t, http.MethodPost, "/api/v3/communities",
			object{"displayName": "late", "categoryIds": []string{id}}))
		requireFailure(t, notFound, n.Admin(code).Do(t, http.MethodDelete, categoriesPath+"/"+id, nil))
		requireFailure(t, notFound, n.Admin(code).Do(t, http.MethodPut, categoriesPath+"/"+id, object{"name": "back"}))
	}
}

func TestUpdateCategory(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	long := func(length int) string { return strings.Repeat("é", length) }
	for _, code := range region.All() {
		id := newCategory(t, admin(t).At(code), "old", object{"metadata": object{"a": 1.0}})
		path := categoriesPath + "/" + id
		c := requireCategories(t, admin(t).At(region.US).Do(t, http.MethodPut, path,
			object{"categoryId": id, "name": "new", "avatarFileId": fileOf(t, "image")})).one("categories")
		require.Equal(t, "new", c["name"])
		require.Equal(t, object{"a": 1.0}, c["metadata"], "what is absent stays")
		require.Equal(t, fileOf(t, "image"), c["avatarFileId"])
		c = requireCategories(t, admin(t).Do(t, http.MethodPut, path,
			object{"metadata": object{"b": true}, "avatarFileId": ""})).one("categories")
		require.Equal(t, "new", c["name"])
		require.Equal(t, object{"b": true}, c["metadata"])
		require.Empty(t, c["avatarFileId"])
		require.Equal(t, c, requireCategories(t, alice.Do(t, http.MethodGet, path, nil)).one("categories"))
		requireAttempts(t, []attempt{
			{"as a user", alice, http.MethodPut, path, object{"name": "x"}, notAllowed},
			{"delete as a user", alice, http.MethodDelete, path, nil, notAllowed},
			{"name of 1000", admin(t), http.MethodPut, path, object{"name": long(1000)}, failure{}},
			{"name of 1001", admin(t), http.MethodPut, path, object{"name": long(1001)}, invalid("name")},
			{"empty name", admin(t), http.MethodPut, path, object{"name": ""}, invalid("name")},
			{"avatar of 51", admin(t), http.MethodPut, path, object{"avatarFileId": long(51)}, invalid("avatarFileId")},
			{"unknown avatar", admin(t), http.MethodPut, path, object{"avatarFileId": unknownID}, notFound},
			{"unknown", admin(t), http.MethodPut, categoriesPath + "/" + unknownID, object{"name": "x"}, notFound},
			{"no id of ours", admin(t), http.MethodPut, categoriesPath + "/nothing", object{"name": "x"}, notFound},
			{"delete unknown", admin(t), http.MethodDelete, categoriesPath + "/" + unknownID, nil, notFound},
			{"delete no id of ours", admin(t), http.MethodDelete, categoriesPath + "/nothing", nil, notFound},
			{"delete id of 51", admin(t), http.MethodDelete, categoriesPath + "/" + strings.Repeat("x", 51), nil, invalid("categoryId")},
		})
	}
}
