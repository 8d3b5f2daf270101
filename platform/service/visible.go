package service

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// RequireSeePost is RequireSee, and keeps posts that wait for a moderator to their authors and to moderators.
func (p Place) RequireSeePost(caller *auth.Caller, post *store.Post) error {
	if err := p.RequireSee(caller); err != nil {
		return err
	}
	mine := post.AuthorID == caller.UserID
	if post.FeedType != "published" && !mine && !p.Moderates(caller) {
		return fail.NotFound()
	}
	return nil
}

// SeePost reads a post and where it stands, for what the post carries: it is 400400 unless the caller may read it.
func (d *Deps) SeePost(ctx context.Context, caller *auth.Caller, id string) (Place, error) {
	var post *store.Post
	var place Place
	reads := d.Store.Reads()
	reads.Post(id, &post)
	reads.CommunityOfPost(id, &place.Community)
	if caller.UserID != "" {
		reads.MemberOfPost(id, caller.UserID, &place.Member)
		reads.WallOfPost(id, caller.UserID, &place.Wall)
	}
	if err := reads.Run(ctx); err != nil {
		return place, err
	}
	if post == nil || post.DeletedAt != nil {
		return place, fail.NotFound()
	}
	place = place.Outside(post.TargetType, post.TargetID)
	if place.RequireSeePost(caller, post) != nil {
		return place, fail.NotFound()
	}
	return place, nil
}

// Visible keeps the posts that the caller may see, and what was read to know it.
func (d *Deps) Visible(ctx context.Context, f *First, posts []store.Post) (view.Rows, error) {
	k := view.Rows{Users: f.UserRows()}
	targets := map[string]string{}
	for _, p := range posts {
		if p.TargetType != OnContent {
			targets[p.TargetID] = p.TargetType
		}
	}
	places, err := d.Places(ctx, f.Caller, targets)
	if err != nil {
		return k, err
	}
	for _, p := range posts {
		place := places[p.TargetID]
		place.Content = p.TargetType == OnContent
		if p.DeletedAt == nil && place.RequireSeePost(f.Caller, &p) == nil {
			k.Posts = append(k.Posts, p)
		}
	}
	for _, place := range places {
		if place.Community != nil && slices.ContainsFunc(k.Posts, func(p store.Post) bool { return p.TargetID == place.Community.ID }) {
			k.Communities = append(k.Communities, *place.Community)
		}
		if place.Member != nil {
			k.Members = append(k.Members, *place.Member)
		}
	}
	return k, nil
}

// VisibleIDs reads posts by id and says which of them the caller may see.
func (d *Deps) VisibleIDs(ctx context.Context, f *First, ids []string) (map[string]bool, error) {
	seen := map[string]bool{}
	if len(ids) == 0 {
		return seen, nil
	}
	var posts []store.Post
	reads := d.Store.Related()
	reads.PostsByID(ids, &posts)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	k, err := d.Visible(ctx, f, posts)
	for _, p := range k.Posts {
		seen[p.ID] = true
	}
	return seen, err
}
