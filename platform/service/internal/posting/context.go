// Package posting holds what all operations that create, edit or list posts share.
package posting

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// PostContext is the author of a post and its target.
type PostContext struct {
	Caller         *auth.Caller
	AuthorID       string
	AuthorPublicID string
	Target         visibility.Target
	TargetPublicID string // the community's id, or the wall owner's public id
}

// LoadedTarget is the target of a draft, as it was read.
type LoadedTarget struct {
	*service.Request
	PostContext
	Categories []communities.Category // of the community
	Counts     core.Counts            // of the target
	creator    []people.User          // of the community, for the response
	owners     []people.User          // of the wall
}

// LoadTarget resolves a draft, reads its target and checks that the caller may post it there.
func LoadTarget(ctx context.Context, d *service.Deps, draft *Draft) (*LoadedTarget, error) {
	if err := ResolveDraft(ctx, d, draft, auth.CallerFrom(ctx).PublicID); err != nil {
		return nil, err
	}
	t := &LoadedTarget{Request: d.NewUserRequest(ctx), Counts: core.Counts{}}
	t.PostContext.Caller = t.Request.Caller
	visibility.ReadTarget(t.Request, draft.TargetType, draft.TargetID, &t.Target)
	t.CountsOf([]string{draft.TargetID}, t.Counts)
	switch draft.TargetType {
	case "community":
		t.CategoriesOfCommunity(draft.TargetID, &t.Categories)
		t.CreatorOf(draft.TargetID, &t.creator)
	case "user":
		t.Users([]string{draft.TargetID}, &t.owners)
	}
	var carried Embed
	carried.Read(draft, t.ReadBatch)
	rules := textrules.Read(d, t.ReadBatch, draft.Home)
	t.Check(func() error { return t.resolve(draft) })
	t.Check(t.RequirePost)
	t.Check(func() error { return t.RequireEmbed(draft, carried) })
	draft.RequireFiles(t.Request, &t.Target)
	t.AfterRun(func(ctx context.Context) error { return t.restrictEmbed(ctx, carried) })
	t.AfterRun(func(ctx context.Context) error {
		return rules.Require(ctx, t.Request.Caller, draft.Text(), carried.Text())
	})
	return t, t.Run(ctx)
}

// restrictEmbed restricts the images of what a post in a private place embeds.
func (t *LoadedTarget) restrictEmbed(ctx context.Context, e Embed) error {
	if !t.Target.IsPrivate() {
		return nil
	}
	return fileref.Restrict(ctx, t.Deps, t.AuthorID, e.fileIDs...)
}

// resolve sets the author and the public id of the target.
func (t *LoadedTarget) resolve(draft *Draft) error {
	t.AuthorID, t.AuthorPublicID, t.TargetPublicID = t.User().ID, t.User().PublicID, draft.TargetID
	switch draft.TargetType {
	case visibility.OnContent:
		t.TargetPublicID = draft.GetTargetId()
	case "user":
		if len(t.owners) == 0 || t.owners[0].DeletedAt != nil {
			return fail.NotFound()
		}
		t.TargetPublicID = t.owners[0].PublicID
	}
	return nil
}

// Known returns the rows that were read, for a response about a post on the target.
func (t *LoadedTarget) Known(posts ...content.Post) view.Rows {
	k := t.Target.Known(append(t.UserRows(), t.creator...))
	k.Posts, k.Categories = posts, t.Categories
	return k
}

// RequirePost returns nil if the caller may post: on a wall that the caller can see; in a community as a member, and
// with a permission if only its moderators may post.
func (p *PostContext) RequirePost() error {
	if err := p.Target.RequireSee(p.Caller); err != nil {
		return err
	}
	c := p.Target.Community
	if c == nil {
		return nil
	}
	if err := auth.RequireMember(p.Caller, p.Target.Scope("")); err != nil {
		return err
	}
	if c.OnlyAdminCanPost {
		return auth.Require(p.Caller, auth.CreatePrivilegedPost, p.Target.Scope(""))
	}
	return nil
}

// FeedType returns the feed of a new post: "reviewing" if the community requires approval and the author is not a
// moderator of it.
func (p *PostContext) FeedType() string {
	if p.Target.ReviewsPostOf(p.Caller) {
		return "reviewing"
	}
	return "published"
}

// Rows returns the parent and its children, in this order, of a resolved draft. newID is called once for each.
func (p *PostContext) Rows(d *Draft, now time.Time, newID func() string) []content.Post {
	parent := content.Post{
		ID: newID(), TargetType: d.TargetType, TargetID: d.TargetID, TargetPublicID: p.TargetPublicID,
		AuthorID: p.AuthorID, AuthorPublicID: p.AuthorPublicID, IsParent: true,
		FeedType: p.FeedType(), DataType: d.DataType, StructureType: d.structure(), Data: d.Data.Row(),
		Metadata: view.ObjectJSON(d.GetMetadata()), Tags: d.GetTags(), Hashtags: d.GetHashtags(), Mentionees: view.MentionsJSON(d.Mentions),
		Annotations: d.annotations(),
		CreatedAt:   now, UpdatedAt: now, EditedAt: now,
	}
	posts := []content.Post{parent}
	for _, part := range d.parts() {
		child := childOf(parent, part, newID())
		posts = append(posts, child)
		posts[0].Children = append(posts[0].Children, child.ID)
	}
	return posts
}

// childOf returns the child post of a parent that holds one part of it.
func childOf(parent content.Post, part part, id string) content.Post {
	child := parent
	child.ID, child.ParentID, child.IsParent, child.Children = id, parent.ID, false, nil
	child.DataType, child.StructureType = part.kind, part.kind
	child.Data = part.data.Row()
	child.Metadata, child.Tags, child.Hashtags, child.Mentionees, child.Annotations = []byte("{}"), nil, nil, []byte("[]"), nil
	child.Flaggers, child.FlagCount, child.HasFlaggedChildren, child.HasFlaggedComment = nil, 0, false, false
	child.LatestComments = nil
	return child
}

// InsertPosts adds the insertion of a parent and its children, with their count, to a transaction, which fails if the
// target does not exist, or if what the draft embeds is part of another post. What is stored at another home must have
// been reserved.
func InsertPosts(tx *store.Tx, posts []content.Post, draft *Draft) {
	parent := posts[0]
	tx.GuardTarget(parent.TargetType, parent.TargetID, fail.NotFound())
	for _, p := range posts {
		tx.InsertPost(p)
	}
	tx.Count(parent.TargetID, content.PostCounter(parent.FeedType), +1)
	if e := embeddingOf(parent, draft); isAt(tx, e.ID) {
		e.attach(tx)
	}
}

// isAt reports whether the row of an id is stored in the home of a transaction.
func isAt(tx *store.Tx, id string) bool {
	home, err := tx.HomeOf(id)
	return err == nil && home == tx.Home()
}
