package visibility

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Targets are the targets of several rows, by internal id. Nothing on a target that is absent is visible.
type Targets map[string]Target

// NewTargets returns communities with the caller's memberships of them.
func NewTargets(communities []communities.Community, members []communities.Member) Targets {
	targets := Targets{}
	for i := range communities {
		targets[communities[i].ID] = Target{Community: &communities[i]}
	}
	for i := range members {
		if t, ok := targets[members[i].CommunityID]; ok {
			t.Member = &members[i]
			targets[members[i].CommunityID] = t
		}
	}
	return targets
}

// AddFollowedWalls adds the walls of users whom the caller follows, or is: no block or privacy hides those.
func (t Targets) AddFollowedWalls(owners []people.User) {
	for _, u := range owners {
		if u.DeletedAt == nil {
			t[u.ID] = Target{WallOwnerID: u.ID}
		}
	}
}

// LoadTargets reads targets by internal id; kinds holds the type of each, community or user. Targets that do not exist,
// or whose home does not answer, are absent.
func LoadTargets(ctx context.Context, d *service.Deps, caller *auth.Caller, kinds map[string]string) (Targets, error) {
	walls := map[string]*content.Wall{}
	var ids []string
	for id, kind := range kinds {
		if kind == "user" {
			walls[id] = &content.Wall{Blocked: caller.UserID != ""} // until its home answers
		} else {
			ids = append(ids, id)
		}
	}
	var places []communities.Community
	var members []communities.Member
	reads := d.Store.NewBestEffortBatch()
	reads.Communities(ids, &places)
	reads.Memberships(caller.UserID, ids, &members)
	for ownerID, wall := range walls {
		reads.Wall(ownerID, caller.UserID, wall)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	targets := NewTargets(places, members)
	for ownerID, wall := range walls {
		targets[ownerID] = Target{WallOwnerID: ownerID, Wall: *wall}
	}
	return targets, nil
}

// Post returns a post that was read apart from its target.
func (t Targets) Post(p *content.Post) *Pending {
	return &Pending{ref: Reference{Post: p, Target: t[p.TargetID]}}
}

// Story returns a story that was read apart from its target.
func (t Targets) Story(s *content.Story) *Pending {
	return &Pending{ref: Reference{Story: s, Target: t[s.TargetID]}}
}

// VisiblePosts returns the posts that are not deleted and that the caller may see, in their order.
func (t Targets) VisiblePosts(caller *auth.Caller, posts []content.Post) []content.Post {
	return slices.DeleteFunc(t.PostsInSight(caller, posts), func(p content.Post) bool { return p.DeletedAt != nil })
}

// PostsInSight is VisiblePosts with deleted posts, which responses show without content.
func (t Targets) PostsInSight(caller *auth.Caller, posts []content.Post) []content.Post {
	var visible []content.Post
	for _, p := range posts {
		target := t[p.TargetID]
		target.Content = p.TargetType == OnContent
		if target.RequireSeePost(caller, &p) == nil {
			visible = append(visible, p)
		}
	}
	return visible
}

// Referenced returns the communities that posts are in, and the caller's memberships of these.
func (t Targets) Referenced(posts []content.Post) (communities []communities.Community, members []communities.Member) {
	for id, target := range t {
		if target.Community == nil || !slices.ContainsFunc(posts, func(p content.Post) bool { return p.TargetID == id }) {
			continue
		}
		communities = append(communities, *target.Community)
		if target.Member != nil {
			members = append(members, *target.Member)
		}
	}
	return communities, members
}
