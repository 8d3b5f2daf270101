package bare

import (
	"strings"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// builder builds the parts of a response from rows.
type builder struct {
	root      string // of all paths
	counts    store.Counts
	reactions map[string][]string // names of the caller's reactions, by reference
}

// build returns the response to what was read.
func (s *Server) build(f *found) related {
	b := &builder{root: s.networkID, counts: store.Counts{}, reactions: map[string][]string{}}
	for _, row := range f.counts {
		if b.counts[row.Ref] == nil {
			b.counts[row.Ref] = map[store.CounterKind]int64{}
		}
		b.counts[row.Ref][row.Kind] = row.N
	}
	for _, row := range f.reactions {
		b.reactions[row.ReferenceID] = append(b.reactions[row.ReferenceID], row.Name)
	}
	return related{
		Posts: each(f.posts, b.post), Comments: each(f.comments, b.comment), Users: each(f.users, b.user),
		Communities: []community{b.community(*f.community, f.member.isMember())}, CommunityUsers: each(f.members, newMember),
		Categories: list(f.categories),
	}
}

// each converts every row. It never returns nil.
func each[R, T any](rows []R, convert func(R) T) []T {
	all := make([]T, len(rows))
	for i, row := range rows {
		all[i] = convert(row)
	}
	return all
}

// list returns rows, or an empty list instead of nil.
func list[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}

func (b *builder) post(row postRow) post {
	return post{
		postRow: row, reactions: b.reactionsTo(row.PostID), PrivateID: row.PostID,
		Path:               b.root + "/social/" + row.TargetType + "/" + row.TargetInternalID + "/post/" + row.PostID,
		PostedUserPublicID: row.PostedUserID, TargetPublicID: row.TargetID, ChildrenNumber: len(row.Children),
		CommentsCount: b.counts.Of(row.PostID, store.CountComments), FeedID: view.FeedID(row.TargetInternalID, row.FeedType),
	}
}

func (b *builder) comment(row commentRow) comment {
	return comment{
		commentRow: row, reactions: b.reactionsTo(row.CommentID), PrivateID: row.CommentID, UserPublicID: row.UserID, DataType: "text",
		Path:           b.root + "/social/" + row.TargetType + "/" + row.TargetInternalID + "/post/" + row.ReferenceID + "/comment/" + row.CommentID,
		ChildrenNumber: b.counts.Of(row.CommentID, store.CountReplies),
	}
}

func (b *builder) user(row userRow) user {
	return user{
		userRow: row, PrivateID: row.UserInternalID, Path: b.root + "/user/" + row.UserInternalID, UserPublicID: row.UserID,
		Permissions: auth.PermissionsOf(row.Roles), IsGlobalBanned: row.IsGlobalBan,
	}
}

func (b *builder) community(row communityRow, isJoined bool) community {
	counts := b.counts[row.CommunityID]
	return community{
		communityRow: row, PrivateID: row.CommunityID, Path: b.root + "/social/community/" + row.CommunityID,
		ChannelID: row.CommunityID, UserPublicID: row.UserID, IsJoined: isJoined, PostsCount: counts[store.CountPublished],
		MembersCount: counts[store.CountMembers], ModeratorMemberCount: counts[store.CountModerators],
	}
}

func newMember(row memberRow) member {
	m := member{
		memberRow: row, UserPublicID: row.UserID, ChannelID: row.CommunityID, CommunityMembership: row.State,
		IsBanned: row.isBanned(), LastActivity: row.UpdatedAt, Permissions: auth.PermissionsOf(row.Roles),
	}
	if !row.isMember() && !row.isBanned() {
		m.CommunityMembership, m.NotMemberReason = "none", row.State
	}
	return m
}

// reactionsTo returns the counts by name, their sum, and the caller's reactions.
func (b *builder) reactionsTo(ref string) reactions {
	r := reactions{Reactions: map[string]int64{}, MyReactions: list(b.reactions[ref])}
	for kind, n := range b.counts[ref] {
		if name, ok := strings.CutPrefix(string(kind), "reaction:"); ok && n > 0 {
			r.Reactions[name] = n
			r.ReactionsCount += n
		}
	}
	return r
}

// withFeed returns a response with one post and the feed that contains it.
func withFeed(r related) *postAnswer {
	c := r.Communities[0]
	return &postAnswer{related: r, Feeds: []feed{{
		times: c.times, TargetID: c.CommunityID, TargetType: "community", PostCount: c.PostsCount, FeedType: "published",
		FeedID: r.Posts[0].FeedID,
	}}}
}
