package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	communityID = region.NewID(region.EU)
	wallID      = region.NewID(region.US)
)

func TestWantedUsers(t *testing.T) {
	t.Parallel()
	mention := []byte(`[{"type": "user", "userInternalIds": ["mentioned"], "userPublicIds": ["public"]}]`)
	for name, test := range map[string]struct {
		rows Rows
		want []string
	}{
		"nothing":              {Rows{}, nil},
		"the author of a post": {Rows{Posts: []content.Post{{AuthorID: "author", TargetType: "community", TargetID: "c"}}}, []string{"author"}},
		"the owner of a wall": {
			Rows{Posts: []content.Post{{AuthorID: "author", TargetType: "user", TargetID: "owner"}}},
			[]string{"author", "owner"},
		},
		"a post on the own wall": {Rows{Posts: []content.Post{{AuthorID: "author", TargetType: "user", TargetID: "author"}}}, []string{"author"}},
		"authors of comments": {Rows{Posts: []content.Post{{
			AuthorID:       "author",
			LatestComments: content.LatestComments{{AuthorID: "x"}, {AuthorID: "author"}, {AuthorID: "y"}},
		}}}, []string{"author", "x", "y"}},
		"a mention in a post":    {Rows{Posts: []content.Post{{AuthorID: "author", Mentionees: mention}}}, []string{"author", "mentioned"}},
		"a mention in a story":   {Rows{Stories: []content.Story{{AuthorID: "author", Mentionees: mention}}}, []string{"author", "mentioned"}},
		"a mention in a comment": {Rows{Comments: []content.Comment{{AuthorID: "author", Mentionees: mention}}}, []string{"author", "mentioned"}},
		"a story with comments": {Rows{Stories: []content.Story{{
			AuthorID: "author", TargetType: "user", TargetID: "w",
			LatestComments: content.LatestComments{{AuthorID: "x"}},
		}}}, []string{"author", "w", "x"}},
		"authors of replies": {
			Rows{Comments: []content.Comment{{AuthorID: "author", LatestReplies: content.LatestComments{{AuthorID: "x"}}}}},
			[]string{"author", "x"},
		},
		"creators":               {Rows{Communities: []communities.Community{{CreatorID: "creator"}, {}}}, []string{"creator"}},
		"requested users":        {Rows{UserIDs: []string{"u", "", "u"}}, []string{"u"}},
		"content without author": {Rows{Posts: []content.Post{{TargetType: "community", TargetID: "c"}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &loader{Rows: test.rows}
			require.Equal(t, test.want, l.wantedUsers().list())
		})
	}
}

func TestWantedCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows Rows
		want []string
	}{
		"a post": {Rows{Posts: []content.Post{{ID: "p", TargetID: "c"}}}, []string{"p", "c"}},
		"comments and children": {Rows{Posts: []content.Post{{
			ID: "p", LatestComments: content.LatestComments{{ID: "x"}},
			Children: []string{"y"},
		}}}, []string{"p", "x", "y"}},
		"new children have none": {
			Rows{Posts: []content.Post{{ID: "p", Children: []string{"y"}}}, NewChildren: []content.Post{{ID: "y"}}},
			[]string{"p"},
		},
		"a story": {
			Rows{Stories: []content.Story{{ID: "s", TargetID: "c", LatestComments: content.LatestComments{{ID: "x"}}}}},
			[]string{"s", "x"},
		},
		"a comment": {Rows{Comments: []content.Comment{{ID: "x", LatestReplies: content.LatestComments{{ID: "y"}}}}}, []string{"x", "y"}},
		"a community once": {
			Rows{Posts: []content.Post{{ID: "p", TargetID: "c"}}, Communities: []communities.Community{{ID: "c"}}},
			[]string{"p", "c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &loader{Rows: test.rows}
			require.Equal(t, test.want, l.wantedCounts().list())
		})
	}
}

