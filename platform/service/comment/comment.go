// Package comment implements comments on posts and stories.
//
// The approvalStatus of a comment changes as follows:
//
//	(new) -> approved    by a moderator, or where the community does not require approval
//	(new) -> pending     where it does
//	pending -> approved  by a moderator
//	pending -> declined  by a moderator
//
// Approved and declined are final. A comment that is not approved is visible only to its author and to moderators, is
// not counted, and takes no replies, flags or reactions. The community's setting applies when a comment is created;
// changing the setting later has no effect on pending comments. Its author or a moderator may edit and delete a
// comment in every state, and an edit keeps the state. Flags never hide a comment. A comment is readable as long as
// the post or story it is on.
package comment

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements CommentService.
type Service struct{ *service.Deps }

// New returns the service of comments.
func New(d *service.Deps) *Service { return &Service{d} }

// loaded is one comment that the caller may see, with the post or story it is on.
type loaded struct {
	*service.Request
	comment *store.Comment
	ref     *visibility.Reference
}

// load reads a comment that the caller may see, and whatever more adds to the same round trip. more may be nil.
func (s *Service) load(ctx context.Context, id string, more func(*service.Request)) (*loaded, error) {
	r := s.NewRequest(ctx)
	comment := readComment(r, id)
	if more != nil {
		more(r)
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return comment.resolve(r, s.Now())
}

// pending is a comment that a request reads.
type pending struct {
	row *store.Comment
	ref *visibility.Pending
}

func readComment(r *service.Request, id string) *pending {
	p := &pending{ref: visibility.ReadReferenceOfComment(r, id)}
	r.Comment(id, &p.row)
	return p
}

// resolve returns the comment once the reads have run, or 400400 if it is deleted or the caller may not see it.
func (p *pending) resolve(r *service.Request, now time.Time) (*loaded, error) {
	if p.row == nil || p.row.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	ref, err := p.ref.Resolve(r.Caller, now)
	if err != nil {
		return nil, err
	}
	return &loaded{Request: r, comment: p.row, ref: ref}, ref.Target.RequireSeeComment(r.Caller, p.row)
}

// known returns the rows that were read, for the response.
func (l *loaded) known(comments ...store.Comment) view.Rows {
	k := view.Rows{Comments: comments, Users: l.UserRows()}
	if l.ref.Target.Member != nil {
		k.Members = []store.Member{*l.ref.Target.Member}
	}
	return k
}

func (s *Service) respond(ctx context.Context, callerID string, k view.Rows) (*plazav1.CommentResponse, error) {
	a, err := s.View.Load(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return a.CommentAggregate(), nil
}

// GetComment returns one comment.
func (s *Service) GetComment(ctx context.Context, req *plazav1.GetCommentRequest) (*plazav1.CommentResponse, error) {
	l, err := s.load(ctx, req.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*l.comment))
}

// BatchGetComments returns up to ten comments in the order of the request, without those that the caller may not see.
func (s *Service) BatchGetComments(ctx context.Context, req *plazav1.BatchGetCommentsRequest) (*plazav1.CommentResponse, error) {
	r := s.NewRequest(ctx)
	var comments []*pending
	for _, id := range req.GetCommentIds() {
		comments = append(comments, readComment(r, id))
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	k := view.Rows{Users: r.UserRows()}
	for _, p := range comments {
		l, err := p.resolve(r, s.Now())
		if err != nil || slices.ContainsFunc(k.Comments, func(c store.Comment) bool { return c.ID == l.comment.ID }) {
			continue
		}
		k.Comments = append(k.Comments, *l.comment)
		if l.ref.Target.Member != nil {
			k.Members = append(k.Members, *l.ref.Target.Member)
		}
	}
	return s.respond(ctx, r.Caller.UserID, k)
}

// DeleteComment deletes a comment. The caller must be its author, a moderator or the owner of the wall. Its replies
// stay. A permanent deletion removes the row.
func (s *Service) DeleteComment(ctx context.Context, req *plazav1.DeleteCommentRequest) (*plazav1.StatusSuccessResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.StatusSuccessResponse, error) { return s.delete(ctx, req) })
}

// delete is one attempt of DeleteComment. It returns service.ErrConflict if the comment was reviewed or deleted
// concurrently.
func (s *Service) delete(ctx context.Context, req *plazav1.DeleteCommentRequest) (*plazav1.StatusSuccessResponse, error) {
	l, err := s.load(ctx, req.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, deleteRight(l.comment), l.ref.Target.Scope(l.comment.AuthorID)); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(service.HomeOf(l.comment.ID))
	tx.GuardCommentStatus(*l.comment, service.ErrConflict)
	tx.DeleteComment(*l.comment, s.Now())
	if req.GetPermanent() {
		tx.PurgeComments([]string{l.comment.ID})
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return service.StatusSuccess(), nil
}

func deleteRight(c *store.Comment) auth.Permission {
	if c.TargetType != "community" {
		return auth.DeleteUserFeedComment
	}
	return auth.DeleteCommunityComment
}
