package visibility

import (
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Reference is what a comment or a reaction is about, and where that stands: a post or a story. Neither is set where there
// is none.
type Reference struct {
	Post   *store.Post
	Story  *store.Story
	Target Target

	content bool // only a post under content will do
}

// ReadReference reads a post or a story by its id, and how the caller stands to its place. Content is a post under it. Whatever else
// kind names is not there.
func ReadReference(f *service.Request, kind, id string, r *Reference) {
	caller := f.Caller.UserID
	switch kind {
	case store.ReferencePost, store.ReferenceContent:
		r.content = kind == store.ReferenceContent
		f.Post(id, &r.Post)
		f.CommunityOfPost(id, &r.Target.Community)
		if caller != "" {
			f.MemberOfPost(id, caller, &r.Target.Member)
			f.WallOfPost(id, caller, &r.Target.Wall)
		}
	case store.ReferenceStory:
		f.Story(id, &r.Story)
		f.CommunityOfStory(id, &r.Target.Community)
		if caller != "" {
			f.MemberOfStory(id, caller, &r.Target.Member)
			f.WallOfStory(id, caller, &r.Target.Wall)
		}
	}
}

// ReadReferenceOfComment reads what a comment stands on, and how the caller stands to its place.
func ReadReferenceOfComment(f *service.Request, commentID string, r *Reference) {
	f.PostOfComment(commentID, &r.Post)
	f.StoryOfComment(commentID, &r.Story)
	f.CommunityOfComment(commentID, &r.Target.Community)
	if caller := f.Caller.UserID; caller != "" {
		f.MemberOfComment(commentID, caller, &r.Target.Member)
		f.WallOfComment(commentID, caller, &r.Target.Wall)
	}
}

// ID is the id of the post or story.
func (r *Reference) ID() string {
	if r.Story != nil {
		return r.Story.ID
	}
	return r.Post.ID
}

// AuthorID is the internal id of who made it.
func (r *Reference) AuthorID() string {
	if r.Story != nil {
		return r.Story.AuthorID
	}
	return r.Post.AuthorID
}

// TargetIDs identify the community or wall that it stands in.
func (r *Reference) TargetIDs() (kind, id, publicID string) {
	if s := r.Story; s != nil {
		return s.TargetType, s.TargetID, s.TargetPublicID
	}
	return r.Post.TargetType, r.Post.TargetID, r.Post.TargetPublicID
}

// Home is where it lives, and what refers to it.
func (r *Reference) Home() region.Code { return service.HomeOf(r.ID()) }

// RequireSee refuses what is gone or has ended, what the caller may not see, and posts that wait for a moderator, but for
// their authors and for moderators. It completes the place.
func (r *Reference) RequireSee(caller *auth.Caller, now time.Time) error {
	switch {
	case r.Story != nil:
		if !r.Story.IsLive(now) {
			return fail.NotFound()
		}
		r.Target = r.Target.WithTarget(r.Story.TargetType, r.Story.TargetID)
		return r.Target.RequireSee(caller)
	case r.Post == nil || r.Post.DeletedAt != nil || r.content && r.Post.TargetType != OnContent:
		return fail.NotFound()
	}
	r.Target = r.Target.WithTarget(r.Post.TargetType, r.Post.TargetID)
	return r.Target.RequireSeePost(caller, r.Post)
}

// RequireComment refuses comments where the caller may not make any: as Place.RequireReact, and on stories of a community
// that takes no comments on them.
func (r *Reference) RequireComment(caller *auth.Caller) error {
	if err := r.Target.RequireReact(caller); err != nil {
		return err
	}
	if c := r.Target.Community; r.Story != nil && c != nil && !c.StoryComments {
		return fail.NotAllowed()
	}
	return nil
}

// Guard refuses the transaction where the post or story is gone meanwhile.
func (r *Reference) Guard(w *store.Tx, now time.Time) {
	if r.Story != nil {
		w.GuardLiveStory(r.Story.ID, now, fail.NotFound())
		return
	}
	w.GuardPost(*r.Post, fail.NotFound())
}

// WithTarget completes the place of what is in no community.
func (p Target) WithTarget(targetType, targetID string) Target {
	switch targetType {
	case "user":
		p.WallOwnerID = targetID
	case OnContent:
		p.Content = true
	}
	return p
}
