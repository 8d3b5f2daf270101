package visibility

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
)

// Reference is a post or a story that the caller may see, and its target. Exactly one of Post and Story is set.
type Reference struct {
	Post   *content.Post
	Story  *content.Story
	Target Target
}

// Pending is a post or a story that a request reads. Its rows can be had only through Resolve, which makes the access
// check, so that no operation can forget it.
type Pending struct {
	ref       Reference
	onContent bool // only a post on content will do
}

// Request is a request about a post or a story. Run sets the Reference, and fails unless the caller may see it.
type Request struct {
	*service.Request
	Reference
}

// NewPostRequest starts a request about a post.
func NewPostRequest(ctx context.Context, d *service.Deps, id string) *Request {
	return NewRequest(d.NewRequest(ctx), content.ReferencePost, id)
}

// NewStoryRequest starts a request about a live story.
func NewStoryRequest(ctx context.Context, d *service.Deps, id string) *Request {
	return NewRequest(d.NewRequest(ctx), content.ReferenceStory, id)
}

// NewPastStoryRequest is NewStoryRequest, and also finds stories that ended or were deleted for callers who may view
// stories everywhere.
func NewPastStoryRequest(ctx context.Context, d *service.Deps, id string) *Request {
	r := d.NewRequest(ctx)
	return withReference(r, read(r, content.ReferenceStory, id).ResolvePast)
}

// NewRequest adds the reads of a post or a story to r. The kind content asks for a post on content; an unknown kind is
// 400400.
func NewRequest(r *service.Request, kind, id string) *Request {
	return withReference(r, read(r, kind, id).Resolve)
}

// NewRequestAlone is NewRequest for answers without the post: its latest comments are not read.
func NewRequestAlone(r *service.Request, kind, id string) *Request {
	if kind != content.ReferencePost {
		return NewRequest(r, kind, id)
	}
	p := &Pending{}
	r.PostAlone(id, &p.ref.Post)
	p.readTarget(r.ReadBatch, r.Caller, content.ReferencePost, id)
	return withReference(r, p.Resolve)
}

// withReference returns a request that gets its Reference by resolve once the reads have run.
func withReference(r *service.Request, resolve func(*auth.Caller, time.Time) (*Reference, error)) *Request {
	l := &Request{Request: r}
	r.Check(func() error {
		ref, err := resolve(r.Caller, r.Deps.Now())
		if err == nil {
			l.Reference = *ref
		}
		return err
	})
	return l
}

func read(r *service.Request, kind, id string) *Pending {
	p := &Pending{onContent: kind == content.ReferenceContent}
	switch kind {
	case content.ReferencePost, content.ReferenceContent:
		p.readPost(r.ReadBatch, r.Caller, id)
	case content.ReferenceStory:
		p.readStory(r.ReadBatch, r.Caller, id)
	}
	return p
}

// RequireReact returns nil if the caller may flag, react to or comment on the post or story.
func (r *Request) RequireReact() error { return r.Target.RequireReact(r.Caller) }

// RequireModerator returns nil if the caller moderates the posts and comments of the target.
func (r *Request) RequireModerator() error {
	return auth.Require(r.Caller, auth.ModeratePostAndComment, r.Target.Scope(""))
}

// CheckRight is CheckRight for the post or story.
func (r *Request) CheckRight(inCommunity, elsewhere auth.Permission) {
	CheckRight(r.Request, &r.Target, inCommunity, elsewhere, r.AuthorID)
}

// Known returns the rows of the target and of the caller, for the response.
func (r *Request) Known() view.Rows { return r.Target.Known(r.UserRows()) }

// ReadReferenceOfComment adds the reads of what a comment is on and its target to r.
func ReadReferenceOfComment(r *service.Request, commentID string) *Pending {
	p := &Pending{}
	p.readReferenceOfComment(r.ReadBatch, r.Caller, commentID)
	return p
}

func (p *Pending) readReferenceOfComment(reads *store.ReadBatch, caller *auth.Caller, commentID string) {
	reads.PostOfComment(commentID, &p.ref.Post)
	reads.StoryOfComment(commentID, &p.ref.Story)
	p.readTarget(reads, caller, content.ReferenceComment, commentID)
}

func (p *Pending) readPost(reads *store.ReadBatch, caller *auth.Caller, id string) {
	reads.Post(id, &p.ref.Post)
	p.readTarget(reads, caller, content.ReferencePost, id)
}

