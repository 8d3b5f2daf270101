package member_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func membershipIn(a *plazav1.CommunityResponse, userID string) *plazav1.CommunityUser {
	for _, m := range a.GetCommunityUsers() {
		if m.GetUserInternalId() == userID {
			return m
		}
	}
	return nil
}

func TestCommunityLivesWhereItWasMade(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.user(region.US, "ann"), w.user(region.SG, "bob")
	eu := w.servers[region.EU]
	cat := must(t, w.admin, w.servers[region.SG].categories.CreateCategory, &plazav1.CreateCategoryRequest{Name: "Plants"}).GetCategories()[0]
	got := must(t, ann, eu.community.CreateCommunity, &plazav1.CreateCommunityRequest{
		DisplayName: "Gardening", Tags: []string{"green", "green"}, CategoryIds: []string{cat.GetCategoryId()},
		UserIds: []string{"bob", "ann", "bob"}, IsUniqueDisplayName: true,
	})

	c := got.GetCommunities()[0]
	home, err := region.HomeOf(c.GetCommunityId())
	require.NoError(t, err)
	require.Equal(t, region.EU, home)
	require.Equal(t, []int32{2, 1}, []int32{c.GetMembersCount(), c.GetModeratorMemberCount()})
	require.True(t, c.GetIsJoined() && c.GetIsPublic() && c.GetIsDiscoverable() && c.GetAllowCommentInStory())
	require.Equal(t, []string{"green"}, c.GetTags())
	require.Equal(t, []string{auth.RoleCommunityModerator, auth.RoleChannelModerator}, membershipIn(got, idOf(ann)).GetRoles())
	require.Equal(t, []string{auth.RoleCommunityMember, auth.RoleChannelMember}, membershipIn(got, idOf(bob)).GetRoles())
	require.Len(t, got.GetUsers(), 2)
	require.Len(t, got.GetFeeds(), 3)
	require.Equal(t, "Plants", got.GetCategories()[0].GetName())

	refused(t, fail.CodeAlreadyExists, bob, eu.community.CreateCommunity,
		&plazav1.CreateCommunityRequest{DisplayName: "Gardening", IsUniqueDisplayName: true})
	refused(t, fail.CodeNotFound, bob, eu.community.CreateCommunity,
		&plazav1.CreateCommunityRequest{DisplayName: "x", UserIds: []string{"nobody"}})
	refused(t, fail.CodeNotFound, bob, eu.community.CreateCommunity,
		&plazav1.CreateCommunityRequest{DisplayName: "x", CategoryIds: []string{"nothing"}})
	refused(t, fail.CodeForbidden, bob, eu.community.CreateCommunity, &plazav1.CreateCommunityRequest{DisplayName: "x", IsOfficial: true})
	refused(t, fail.CodeForbidden, w.admin, eu.community.CreateCommunity, &plazav1.CreateCommunityRequest{DisplayName: "x"})
	w.drain()
	w.requireNoDrift()
}

