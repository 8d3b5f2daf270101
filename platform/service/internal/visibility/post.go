package visibility

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
)

// LoadPost reads a post in a round trip of its own, for what is attached to it. It is 400400 unless the caller may see
// the post.
func LoadPost(ctx context.Context, d *service.Deps, caller *auth.Caller, id string) (*Reference, error) {
	p := &Pending{}
	reads := d.Store.NewReadBatch()
	p.readPost(reads, caller, id)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	ref, err := p.Resolve(caller, d.Now())
	if err != nil {
		return nil, fail.NotFound()
	}
	return ref, nil
}

// LoadStory is LoadPost for a story.
func LoadStory(ctx context.Context, d *service.Deps, caller *auth.Caller, id string) (*Reference, error) {
	p := &Pending{}
	reads := d.Store.NewReadBatch()
	p.readStory(reads, caller, id)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	return p.ResolvePast(caller, d.Now())
}

// LoadComment returns what a comment is on, in a round trip of its own. It is an error unless the caller may see the
// comment.
func LoadComment(ctx context.Context, d *service.Deps, caller *auth.Caller, id string) (*Reference, error) {
	p := &Pending{}
	var c *content.Comment
	reads := d.Store.NewReadBatch()
	reads.Comment(id, &c)
	p.readReferenceOfComment(reads, caller, id)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	ref, err := p.Resolve(caller, d.Now())
	if err != nil {
		return nil, err
	}
	return ref, ref.RequireSeeComment(caller, c, d.Now())
}

// LoadPostIn reads a post and its target with the caller's relation to it, in a round trip of its own, for callers of whom
// another rule than that of posts decides what they see. The post is nil if it is deleted or never existed.
func LoadPostIn(ctx context.Context, d *service.Deps, caller *auth.Caller, id string) (*content.Post, Target, error) {
	p := &Pending{}
	reads := d.Store.NewReadBatch()
	p.readPost(reads, caller, id)
	if err := reads.Run(ctx); err != nil || p.ref.Post == nil || p.ref.Post.DeletedAt != nil {
		return nil, Target{}, err
	}
	return p.ref.Post, p.ref.Target.of(p.ref.Post.TargetType, p.ref.Post.TargetID), nil
}

// FilterPosts returns the posts that the caller may see, with the targets that were read to decide it.
func FilterPosts(ctx context.Context, r *service.Request, posts []content.Post) (view.Rows, error) {
	k := view.Rows{Users: r.UserRows()}
	kinds := map[string]string{}
	for _, p := range posts {
		if p.TargetType != OnContent {
			kinds[p.TargetID] = p.TargetType
		}
	}
	targets, err := LoadTargets(ctx, r.Deps, r.Caller, kinds)
	if err != nil {
		return k, err
	}
	k.Posts = targets.VisiblePosts(r.Caller, posts)
	k.Communities, k.Members = targets.Referenced(k.Posts)
	return k, nil
}

// VisiblePostIDs reads posts and returns the ids of those that the caller may see.
func VisiblePostIDs(ctx context.Context, r *service.Request, ids []string) (map[string]bool, error) {
	visible := map[string]bool{}
	posts, err := service.ReadAvailable(ctx, r.Deps, (*store.ReadBatch).PostHeads, ids)
	if err != nil || len(posts) == 0 {
		return visible, err
	}
	k, err := FilterPosts(ctx, r, posts)
	for _, p := range k.Posts {
		visible[p.ID] = true
	}
	return visible, err
}
