package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// This file holds where what was deleted still shows.

// TestDeleteCategory takes a category away, in which a community stands.
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
		requireFailure(t, notFound, alice.Do(t, http.MethodPost, "/api/v3/communities", object{"displayName": "late", "categoryIds": []string{id}}))
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
		c := requireCategories(t, admin(t).At(region.US).Do(t, http.MethodPut, path, object{"categoryId": id, "name": "new", "avatarFileId": fileOf(t, "image")})).one("categories")
		require.Equal(t, "new", c["name"])
		require.Equal(t, object{"a": 1.0}, c["metadata"], "what is absent stays")
		require.Equal(t, fileOf(t, "image"), c["avatarFileId"])
		c = requireCategories(t, admin(t).Do(t, http.MethodPut, path, object{"metadata": object{"b": true}, "avatarFileId": ""})).one("categories")
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

// TestDeletedStory: who may view stories everywhere sees that one was deleted, and removes what is left of it.
func TestDeletedStory(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newStory(t, boss, newCommunity(t, boss))
	path := storiesPath + "/" + id
	require.Equal(t, false, requireAggregate(t, admin(t).Do(t, http.MethodGet, path, nil), "", storyAggregate).one("stories")["isDeleted"])
	boss.Do(t, http.MethodDelete, path, nil).OK(t)
	requireFailure(t, notFound, boss.Do(t, http.MethodGet, path, nil))
	for _, code := range region.All() {
		story := requireAggregate(t, admin(t).At(code).Do(t, http.MethodGet, path, nil), "", storyAggregate).one("stories")
		require.Equal(t, true, story["isDeleted"])
		require.Equal(t, id, story["storyId"])
	}
	requireFailure(t, notFound, admin(t).Do(t, http.MethodDelete, path, nil))
	requireFailure(t, notFound, boss.Do(t, http.MethodDelete, path+"?permanent=true", nil))
	admin(t).Do(t, http.MethodDelete, path+"?permanent=true", nil).OK(t)
	requireFailure(t, notFound, admin(t).Do(t, http.MethodGet, path, nil))
}