func TestUpdateAndDeleteCommunity(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.user(region.US, "ann"), w.user(region.EU, "bob")
	sg := w.servers[region.SG]
	var cats []string
	for _, name := range []string{"a", "b"} {
		cats = append(cats, must(t, w.admin, sg.categories.CreateCategory,
			&plazav1.CreateCategoryRequest{Name: name}).GetCategories()[0].GetCategoryId())
	}
	id := w.newCommunity(region.US, ann, &plazav1.CreateCommunityRequest{CategoryIds: cats[:1], Description: "old"})

	got := must(t, ann, sg.community.UpdateCommunity,
		&plazav1.UpdateCommunityRequest{CommunityId: id, DisplayName: new("Zoology"), CategoryIds: cats, Tags: []string{"x"}})
	require.Equal(t, "Zoology", got.GetCommunities()[0].GetDisplayName())
	require.Equal(t, "old", got.GetCommunities()[0].GetDescription())
	require.Len(t, got.GetCategories(), 2)
	w.requireNoDrift()

	refused(t, fail.CodeForbidden, bob, sg.community.UpdateCommunity,
		&plazav1.UpdateCommunityRequest{CommunityId: id, DisplayName: new("mine")})
	refused(t, fail.CodeForbidden, ann, sg.community.UpdateCommunity, &plazav1.UpdateCommunityRequest{CommunityId: id, IsOfficial: new(true)})
	official := must(t, w.admin, sg.community.UpdateCommunity, &plazav1.UpdateCommunityRequest{CommunityId: id, IsOfficial: new(true)})
	require.True(t, official.GetCommunities()[0].GetIsOfficial())
	refused(t, fail.CodeForbidden, bob, sg.community.DeleteCommunity, &plazav1.DeleteCommunityRequest{CommunityId: id})

	require.True(t, must(t, ann, sg.community.DeleteCommunity, &plazav1.DeleteCommunityRequest{CommunityId: id}).GetSuccess())
	require.True(t, w.get(bob, id).GetCommunities()[0].GetIsDeleted())
	refused(t, fail.CodeNotFound, ann, sg.community.DeleteCommunity, &plazav1.DeleteCommunityRequest{CommunityId: id})
	refused(t, fail.CodeNotFound, ann, sg.community.UpdateCommunity, &plazav1.UpdateCommunityRequest{CommunityId: id})
	refused(t, fail.CodeNotFound, bob, sg.member.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
	refused(t, fail.CodeNotFound, bob, sg.community.GetCommunity, &plazav1.GetCommunityRequest{CommunityId: "not-an-id"})
}

func TestWhoSeesACommunity(t *testing.T) {
	w := newWorld(t)
	ann, bob, mod := w.user(region.US, "ann"), w.user(region.EU, "bob"), w.user(region.SG, "mod", auth.RoleModerator)
	ids := map[string]string{
		"public": w.newCommunity(region.US, ann, &plazav1.CreateCommunityRequest{DisplayName: "public"}),
		"discoverable": w.newCommunity(region.EU, ann,
			&plazav1.CreateCommunityRequest{DisplayName: "discoverable", IsPublic: new(false), IsDiscoverable: new(true)}),
		"hidden": w.newCommunity(region.SG, ann, &plazav1.CreateCommunityRequest{DisplayName: "hidden", IsPublic: new(false)}),
	}
	w.drain()
	sg := w.servers[region.SG]
	for name, c := range map[string]struct{ get, members fail.Code }{
		"public":       {0, 0},
		"discoverable": {0, fail.CodePermissionDenied},
		"hidden":       {fail.CodeNotFound, fail.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, c.get, bob, sg.community.GetCommunity, &plazav1.GetCommunityRequest{CommunityId: ids[name]})
			refused(t, c.members, bob, sg.member.ListMembers, &plazav1.ListMembersRequest{CommunityId: ids[name]})
			must(t, ann, sg.community.GetCommunity, &plazav1.GetCommunityRequest{CommunityId: ids[name]})
			for _, insider := range []context.Context{ann, mod, w.admin} {
				must(t, insider, sg.member.ListMembers, &plazav1.ListMembersRequest{CommunityId: ids[name]})
			}
		})
	}
	list := func(m *plazav1.ListCommunitiesRequest) []string {
		var names []string
		for _, c := range must(t, bob, sg.community.ListCommunities, m).GetCommunities() {
			names = append(names, c.GetDisplayName())
		}
		return names
	}
	require.Equal(t, []string{"discoverable", "public"}, list(&plazav1.ListCommunitiesRequest{}))
	require.Equal(t, []string{"public"}, list(&plazav1.ListCommunitiesRequest{IncludeDiscoverablePrivateCommunity: new(false)}))
	require.Len(t, must(t, mod, sg.community.ListCommunities, &plazav1.ListCommunitiesRequest{}).GetCommunities(), 3)
	batch := &plazav1.BatchGetCommunitiesRequest{CommunityIds: []string{
		ids["hidden"], "junk", ids["discoverable"], ids["public"],
		region.NewID(region.US),
	}}
	got := must(t, bob, sg.community.BatchGetCommunities, batch)
	require.Len(t, got.GetCommunities(), 2)
	require.Equal(t, ids["discoverable"], got.GetCommunities()[0].GetCommunityId())
	require.Len(t, must(t, ann, sg.community.BatchGetCommunities, batch).GetCommunities(), 3)
}

