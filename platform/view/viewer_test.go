package view

import (
	"cmp"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
)

// confirmed returns ctx of a confirmed user with network roles.
func confirmed(t *testing.T, id string, roles ...string) context.Context {
	t.Helper()
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.User, UserID: id, PublicID: id})
	require.NoError(t, auth.Confirm(ctx, auth.Facts{Exists: true, SessionAuthenticated: true, Roles: roles}))
	return ctx
}

func asAdmin(t *testing.T) context.Context {
	t.Helper()
	return auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin, Name: "admin"})
}

// moderatorOf returns the membership of a moderator of a community.
func moderatorOf(communityID, userID string) communities.Member {
	return communities.Member{
		CommunityID: communityID, UserID: userID, State: communities.StateMember,
		Roles: []string{auth.RoleCommunityModerator},
	}
}

func TestWhoSeesFlagsOfContent(t *testing.T) {
	t.Parallel()
	type facts struct{ post, comment, story, wallPost bool }
	banned, left := moderatorOf("c", "banned"), moderatorOf("c", "left")
	banned.State, left.State = communities.StateBanned, "left"
	for name, test := range map[string]struct {
		ctx    context.Context
		member []communities.Member
		sees   facts
	}{
		"without a caller": {t.Context(), nil, facts{}},
		"stranger":         {confirmed(t, "stranger"), nil, facts{}},
		"author":           {confirmed(t, "author"), nil, facts{}},
		"flagger":          {confirmed(t, "flagger"), nil, facts{}},
		"plain member": {
			confirmed(t, "m"),
			[]communities.Member{{CommunityID: "c", UserID: "m", State: communities.StateMember}},
			facts{},
		},
		"community moderator": {
			confirmed(t, "m"),
			[]communities.Member{moderatorOf("c", "m")},
			facts{post: true, comment: true, story: true},
		},
		"moderator elsewhere":       {confirmed(t, "m"), []communities.Member{moderatorOf("other", "m")}, facts{}},
		"another's moderator role":  {confirmed(t, "m"), []communities.Member{moderatorOf("c", "other")}, facts{}},
		"banned former moderator":   {confirmed(t, "banned"), []communities.Member{banned}, facts{}},
		"moderator who left":        {confirmed(t, "left"), []communities.Member{left}, facts{}},
		"network moderator":         {confirmed(t, "m", auth.RoleModerator), nil, facts{true, true, true, true}},
		"banned network moderator":  {confirmed(t, "banned", auth.RoleModerator), []communities.Member{banned}, facts{true, true, true, true}},
		"community role as network": {confirmed(t, "m", auth.RoleCommunityModerator), nil, facts{}},
		"administrator":             {asAdmin(t), nil, facts{true, true, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flaggers := []string{"a", "b"}
			v := viewerOf(test.ctx)
			v.members = test.member
			posts := v.posts([]content.Post{
				{
					TargetType: "community", TargetID: "c", AuthorID: "author", Flaggers: flaggers, FlagCount: 2, HasFlaggedChildren: true,
					HasFlaggedComment: true,
				},
				{TargetType: "user", TargetID: "author", AuthorID: "author", Flaggers: flaggers, FlagCount: 2},
			})
			require.Equal(t, test.sees.post, posts[0].FlagCount == 2)
			require.Equal(t, test.sees.post, len(posts[0].Flaggers) == 2)
			require.Equal(t, [2]bool{test.sees.post, test.sees.post}, [2]bool{posts[0].HasFlaggedChildren, posts[0].HasFlaggedComment})
			require.Equal(t, test.sees.wallPost, posts[1].FlagCount == 2)
			comment := v.comments([]content.Comment{{
				TargetType: "community", TargetID: "c", AuthorID: "author", Flaggers: flaggers,
				FlagCount: 2,
			}})[0]
			require.Equal(t, test.sees.comment, comment.FlagCount == 2)
			story := v.stories([]content.Story{
				{TargetType: "community", TargetID: "c", AuthorID: "author", Flaggers: flaggers, FlagCount: 2, HasFlaggedComment: true},
			})[0]
			require.Equal(t, [2]bool{test.sees.story, test.sees.story}, [2]bool{story.FlagCount == 2, story.HasFlaggedComment})
			community := communities.Community{ID: "c", HasFlaggedPost: true, HasFlaggedComment: true}
			require.Equal(t, test.sees.post, v.community(&community))
			require.Equal(t, [2]bool{test.sees.post, test.sees.post}, [2]bool{community.HasFlaggedPost, community.HasFlaggedComment})
		})
	}
}