func TestWantedPendingEdits(t *testing.T) {
	t.Parallel()
	post := func(change func(*content.Post)) Rows {
		p := content.Post{ID: "p", AuthorID: "author", TargetType: "community", TargetID: "c", IsParent: true, FeedType: published}
		change(&p)
		return Rows{Posts: []content.Post{p}}
	}
	comment := func(change func(*content.Comment)) Rows {
		c := content.Comment{ID: "x", AuthorID: "author", TargetType: "community", TargetID: "c", ApprovalStatus: content.Approved}
		change(&c)
		return Rows{Comments: []content.Comment{c}}
	}
	asIs, asIsComment := func(*content.Post) {}, func(*content.Comment) {}
	for name, test := range map[string]struct {
		viewer string
		rows   Rows
		want   []string
	}{
		"author of a post":               {"author", post(asIs), []string{"p"}},
		"stranger":                       {"stranger", post(asIs), nil},
		"moderator":                      {"moderator", post(asIs), []string{"p"}},
		"moderator of another community": {"moderator", post(func(p *content.Post) { p.TargetID = "other" }), nil},
		"a post on a wall":               {"author", post(func(p *content.Post) { p.TargetType = "user" }), nil},
		"a child post":                   {"author", post(func(p *content.Post) { p.IsParent = false }), nil},
		"a post that waits itself":       {"author", post(func(p *content.Post) { p.FeedType = "reviewing" }), nil},
		"a deleted post":                 {"author", post(func(p *content.Post) { p.DeletedAt = &deletedAt }), nil},
		"author of a comment":            {"author", comment(asIsComment), []string{"x"}},
		"stranger to a comment":          {"stranger", comment(asIsComment), nil},
		"moderator of a comment":         {"moderator", comment(asIsComment), []string{"x"}},
		"a comment that waits itself":    {"author", comment(func(c *content.Comment) { c.ApprovalStatus = content.Pending }), nil},
		"a declined comment":             {"author", comment(func(c *content.Comment) { c.ApprovalStatus = content.Declined }), nil},
		"a deleted comment":              {"author", comment(func(c *content.Comment) { c.DeletedAt = &deletedAt }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := viewerOf(confirmed(t, test.viewer))
			v.members = []communities.Member{moderatorOf("c", "moderator")}
			l := &loader{Rows: test.rows, viewer: v, viewerID: test.viewer}
			require.Equal(t, test.want, l.wantedPendingEdits().list())
			l.IsNew = true
			require.Empty(t, l.wantedPendingEdits().list(), "what was just inserted has none")
		})
	}
}

func TestPendingEditOf(t *testing.T) {
	t.Parallel()
	l := &loader{builder: &Builder{}, pendingEdits: []content.PendingEdit{
		{ReferenceID: "other", Data: []byte(`{"text": "other"}`)},
		{
			ReferenceID: "p", ReferenceType: "post", Data: []byte(`{"text": "after"}`), Tags: []string{"t"}, Hashtags: []string{"h"},
			Attachments: []byte(`[{"type": "image", "fileId": "f"}]`), CreatedAt: deletedAt,
		},
	}}
	require.Nil(t, l.pendingEdit("without"))
	e := l.pendingEdit("p")
	require.Equal(t, "after", freeform.Of(e.GetData()).Text("text"))
	require.Equal(t, "f", e.GetAttachments()[0].GetFileId())
	require.Equal(t, [2]string{"t", "h"}, [2]string{e.GetTags()[0], e.GetHashtags()[0]})
	require.Equal(t, deletedAt, e.GetCreatedAt().AsTime())
}

func TestReactionsAreCountedByReference(t *testing.T) {
	t.Parallel()
	counts := core.Counts{
		"p":     {core.CountReactions("like"): 2, core.CountReactions("love"): 1, core.CountReactions("gone"): 0, core.CountComments: 9},
		"other": {core.CountReactions("like"): 5},
	}
	byName, sum := reactions(counts, "p")
	require.Equal(t, map[string]int32{"like": 2, "love": 1}, byName, "other counts and empty ones are no reactions")
	require.Equal(t, int32(3), sum)
	byName, sum = reactions(counts, "without")
	require.NotNil(t, byName, "clients read a map")
	require.Zero(t, sum)

	mine := []content.Reaction{{ReferenceID: "p", Name: "like"}, {ReferenceID: "other", Name: "love"}, {ReferenceID: "p", Name: "love"}}
	require.Equal(t, []string{"like", "love"}, reactionsTo("p", mine))
	require.Empty(t, reactionsTo("without", mine))
}

