package user

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestSearches(t *testing.T) {
	for _, c := range []struct {
		req  *plazav1.ListUsersRequest
		want []string
	}{
		{&plazav1.ListUsersRequest{}, []string{"displayName"}},
		{&plazav1.ListUsersRequest{SearchBy: []string{"userId"}}, []string{"displayName"}}, // without a keyword
		{&plazav1.ListUsersRequest{Keyword: "a"}, []string{"displayName"}},
		{&plazav1.ListUsersRequest{Keyword: "a", SearchBy: []string{"userId"}}, []string{"userId"}},
		{&plazav1.ListUsersRequest{DisplayName: "a", SearchBy: []string{"userId", "profileHandle"}}, []string{"profileHandle", "userId"}},
	} {
		var fields []string
		for _, field := range []string{"displayName", "profileHandle", "userId"} {
			if searches(c.req, field) {
				fields = append(fields, field)
			}
		}
		require.Equal(t, c.want, fields)
	}
}

func TestListOf(t *testing.T) {
	for _, c := range []struct {
		name         string
		req          *plazav1.ListUsersRequest
		byName, desc bool
	}{
		{"default", &plazav1.ListUsersRequest{}, true, false},
		{"newest first", &plazav1.ListUsersRequest{SortBy: "lastCreated"}, false, true},
		{"oldest first", &plazav1.ListUsersRequest{SortBy: "firstCreated"}, false, false},
		{"a search is by name", &plazav1.ListUsersRequest{SortBy: "lastCreated", Keyword: "a"}, true, false},
		{"flagged", &plazav1.ListUsersRequest{Filter: "flagged"}, false, true},
		{"flagged, oldest first", &plazav1.ListUsersRequest{Filter: "flagged", SortBy: "firstCreated"}, false, false},
	} {
		for _, back := range []bool{false, true} {
			l := listOf(c.req, page.Cursor{Limit: 2, Back: back})
			require.Equal(t, c.byName, l.ByName, c.name)
			require.Equal(t, c.desc != back, l.Desc, c.name)
		}
	}
}

func TestChangeOf(t *testing.T) {
	require.Nil(t, changeOf(&plazav1.UpdateUserRequest{}).Roles, "roles stay")
	require.Equal(t, []string{"a"}, changeOf(&plazav1.UpdateUserRequest{Roles: []string{"a"}}).Roles)
	cleared := &plazav1.UpdateUserRequest{Clear: []string{"roles"}}
	require.True(t, clearsRoles(cleared))
	require.Equal(t, []string{}, changeOf(cleared).Roles, "all roles are removed")
	require.False(t, clearsRoles(&plazav1.UpdateUserRequest{Roles: []string{"a"}, Clear: []string{"roles"}}))
}