// walk reads a list to its end and back to its beginning, and returns the names in the order of the list.
func walk(t *testing.T, read func(*plazav1.PageOptions) (names []string, paging *plazav1.Paging)) []string {
	t.Helper()
	var pages [][]string
	names, paging := read(&plazav1.PageOptions{Limit: new(int32(2))})
	for {
		pages = append(pages, names)
		if paging.GetNext() == "" {
			break
		}
		require.LessOrEqual(t, len(paging.GetNext()), 100)
		names, paging = read(&plazav1.PageOptions{Token: paging.GetNext()})
	}
	for i := len(pages) - 2; i >= 0; i-- {
		require.NotEmpty(t, paging.GetPrevious())
		names, paging = read(&plazav1.PageOptions{Token: paging.GetPrevious()})
		require.Equal(t, pages[i], names, "page %d on the way back", i)
	}
	require.Empty(t, paging.GetPrevious())
	var all []string
	for _, p := range pages {
		all = append(all, p...)
	}
	return all
}

func TestListCommunities(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.user(region.US, "ann"), w.user(region.EU, "bob")
	cat := must(t, w.admin, w.servers[region.US].categories.CreateCategory,
		&plazav1.CreateCategoryRequest{Name: "c"}).GetCategories()[0].GetCategoryId()
	var oldest []string
	for i, name := range []string{"Delta", "alpha", "Echo", "bravo", "Charlie"} {
		m := &plazav1.CreateCommunityRequest{DisplayName: name}
		if i%2 == 0 {
			m.CategoryIds, m.Tags = []string{cat}, []string{"even", strconv.Itoa(i)}
		}
		id := w.newCommunity(region.All()[i%3], ann, m)
		if i < 3 {
			must(t, bob, w.servers[region.SG].member.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
		}
		oldest = append(oldest, name)
	}
	w.drain()
	newest := []string{"Charlie", "bravo", "Echo", "alpha", "Delta"}
	for name, c := range map[string]struct {
		m    *plazav1.ListCommunitiesRequest
		want []string
	}{
		"newest first":   {&plazav1.ListCommunitiesRequest{}, newest},
		"oldest first":   {&plazav1.ListCommunitiesRequest{SortBy: "firstCreated"}, oldest},
		"by name":        {&plazav1.ListCommunitiesRequest{SortBy: "displayName"}, []string{"alpha", "bravo", "Charlie", "Delta", "Echo"}},
		"of a category":  {&plazav1.ListCommunitiesRequest{CategoryId: cat}, []string{"Charlie", "Echo", "Delta"}},
		"category, name": {&plazav1.ListCommunitiesRequest{CategoryId: cat, SortBy: "displayName"}, []string{"Charlie", "Delta", "Echo"}},
		"tagged":         {&plazav1.ListCommunitiesRequest{Tags: []string{"0", "4"}}, []string{"Charlie", "Delta"}},
		"keyword":        {&plazav1.ListCommunitiesRequest{Keyword: "CH"}, []string{"Charlie"}},
		"longer keyword": {&plazav1.ListCommunitiesRequest{DisplayName: "charlie is longer"}, nil},
		"wildcards":      {&plazav1.ListCommunitiesRequest{Keyword: "%"}, nil},
		"mine":           {&plazav1.ListCommunitiesRequest{Filter: "member"}, []string{"Echo", "alpha", "Delta"}},
		"mine by name":   {&plazav1.ListCommunitiesRequest{Membership: "member", SortBy: "displayName"}, []string{"alpha", "Delta", "Echo"}},
		"mine, category": {&plazav1.ListCommunitiesRequest{Filter: "member", CategoryId: cat}, []string{"Echo", "Delta"}},
		"not mine":       {&plazav1.ListCommunitiesRequest{Filter: "notMember"}, []string{"Charlie", "bravo"}},
		"not flagged":    {&plazav1.ListCommunitiesRequest{HasFlag: new(false)}, newest},
	} {
		t.Run(name, func(t *testing.T) {
			got := walk(t, func(o *plazav1.PageOptions) ([]string, *plazav1.Paging) {
				m := c.m
				m.Options = o
				page := must(t, bob, w.servers[region.EU].community.ListCommunities, m)
				var names []string
				for _, c := range page.GetCommunities() {
					names = append(names, c.GetDisplayName())
				}
				for _, u := range page.GetCommunityUsers() {
					require.Equal(t, "member", u.GetCommunityMembership(), "only communities that bob belongs to have a membership")
				}
				return names, page.GetPaging()
			})
			require.Equal(t, c.want, got)
		})
	}
	refused(t, fail.CodeForbidden, bob, w.servers[region.EU].community.ListCommunities, &plazav1.ListCommunitiesRequest{IsDeleted: new(true)})
	require.Empty(t, must(t, w.admin, w.servers[region.EU].community.ListCommunities,
		&plazav1.ListCommunitiesRequest{IsDeleted: new(true)}).GetCommunities())
}

func TestCategories(t *testing.T) {
	w := newWorld(t)
	ann, boss := w.user(region.US, "ann"), w.user(region.EU, "boss", auth.RoleSuperModerator)
	ids := map[string]string{}
	for i, name := range []string{"Pears", "apples", "Figs", "dates", "Cherries"} {
		made := must(t, boss, w.servers[region.All()[i%3]].categories.CreateCategory, &plazav1.CreateCategoryRequest{Name: name})
		require.Equal(t, "success", made.GetStatus())
		require.Equal(t, made.GetData().GetCategories(), made.GetCategories())
		ids[name] = made.GetCategories()[0].GetCategoryId()
	}
	refused(t, fail.CodeForbidden, ann, w.servers[region.US].categories.CreateCategory, &plazav1.CreateCategoryRequest{Name: "x"})
	sg := w.servers[region.SG].categories
	require.Equal(t, "Figs", must(t, ann, sg.GetCategory,
		&plazav1.GetCategoryRequest{CategoryId: ids["Figs"]}).GetData().GetCategories()[0].GetName())
	refused(t, fail.CodeNotFound, ann, sg.GetCategory, &plazav1.GetCategoryRequest{CategoryId: "junk"})
	batch := must(t, ann, sg.BatchGetCategories,
		&plazav1.BatchGetCategoriesRequest{CategoryIds: []string{ids["Figs"], "junk", ids["apples"], ids["Figs"]}, CategoryId: new(ids["Pears"])})
	require.Equal(t, []string{"Figs", "apples", "Pears"}, names(batch))
	for sortBy, want := range map[string][]string{
		"":             {"apples", "Cherries", "dates", "Figs", "Pears"},
		"firstCreated": {"Pears", "apples", "Figs", "dates", "Cherries"},
		"lastCreated":  {"Cherries", "dates", "Figs", "apples", "Pears"},
	} {
		require.Equal(t, want, walk(t, func(o *plazav1.PageOptions) ([]string, *plazav1.Paging) {
			got := must(t, ann, sg.ListCategories, &plazav1.ListCategoriesRequest{SortBy: sortBy, Options: o})
			return names(got), got.GetPaging()
		}))
		require.Equal(t, want, walk(t, func(o *plazav1.PageOptions) ([]string, *plazav1.Paging) {
			got := must(t, ann, sg.BatchGetCategories, &plazav1.BatchGetCategoriesRequest{SortBy: sortBy, Options: o})
			return names(got), got.GetPaging()
		}))
	}
}

func names(r *plazav1.CategoryResponse) []string {
	var all []string
	for _, c := range r.GetCategories() {
		all = append(all, c.GetName())
	}
	return all
}
