package view

import (
	"math"
	"slices"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func (g *gathering) build() *Aggregate {
	a := &Aggregate{Users: g.builder.Users(g.Users), Categories: g.categories(), CommunityUsers: g.communityUsers()}
	g.buildCommunities(a)
	g.buildPosts(a)
	g.buildStories(a)
	g.buildComments(a)
	g.buildPolls(a)
	g.buildStreams(a)
	g.buildRooms(a)
	a.Roles = g.roles()
	return a
}

func (g *gathering) buildPosts(a *Aggregate) {
	primary := newSet()
	for _, p := range g.Posts {
		primary.add(p.ID)
		a.Posts = append(a.Posts, g.post(p))
	}
	for _, c := range g.childrenInOrder() {
		if !primary.has[c.ID] {
			a.PostChildren = append(a.PostChildren, g.post(c))
		}
	}
	a.Feeds = g.feeds()
}

// childrenInOrder are the child posts in the order in which their parents list them; those that no parent lists come last.
func (g *gathering) childrenInOrder() []store.Post {
	place := map[string]int{}
	for _, p := range g.Posts {
		for _, id := range p.Children {
			place[id] = len(place) - math.MaxInt32 // below zero, which stands for all others
		}
	}
	slices.SortStableFunc(g.children, func(a, b store.Post) int { return place[a.ID] - place[b.ID] })
	return g.children
}

func (g *gathering) buildComments(a *Aggregate) {
	seen := newSet()
	for _, c := range g.Comments {
		seen.add(c.ID)
		a.Comments = append(a.Comments, g.comment(c))
	}
	for _, c := range g.replies {
		if seen.has[c.ID] {
			continue
		}
		seen.add(c.ID)
		if len(g.Comments) > 0 {
			a.CommentChildren = append(a.CommentChildren, g.comment(c))
		} else {
			a.Comments = append(a.Comments, g.comment(c))
		}
	}
}

func (g *gathering) buildCommunities(a *Aggregate) {
	seen := newSet()
	for _, c := range g.Communities {
		if seen.has[c.ID] {
			continue
		}
		seen.add(c.ID)
		a.Communities = append(a.Communities, g.builder.Community(c, g.Counts, g.member(c.ID, g.viewerID)))
	}
}

func (g *gathering) member(communityID, userID string) *store.Member {
	for i := range g.Members {
		if g.Members[i].CommunityID == communityID && g.Members[i].UserID == userID {
			return &g.Members[i]
		}
	}
	return nil
}

func (g *gathering) communityUsers() []*plazav1.CommunityUser {
	seen := newSet()
	var out []*plazav1.CommunityUser
	for _, m := range g.Members {
		key := m.CommunityID + m.UserID
		if !seen.has[key] {
			seen.add(key)
			out = append(out, g.builder.CommunityUser(m))
		}
	}
	return out
}

func (g *gathering) categories() []*plazav1.Category {
	seen := newSet()
	var out []*plazav1.Category
	for _, c := range g.Categories {
		if !seen.has[c.ID] {
			seen.add(c.ID)
			out = append(out, g.builder.Category(c))
		}
	}
	return out
}

// feeds are those that the posts stand in.
func (g *gathering) feeds() []*plazav1.Feed {
	wanted := map[string]bool{}
	for _, p := range g.Posts {
		wanted[FeedID(p.TargetID, p.FeedType)] = true
	}
	var out []*plazav1.Feed
	for _, c := range g.Communities {
		for _, f := range g.builder.Feeds(c, g.Counts) {
			if wanted[f.GetFeedId()] {
				wanted[f.GetFeedId()] = false
				out = append(out, f)
			}
		}
	}
	for _, u := range g.Users {
		if f := g.builder.WallFeed(u, g.Counts); wanted[f.GetFeedId()] {
			wanted[f.GetFeedId()] = false
			out = append(out, f)
		}
	}
	return out
}

// roles are those that the users and members of the answer have.
func (g *gathering) roles() []*plazav1.Role {
	var ids []string
	for _, u := range g.Users {
		ids = append(ids, u.Roles...)
	}
	for _, m := range g.Members {
		ids = append(ids, m.Roles...)
	}
	return g.builder.Roles(ids)
}

// WallFeed is the feed of a user's wall.
func (b *Builder) WallFeed(u store.User, counts store.Counts) *plazav1.Feed {
	return &plazav1.Feed{
		TargetId:   u.PublicID,
		TargetType: "user",
		PostCount:  count(counts.Of(u.ID, store.CountPublished)),
		FeedType:   "published",
		FeedId:     FeedID(u.ID, "published"),
		CreatedAt:  ts(u.CreatedAt),
		UpdatedAt:  ts(u.UpdatedAt),
	}
}

func (g *gathering) post(p store.Post) *plazav1.Post {
	m := g.builder.post(p, g.Counts)
	m.Reactions, m.ReactionsCount = reactions(g.Counts, p.ID)
	m.MyReactions = g.mineOf(p.ID)
	return m
}

func (g *gathering) comment(c store.Comment) *plazav1.Comment {
	m := g.builder.comment(c, g.Counts)
	m.Reactions, m.ReactionsCount = reactions(g.Counts, c.ID)
	m.MyReactions = g.mineOf(c.ID)
	return m
}

// mineOf are the names by which the viewer reacts to a reference.
func (g *gathering) mineOf(ref string) []string {
	var names []string
	for _, r := range g.mine {
		if r.ReferenceID == ref {
			names = append(names, r.Name)
		}
	}
	return names
}

// reactions are the counts by name and their sum.
func reactions(counts store.Counts, ref string) (byName map[string]int32, sum int32) {
	byName = map[string]int32{}
	for name, n := range counts.Reactions(ref) {
		byName[name] = count(n)
		sum += count(n)
	}
	return byName, sum
}
