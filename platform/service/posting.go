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

// LoadTarget reads the target of a draft and decides whether the caller may post on it.
func (d *Deps) LoadTarget(ctx context.Context, draft *Draft) (*PostTarget, error) {
	t := &PostTarget{First: d.Begin(ctx)}
	t.Posting.Caller = t.First.Caller
	var owners []store.User
	if draft.TargetType == "community" {
		t.Community(draft.TargetID, &t.Place.Community)
		t.CategoriesOfCommunity(draft.TargetID, &t.Categories)
		t.CreatorOf(draft.TargetID, &t.creator)
		if t.First.Caller.UserID != "" {
			t.Member(draft.TargetID, t.First.Caller.UserID, &t.Place.Member)
		}
	} else {
		t.Place.WallOwnerID = draft.TargetID
		t.Users([]string{draft.TargetID}, &owners)
		if t.First.Caller.UserID != "" {
			t.Wall(draft.TargetID, t.First.Caller.UserID, &t.Place.Wall)
		}
	}
	var poll *store.Poll
	if draft.PollID != "" {
		t.Poll(draft.PollID, &poll)
	}
	if err := t.Run(ctx); err != nil {
		return nil, err
	}
	if err := t.RequireUser(); err != nil {
		return nil, err
	}
	t.AuthorID, t.AuthorPublicID, t.TargetPublicID = t.User().ID, t.User().PublicID, draft.TargetID
	if draft.TargetType == "user" {
		if len(owners) == 0 || owners[0].DeletedAt != nil {
			return nil, fail.NotFound()
		}
		t.TargetPublicID = owners[0].PublicID
	}
	if err := t.RequirePost(); err != nil {
		return nil, err
	}
	return t, t.RequirePoll(draft, poll)
}

// Known is what an answer about a post on the target starts from.
func (t *PostTarget) Known(posts ...store.Post) view.Known {
	k := view.Known{Posts: posts, Users: append(t.UserRows(), t.creator...), Categories: t.Categories}
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
		child := parent
		child.ID, child.ParentID, child.IsParent = newID(), parent.ID, false
		child.DataType, child.StructureType = part.kind, part.kind
		child.Data = view.ObjectJSON(part.data)
		child.Metadata, child.Tags, child.Hashtags, child.Mentionees = []byte("{}"), nil, nil, []byte("[]")
		posts = append(posts, child)
		posts[0].Children = append(posts[0].Children, child.ID)
	}
	return posts
}

// AddPosts queues the insertion of a parent and its children with their count, unless the target is gone. pollID is the
// poll that becomes part of the post; empty without one. The rows are to be delivered once the transaction is stored.
func (d *Deps) AddPosts(w *store.Write, posts []store.Post, pollID string) []store.OutboxRow {
	parent := posts[0]
	w.GuardTarget(parent.TargetType, parent.TargetID, fail.NotFound())
	for _, p := range posts {
		w.NewPost(p)
	}
	w.Count(parent.TargetID, store.FeedCounter(parent.FeedType), +1)
	switch {
	case pollID == "":
		return nil
	case HomeOf(pollID) == w.Home():
		w.AttachPoll(pollID, parent.ID)
		return nil
	}
	return []store.OutboxRow{w.Emit(TopicPollPosted, PollPosted{PollID: pollID, PostID: parent.ID}, d.Now(), d.Outbox.FirstTry())}
}

// TopicPollPosted names the outbox rows that tell a poll's home which post it is part of; PollPosted is what they hold.
const TopicPollPosted = "pollPosted"

// PollPosted says that a poll became part of a post.
type PollPosted struct {
	PollID string `json:"pollId"`
	PostID string `json:"postId"`
}

// errPoll refuses the polls of others, and those that are part of a post already.
var errPoll = fail.New(fail.CodeBadRequest, "The poll of a post has to be its author's own, and part of no other post")

// RequirePoll returns nil where the draft has no poll, or the one that was read for it may become part of the post.
func (p *Posting) RequirePoll(d *Draft, poll *store.Poll) error {
	if d.PollID == "" {
		return nil
	}
	if poll == nil || poll.DeletedAt != nil || poll.CreatorID != p.AuthorID || poll.PostID != "" {
		return errPoll
	}
	return nil
}
