package service

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// Posting is who posts, and where.
type Posting struct {
	Caller         *auth.Caller
	AuthorID       string
	AuthorPublicID string
	Place          Place
	TargetPublicID string // the community's id, or the wall owner's public id
}

// PostTarget is the target of a draft as a request finds it.
type PostTarget struct {
	*First
	Posting
	Categories []store.Category // of the community
	creator    []store.User     // of the community: the answer speaks of them, and has no round trip of its own
}

// LoadTarget reads the target of a draft and decides whether the caller may post it there.
func (d *Deps) LoadTarget(ctx context.Context, draft *Draft) (*PostTarget, error) {
	t := &PostTarget{First: d.Begin(ctx)}
	t.Posting.Caller = t.First.Caller
	var owners []store.User
	switch draft.TargetType {
	case OnContent:
		t.Place.Content = true
	case "community":
		t.Community(draft.TargetID, &t.Place.Community)
		t.CategoriesOfCommunity(draft.TargetID, &t.Categories)
		t.CreatorOf(draft.TargetID, &t.creator)
		if t.First.Caller.UserID != "" {
			t.Member(draft.TargetID, t.First.Caller.UserID, &t.Place.Member)
		}
	default:
		t.Place.WallOwnerID = draft.TargetID
		t.Users([]string{draft.TargetID}, &owners)
		if t.First.Caller.UserID != "" {
			t.Wall(draft.TargetID, t.First.Caller.UserID, &t.Place.Wall)
		}
	}
	var carried Carried
	carried.Read(draft, t.Reads)
	files := ReadFiles(t.Reads, AttachmentRefs(draft.Attachments)...)
	rules := d.ReadTextRules(t.Reads, draft.Home)
	if err := t.Run(ctx); err != nil {
		return nil, err
	}
	if err := t.RequireUser(); err != nil {
		return nil, err
	}
	t.AuthorID, t.AuthorPublicID, t.TargetPublicID = t.User().ID, t.User().PublicID, draft.TargetID
	if draft.TargetType == OnContent {
		t.TargetPublicID = draft.GetTargetId()
	}
	if draft.TargetType == "user" {
		if len(owners) == 0 || owners[0].DeletedAt != nil {
			return nil, fail.NotFound()
		}
		t.TargetPublicID = owners[0].PublicID
	}
	if err := t.RequirePost(); err != nil {
		return nil, err
	}
	if err := t.RequireCarried(draft, carried); err != nil {
		return nil, err
	}
	if err := files.Err(); err != nil {
		return nil, err
	}
	return t, rules.Require(ctx, t.First.Caller, draft.Texts(), carried.Texts())
}

// Known is what an answer about a post on the target starts from.
func (t *PostTarget) Known(posts ...store.Post) view.Rows {
	k := view.Rows{Posts: posts, Users: append(t.UserRows(), t.creator...), Categories: t.Categories}
	if t.Place.Community != nil {
		k.Communities = []store.Community{*t.Place.Community}
	}
	if t.Place.Member != nil {
		k.Members = []store.Member{*t.Place.Member}
	}
	return k
}

// RequirePost returns nil where the caller may post: on a wall that they may see; in a community as a member, and where only its
// moderators can post, with the right to.
func (p *Posting) RequirePost() error {
	if err := p.Place.RequireSee(p.Caller); err != nil {
		return err
	}
	c := p.Place.Community
	if c == nil {
		return nil
	}
	if err := auth.RequireMember(p.Caller, p.Place.Scope("")); err != nil {
		return err
	}
	if c.OnlyAdminCanPost {
		return auth.Require(p.Caller, auth.CreatePrivilegedPost, p.Place.Scope(""))
	}
	return nil
}

// FeedType is where a new post goes: to the moderators where the community asks for it, unless the author is one.
func (p *Posting) FeedType() string {
	if c := p.Place.Community; c != nil && c.PostApproval && !p.Place.Moderates(p.Caller) {
		return "reviewing"
	}
	return "published"
}

// Rows makes the parent and its children, in this order, of a draft that was resolved. newID is called once for each.
func (p *Posting) Rows(d *Draft, now time.Time, newID func() string) []store.Post {
	parent := store.Post{
		ID: newID(), TargetType: d.TargetType, TargetID: d.TargetID, TargetPublicID: p.TargetPublicID,
		AuthorID: p.AuthorID, AuthorPublicID: p.AuthorPublicID, IsParent: true,
		FeedType: p.FeedType(), DataType: d.DataType, StructureType: d.structure(), Data: view.ObjectJSON(d.Data),
		Metadata: view.ObjectJSON(d.GetMetadata()), Tags: d.GetTags(), Hashtags: d.GetHashtags(), Mentionees: view.MentionsJSON(d.Mentions),
		CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	posts := []store.Post{parent}
	for _, part := range d.parts() {
		child := childOf(parent, part, newID())
		posts = append(posts, child)
		posts[0].Children = append(posts[0].Children, child.ID)
	}
	return posts
}

// childOf makes the child post of a parent that holds one part of it.
func childOf(parent store.Post, part part, id string) store.Post {
	child := parent
	child.ID, child.ParentID, child.IsParent, child.Children = id, parent.ID, false, nil
	child.DataType, child.StructureType = part.kind, part.kind
	child.Data = view.ObjectJSON(part.data)
	child.Metadata, child.Tags, child.Hashtags, child.Mentionees = []byte("{}"), nil, nil, []byte("[]")
	child.Flaggers, child.FlagCount, child.HasFlaggedChildren, child.HasFlaggedComment = nil, 0, false, false
	child.CommentIDs, child.CommentAuthors = nil, nil
	return child
}

// AddPosts queues the insertion of a parent and its children with their count, unless the target is gone, and makes what the
// draft carries part of the post. The rows are to be delivered once the transaction is stored.
func (d *Deps) AddPosts(w *store.Write, posts []store.Post, draft *Draft) []store.OutboxRow {
	parent := posts[0]
	w.GuardTarget(parent.TargetType, parent.TargetID, fail.NotFound())
	for _, p := range posts {
		w.NewPost(p)
	}
	w.Count(parent.TargetID, store.FeedCounter(parent.FeedType), +1)
	return d.attach(w, parent, draft)
}