// A custom role can grant the moderation of stories alone.
func TestStoryModeratorSeesFlagsOfStoriesOnly(t *testing.T) {
	t.Parallel()
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.User, UserID: "m"})
	require.NoError(t, auth.Confirm(ctx, auth.Facts{
		Exists: true, SessionAuthenticated: true, Roles: []string{"stories"}, Granted: []auth.Permission{auth.ModerateStory},
	}))
	v := viewerOf(ctx)
	story := v.stories([]content.Story{{
		TargetType: "user", TargetID: "u", FlagCount: 2, Flaggers: []string{"a", "b"},
		HasFlaggedComment: true,
	}})[0]
	require.Equal(t, int64(2), story.FlagCount)
	require.False(t, story.HasFlaggedComment, "moderation of comments is another permission")
	require.Zero(t, v.posts([]content.Post{{TargetType: "user", TargetID: "u", FlagCount: 2, Flaggers: []string{"a", "b"}}})[0].FlagCount)
}

func TestNoReviewerInventsFlags(t *testing.T) {
	t.Parallel()
	v := viewerOf(asAdmin(t))
	story := v.stories([]content.Story{{TargetType: "community", TargetID: "c"}})[0]
	require.False(t, story.HasFlaggedComment)
	community := communities.Community{ID: "c", HasFlaggedPost: true}
	v.community(&community)
	require.Equal(t, [2]bool{true, false}, [2]bool{community.HasFlaggedPost, community.HasFlaggedComment})
}

func TestRestrictFlags(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		caller   string
		flaggers []string
		count    int64
		want     []string
		wantN    int64
	}{
		"not flagged":                      {"me", nil, 0, nil, 0},
		"flagged by others":                {"me", []string{"a", "b"}, 2, nil, 0},
		"flagged by the caller":            {"me", []string{"me"}, 1, []string{"me"}, 1},
		"flagged by the caller and others": {"me", []string{"a", "me", "b"}, 3, []string{"me"}, 1},
		"more flags than listed flaggers":  {"me", []string{"a"}, 500, nil, 0},
		"no user called":                   {"", []string{"", "a"}, 2, nil, 0},
		"a count without flaggers":         {"me", nil, 4, nil, 0},
		"flaggers without a count":         {"me", []string{"a"}, 0, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &viewer{caller: &auth.Caller{Kind: auth.User, UserID: test.caller}}
			row := people.User{Flaggers: test.flaggers, FlagCount: test.count}
			v.restrictFlags(&row.Flaggers, &row.FlagCount)
			require.Equal(t, test.want, row.Flaggers)
			require.Equal(t, test.wantN, row.FlagCount)
		})
	}
}

func TestWhoSeesFlagsOfUsers(t *testing.T) {
	t.Parallel()
	rows := []people.User{{ID: "u", Flaggers: []string{"a", "b"}, FlagCount: 2}}
	for name, test := range map[string]struct {
		ctx  context.Context
		want int64
	}{
		"without a caller": {t.Context(), 0},
		"the user":         {confirmed(t, "u"), 0},
		"a flagger":        {confirmed(t, "a"), 1},
		"a moderator":      {confirmed(t, "m", auth.RoleModerator), 2},
		"an administrator": {asAdmin(t), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, viewerOf(test.ctx).users(rows)[0].FlagCount)
			require.Equal(t, int64(2), rows[0].FlagCount, "the rows of the operation are not changed")
		})
	}
}

