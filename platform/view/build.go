package view

import (
	"context"
	"math"
	"slices"

	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func (l *loader) build(ctx context.Context) *Aggregate {
	a := &Aggregate{
		Users: l.builder.Users(ctx, l.Users), Categories: l.builder.Categories(l.Categories), CommunityUsers: l.builder.CommunityUsers(l.Members),
	}
	l.buildCommunities(a)
	l.buildPosts(a)
	l.buildStories(a)
	l.buildComments(a)
	l.buildPolls(a)
	l.buildProducts(a)
	l.buildStreams(a)
	l.buildRooms(a)
	a.Roles = l.roles()
	return a
}

func (l *loader) buildPosts(a *Aggregate) {
	primary := newIDSet(mapList(l.Posts, func(p content.Post) string { return p.ID })...)
	children := slices.DeleteFunc(l.childrenInOrder(), func(c content.Post) bool { return primary.has(c.ID) })
	a.Posts, a.PostChildren, a.Feeds = mapList(l.Posts, l.post), mapList(children, l.post), l.feeds()
}

// childrenInOrder sorts the child posts as their parents list them; children that no parent lists come last.
func (l *loader) childrenInOrder() []content.Post {
	position := map[string]int{}
	for _, p := range l.Posts {
		for _, id := range p.Children {
			position[id] = len(position) - math.MaxInt32 // negative: before the children without a position, which is 0
		}
	}
	slices.SortStableFunc(l.children, func(a, b content.Post) int { return position[a.ID] - position[b.ID] })
	return l.children
}

// buildComments puts replies of comments into CommentChildren, and embedded comments of posts and stories into
// Comments.
func (l *loader) buildComments(a *Aggregate) {
	idOf := func(c content.Comment) string { return c.ID }
	primary := newIDSet(mapList(l.Comments, idOf)...)
	replies := slices.DeleteFunc(unique(l.replies, idOf), func(c content.Comment) bool { return primary.has(c.ID) })
	a.Comments, a.CommentChildren = mapList(l.Comments, l.comment), mapList(replies, l.comment)
	if len(l.Comments) == 0 {
		a.Comments, a.CommentChildren = a.CommentChildren, nil
	}
}

func (l *loader) buildCommunities(a *Aggregate) {
	for _, c := range unique(l.Communities, func(c communities.Community) string { return c.ID }) {
		mine := find(l.Members, func(m *communities.Member) bool { return m.CommunityID == c.ID && m.UserID == l.viewerID })
		l.viewer.community(&c)
		a.Communities = append(a.Communities, l.builder.Community(c, l.Counts, mine))
	}
}

// feeds returns the feeds that the posts appear in.
func (l *loader) feeds() []*plazav1.Feed {
	wanted := map[string]bool{}
	for _, p := range l.Posts {
		wanted[FeedID(p.TargetID, p.FeedType)] = true
	}
	var all []*plazav1.Feed
	for _, c := range l.Communities {
		all = append(all, l.builder.feeds(c, l.Counts, l.viewer.reviews("community", c.ID))...)
	}
	for _, u := range l.Users {
		all = append(all, l.builder.WallFeed(u, l.Counts))
	}
	return unique(slices.DeleteFunc(all, func(f *plazav1.Feed) bool { return !wanted[f.GetFeedId()] }), (*plazav1.Feed).GetFeedId)
}

// roles returns the roles of the users and members of the response.
func (l *loader) roles() []*plazav1.Role {
	var ids []string
	for _, u := range l.Users {
		ids = append(ids, u.Roles...)
	}
	for _, m := range l.Members {
		ids = append(ids, m.Roles...)
	}
	return l.builder.Roles(ids)
}

func (l *loader) post(p content.Post) *plazav1.Post {
	m := l.builder.post(p, l.Counts)
	m.Reactions, m.ReactionsCount = reactions(l.Counts, p.ID)
	m.MyReactions = reactionsTo(p.ID, l.mine)
	m.PendingEdit = l.pendingEdit(p.ID)
	return m
}

func (l *loader) comment(c content.Comment) *plazav1.Comment {
	m := l.builder.comment(c, l.Counts)
	m.Reactions, m.ReactionsCount = reactions(l.Counts, c.ID)
	m.MyReactions = reactionsTo(c.ID, l.mine)
	m.PendingEdit = l.pendingEdit(c.ID)
	return m
}

// reactionsTo returns the names of the reactions to a reference.
func reactionsTo(ref string, rows []content.Reaction) []string {
	var names []string
	for _, r := range rows {
		if r.ReferenceID == ref {
			names = append(names, r.Name)
		}
	}
	return names
}

// reactions returns the number of reactions to a reference by name, and their sum.
func reactions(counts core.Counts, ref string) (byName map[string]int32, sum int32) {
	byName = map[string]int32{}
	for name, n := range counts.Reactions(ref) {
		byName[name] = count(n)
		sum += count(n)
	}
	return byName, sum
}