func TestFeedsOfPosts(t *testing.T) {
	t.Parallel()
	owner := people.User{ID: wallID, PublicID: "anna"}
	counts := core.Counts{communityID: {core.CountPublished: 3, core.CountReviewing: 2}, wallID: {core.CountPublished: 4}}
	in := func(feedType string) content.Post {
		return content.Post{TargetType: "community", TargetID: communityID, FeedType: feedType}
	}
	onWall := content.Post{TargetType: "user", TargetID: wallID, FeedType: published}
	type feed struct {
		target, kind string
		count        int32
	}
	for name, test := range map[string]struct {
		posts   []content.Post
		members []communities.Member
		want    []feed
	}{
		"no posts":               {nil, nil, nil},
		"two of the same feed":   {[]content.Post{in(published), in(published)}, nil, []feed{{communityID, published, 3}}},
		"a reader's own waiting": {[]content.Post{in("reviewing")}, nil, []feed{{communityID, "reviewing", 0}}},
		"a moderator": {
			[]content.Post{in("reviewing")},
			[]communities.Member{moderatorOf(communityID, "m")},
			[]feed{{communityID, "reviewing", 2}},
		},
		"a wall": {[]content.Post{onWall}, nil, []feed{{"anna", published, 4}}},
		"both":   {[]content.Post{onWall, in(published)}, nil, []feed{{communityID, published, 3}, {"anna", published, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := viewerOf(confirmed(t, "m"))
			v.members = test.members
			l := &loader{builder: &Builder{}, viewer: v, Rows: Rows{
				Posts: test.posts, Communities: []communities.Community{{ID: communityID}, {ID: communityID}},
				Users: []people.User{owner, {ID: region.NewID(region.SG)}}, Counts: counts,
			}}
			var got []feed
			for _, f := range l.feeds() {
				got = append(got, feed{f.GetTargetId(), f.GetFeedType(), f.GetPostCount()})
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestBuildCommunitiesWithTheViewersMembership(t *testing.T) {
	t.Parallel()
	v := viewerOf(confirmed(t, "me"))
	l := &loader{builder: &Builder{}, viewer: v, viewerID: "me", Rows: Rows{
		Communities: []communities.Community{{ID: "joined"}, {ID: "strange"}, {ID: "joined"}},
		Members: []communities.Member{
			{CommunityID: "joined", UserID: "me", State: communities.StateMember}, {
				CommunityID: "strange", UserID: "other",
				State: communities.StateMember,
			},
		},
	}}
	var a Aggregate
	l.buildCommunities(&a)
	require.Len(t, a.Communities, 2, "each once")
	require.True(t, a.Communities[0].GetIsJoined())
	require.False(t, a.Communities[1].GetIsJoined(), "another user's membership")
}

func TestRolesOfResponse(t *testing.T) {
	t.Parallel()
	l := &loader{builder: &Builder{}, Rows: Rows{
		Users:   []people.User{{Roles: []string{auth.RoleModerator, "unknown"}}, {Roles: []string{auth.RoleModerator}}},
		Members: []communities.Member{{Roles: []string{auth.RoleCommunityModerator}}},
	}}
	require.Equal(t, []string{auth.RoleModerator, auth.RoleCommunityModerator}, mapList(l.roles(), (*plazav1.Role).GetRoleId))
}

func TestBuildPostsShowsChildrenOnce(t *testing.T) {
	t.Parallel()
	l := &loader{
		builder: &Builder{}, viewer: viewerOf(t.Context()), mine: []content.Reaction{{ReferenceID: "child", Name: "like"}},
		Rows: Rows{
			Posts: []content.Post{{ID: "p", Children: []string{"child", "primary"}}, {ID: "primary"}},
		},
	}
	l.children = []content.Post{{ID: "primary"}, {ID: "child"}}
	var a Aggregate
	l.buildPosts(&a)
	require.Equal(t, []string{"p", "primary"}, mapList(a.Posts, (*plazav1.Post).GetPostId))
	require.Equal(t, []string{"child"}, mapList(a.PostChildren, (*plazav1.Post).GetPostId), "a child that is a primary post is not repeated")
	require.Equal(t, []string{"like"}, a.PostChildren[0].GetMyReactions())
}

func TestEmbeddedRowsOfPosts(t *testing.T) {
	t.Parallel()
	l := &loader{
		builder: &Builder{}, viewerID: "me",
		Rows: Rows{Counts: core.Counts{"poll": {content.CountVotes("yes"): 2}}, Posts: []content.Post{
			{ID: "1", StructureType: "poll", Data: []byte(`{"pollId": "poll"}`)},
			{ID: "2", StructureType: "poll", Data: []byte(`{"pollId": "deleted"}`)},
			{ID: "3", StructureType: "liveStream", Data: []byte(`{"streamId": "stream"}`)},
			{ID: "4", StructureType: "room", Data: []byte(`{"roomId": "room"}`)},
			{ID: "5", StructureType: "poll", Data: []byte(`{"pollId": "poll"}`)},
		}},
	}
	require.Equal(t, []string{"poll", "deleted"}, l.pollIDs())
	require.Equal(t, []string{"stream"}, l.streamIDs())
	require.Equal(t, []string{"room"}, l.roomIDs())
	l.polls = []content.Poll{{ID: "deleted", DeletedAt: &deletedAt}, {ID: "poll", Answers: []content.PollAnswer{{ID: "yes"}}}}
	l.votes = []content.PollVote{{PollID: "poll", AnswerID: "yes"}}
	l.streams, l.childStreams = []media.VideoStream{{ID: "stream"}},
		[]media.VideoStream{{ID: "kept", ParentID: "stream"}, {ID: "gone", DeletedAt: &deletedAt}}
	l.rooms, l.childRooms = []media.Room{{ID: "room"}}, []media.Room{{ID: "posted", PostID: "elsewhere"}, {ID: "kept"}}
	var a Aggregate
	l.buildPolls(&a)
	l.buildStreams(&a)
	l.buildRooms(&a)
	require.Len(t, a.Polls, 1)
	require.True(t, a.Polls[0].GetAnswers()[0].GetIsVotedByUser())
	require.Equal(t, int32(2), a.Polls[0].GetAnswers()[0].GetVoteCount())
	require.Equal(t, []string{"stream"}, mapList(a.VideoStreamings, (*plazav1.VideoStreaming).GetStreamId))
	require.Equal(t, []string{"kept"}, mapList(a.VideoStreamingChildren, (*plazav1.VideoStreaming).GetStreamId))
	require.Equal(t, []string{"room"}, mapList(a.Rooms, (*plazav1.Room).GetRoomId))
	require.Equal(t, []string{"kept"}, mapList(a.RoomChildrens, (*plazav1.Room).GetRoomId))
}

func TestLargeIDSet(t *testing.T) {
	t.Parallel()
	for _, size := range []int{indexedSize, indexedSize + 1} {
		s := newIDSet("first")
		s.exclude("excluded")
		for range size {
			s.add(region.NewID(region.EU))
		}
		require.Len(t, s.list(), size+1)
		s.add("first", "excluded", s.list()[size])
		require.Len(t, s.list(), size+1, "neither duplicates nor excluded ids are added")
		require.True(t, s.has("excluded"))
		s.exclude("first")
		s.add("first")
		require.NotContains(t, s.list(), "first")
		require.False(t, s.has("unknown"))
	}
}