func TestWhoSeesFlagsOfMessages(t *testing.T) {
	t.Parallel()
	rows := []messaging.Message{
		{ID: "1", ChannelID: "moderated", Flaggers: []string{"a"}, FlagCount: 1},
		{ID: "2", ChannelID: "other", Flaggers: []string{"a"}, FlagCount: 1},
	}
	for name, test := range map[string]struct {
		ctx       context.Context
		moderated map[string]bool
		want      [2]int64
	}{
		"a member":                  {confirmed(t, "m"), nil, [2]int64{0, 0}},
		"a moderator of one":        {confirmed(t, "m"), map[string]bool{"moderated": true}, [2]int64{1, 0}},
		"a moderator of no more":    {confirmed(t, "m"), map[string]bool{"moderated": false}, [2]int64{0, 0}},
		"the flagger":               {confirmed(t, "a"), nil, [2]int64{1, 1}},
		"a moderator of everything": {confirmed(t, "m", auth.RoleModerator), nil, [2]int64{1, 1}},
		"an administrator":          {asAdmin(t), nil, [2]int64{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := viewerOf(test.ctx).messages(rows, test.moderated)
			require.Equal(t, test.want, [2]int64{got[0].FlagCount, got[1].FlagCount})
		})
	}
}

func TestModeratedPlaces(t *testing.T) {
	t.Parallel()
	post := func(p content.Post) Rows {
		p.TargetID, p.FeedType = "c", cmp.Or(p.FeedType, published)
		p.TargetType = cmp.Or(p.TargetType, "community")
		return Rows{Posts: []content.Post{p}}
	}
	for name, test := range map[string]struct {
		rows Rows
		want []string
	}{
		"a published post":              {post(content.Post{}), nil},
		"a flagged post":                {post(content.Post{FlagCount: 1}), []string{"c"}},
		"a post with a flagged child":   {post(content.Post{HasFlaggedChildren: true}), []string{"c"}},
		"a post with a flagged comment": {post(content.Post{HasFlaggedComment: true}), []string{"c"}},
		"a post that waits":             {post(content.Post{FeedType: "reviewing"}), []string{"c"}},
		"a post that was declined":      {post(content.Post{FeedType: "declined"}), []string{"c"}},
		"a flagged post on a wall":      {post(content.Post{FlagCount: 1, TargetType: "user"}), nil},
		"a story":                       {Rows{Stories: []content.Story{{TargetType: "community", TargetID: "c"}}}, nil},
		"a flagged story":               {Rows{Stories: []content.Story{{TargetType: "community", TargetID: "c", FlagCount: 1}}}, []string{"c"}},
		"a story with a flagged comment": {
			Rows{Stories: []content.Story{{TargetType: "community", TargetID: "c", HasFlaggedComment: true}}},
			[]string{"c"},
		},
		"a flagged story on a wall":       {Rows{Stories: []content.Story{{TargetType: "user", TargetID: "u", FlagCount: 1}}}, nil},
		"a comment, whatever its replies": {Rows{Comments: []content.Comment{{TargetType: "community", TargetID: "c"}}}, []string{"c"}},
		"a comment on a wall":             {Rows{Comments: []content.Comment{{TargetType: "user", TargetID: "u"}}}, nil},
		"a community":                     {Rows{Communities: []communities.Community{{ID: "c"}}}, nil},
		"a community with a flagged post": {Rows{Communities: []communities.Community{{ID: "c", HasFlaggedPost: true}}}, []string{"c"}},
		"a community with a flagged comment, twice": {
			Rows{Communities: []communities.Community{{ID: "c", HasFlaggedComment: true}, {ID: "c", HasFlaggedComment: true}}}, []string{"c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.rows.moderatedPlaces().list())
		})
	}
}

func TestFeedsCountWhatTheCallerMaySee(t *testing.T) {
	t.Parallel()
	counts := core.Counts{communityID: {core.CountPublished: 3, core.CountReviewing: 2, core.CountDeclined: 1}}
	for name, test := range map[string]struct {
		reviews bool
		want    []int32
	}{
		"reader":   {false, []int32{3, 0, 0}},
		"reviewer": {true, []int32{3, 2, 1}},
	} {
		feeds := (&Builder{}).feeds(communities.Community{ID: communityID}, counts, test.reviews)
		var got []int32
		for _, f := range feeds {
			got = append(got, f.GetPostCount())
			require.Equal(t, FeedID(communityID, f.GetFeedType()), f.GetFeedId())
		}
		require.Equal(t, test.want, got, name)
	}
}