func (p *Pending) readStory(reads *store.ReadBatch, caller *auth.Caller, id string) {
	reads.Story(id, &p.ref.Story)
	p.readTarget(reads, caller, content.ReferenceStory, id)
}

func (p *Pending) readTarget(reads *store.ReadBatch, caller *auth.Caller, kind, id string) {
	reads.TargetOf(kind, id, caller.UserID, &p.ref.Target.Community, &p.ref.Target.Member, &p.ref.Target.Wall)
}

// Resolve returns the post or story once the reads have run. It is an error where that does not exist, is deleted or
// has ended, and where the caller may not see it; a post that waits for approval and a story that flags hide are visible
// to their authors and to moderators.
func (p *Pending) Resolve(caller *auth.Caller, now time.Time) (*Reference, error) {
	if p.ref.Story == nil && (p.ref.Post == nil || p.onContent && p.ref.Post.TargetType != OnContent) {
		return nil, fail.NotFound()
	}
	return p.ref.complete(caller, now)
}

// ResolvePast is Resolve, and also returns stories that ended or were deleted to callers who may view stories
// everywhere.
func (p *Pending) ResolvePast(caller *auth.Caller, now time.Time) (*Reference, error) {
	if p.ref.Story == nil || !auth.Allowed(caller, auth.ViewStory, auth.Scope{}) {
		return p.Resolve(caller, now)
	}
	asCreated := *p.ref.Story
	asCreated.DeletedAt = nil
	past := &Reference{Story: &asCreated, Target: p.ref.Target}
	ref, err := past.complete(caller, asCreated.CreatedAt)
	if err != nil {
		return nil, err
	}
	ref.Story = p.ref.Story
	return ref, nil
}

// complete returns the reference with a complete target, or an error if the caller may not see it.
func (r *Reference) complete(caller *auth.Caller, now time.Time) (*Reference, error) {
	completed := *r
	kind, id, _ := r.TargetIDs()
	completed.Target = r.Target.of(kind, id)
	if err := completed.RequireSee(caller, now); err != nil {
		return nil, err
	}
	return &completed, nil
}

// RequireSee returns nil if the caller may see the post or story. It does not exist if it is deleted or has ended. One that
// waits for approval or that flags hide is visible to its author and to moderators.
func (r *Reference) RequireSee(caller *auth.Caller, now time.Time) error {
	switch {
	case r.Story != nil:
		return r.Target.requireSeeStory(caller, r.Story, now)
	case r.Post == nil || r.Post.DeletedAt != nil:
		return fail.NotFound()
	}
	return r.Target.RequireSeePost(caller, r.Post)
}

// RequireSeeComment returns nil if the caller may see a comment on the post or story.
func (r *Reference) RequireSeeComment(caller *auth.Caller, c *content.Comment, now time.Time) error {
	if c == nil || c.DeletedAt != nil {
		return fail.NotFound()
	}
	if err := r.RequireSee(caller, now); err != nil {
		return err
	}
	return r.Target.RequireSeeComment(caller, c)
}

// ID returns the id of the post or story.
func (r *Reference) ID() string {
	if r.Story != nil {
		return r.Story.ID
	}
	return r.Post.ID
}

// AuthorID returns the internal id of the author.
func (r *Reference) AuthorID() string {
	if r.Story != nil {
		return r.Story.AuthorID
	}
	return r.Post.AuthorID
}

// TargetIDs returns the type and the ids of the target.
func (r *Reference) TargetIDs() (kind, id, publicID string) {
	if s := r.Story; s != nil {
		return s.TargetType, s.TargetID, s.TargetPublicID
	}
	return r.Post.TargetType, r.Post.TargetID, r.Post.TargetPublicID
}

// Home returns the region that stores the post or story and everything that refers to it.
func (r *Request) Home() region.Code { return r.HomeOf(r.ID()) }

// RequireComment returns nil if the caller may comment on the post or story.
func (r *Reference) RequireComment(caller *auth.Caller) error {
	if err := r.Target.RequireReact(caller); err != nil {
		return err
	}
	if c := r.Target.Community; r.Story != nil && c != nil && !c.StoryComments {
		return fail.NotAllowed()
	}
	return nil
}

// Guard makes the transaction fail with 400400 if the post or story no longer exists when it commits.
func (r *Reference) Guard(tx *store.Tx, now time.Time) {
	if r.Story != nil {
		tx.GuardLiveStory(r.Story.ID, now, fail.NotFound())
		return
	}
	tx.GuardPost(*r.Post, fail.NotFound())
}
