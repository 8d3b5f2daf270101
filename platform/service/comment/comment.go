// Package comment implements comments on posts and stories.
//
// The approvalStatus of a comment changes as follows:
//
//	(new) -> approved    by a moderator, or where the community does not require approval
//	(new) -> pending     where it does
//	pending -> approved  by a moderator
//	pending -> declined  by a moderator
//
// In a community that reviews comments, an edit of an approved comment by its author waits as its pending edit, while the
// approved version stays: a moderator's approval makes the edit, and declining drops it. There is at most one; editing
// again replaces it, and an edit by a moderator or the deletion of the comment ends it.
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

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements CommentService.
type Service struct{ *service.Deps }

// New returns the service of comments.
func New(d *service.Deps) *Service { return &Service{d} }

// request is a request about a comment that the caller may see, and about the post or story it is on. What it reads is
// only valid once resolve has returned nil.
type request struct {
	*service.Request
	visibility.Reference
	pending *visibility.Pending // becomes the Reference
	comment *content.Comment
}

// newRequest starts a request about a comment. Its Run fails unless the caller may see the comment.
func (s *Service) newRequest(ctx context.Context, id string) *request {
	l := readComment(s.NewRequest(ctx), id)
	l.Check(l.resolve)
	return l
}

// newModerated is newRequest for operations of moderators.
func (s *Service) newModerated(ctx context.Context, id string) *request {
	l := s.newRequest(ctx, id)
	l.Check(func() error { return auth.Require(l.Caller, auth.ModeratePostAndComment, l.Target.Scope("")) })
	return l
}

// newOwn is newRequest for operations that require a permission on the comment, by its place.
func (s *Service) newOwn(ctx context.Context, id string, inCommunity, elsewhere auth.Permission) *request {
	l := s.newRequest(ctx, id)
	visibility.CheckRight(l.Request, &l.Target, inCommunity, elsewhere, func() string { return l.comment.AuthorID })
	return l
}

// readComment adds the reads of a comment to r.
func readComment(r *service.Request, id string) *request {
	l := &request{Request: r, pending: visibility.ReadReferenceOfComment(r, id)}
	r.Comment(id, &l.comment)
	return l
}

// resolve sets the Reference once the reads have run. It is 400400 if the comment is deleted or the caller may not see
// it.
func (l *request) resolve() error {
	if l.comment == nil || l.comment.DeletedAt != nil {
		return fail.NotFound()
	}
	ref, err := l.pending.Resolve(l.Caller, l.Deps.Now())
	if err != nil {
		return err
	}
	l.Reference = *ref
	return l.Target.RequireSeeComment(l.Caller, l.comment)
}

// known returns the rows that were read, for the response.
func (l *request) known(comments ...content.Comment) view.Rows {
	k := view.Rows{Comments: comments, Users: l.UserRows()}
	if l.Target.Member != nil {
		k.Members = []communities.Member{*l.Target.Member}
	}
	return k
}

func (s *Service) respond(ctx context.Context, callerID string, k view.Rows) (*plazav1.CommentResponse, error) {
	a, err := s.View.Load(ctx, s.Store, callerID, k)
	return view.Fill(a, &plazav1.CommentResponse{}), err
}

// GetComment returns one comment.
func (s *Service) GetComment(ctx context.Context, req *plazav1.GetCommentRequest) (*plazav1.CommentResponse, error) {
	l := s.newRequest(ctx, req.GetCommentId())
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*l.comment))
}

// BatchGetComments returns up to ten comments in the order of the request, without those that the caller may not see.
func (s *Service) BatchGetComments(ctx context.Context, req *plazav1.BatchGetCommentsRequest) (*plazav1.CommentResponse, error) {
	r := s.NewRequest(ctx)
	var comments []*request
	for _, id := range req.GetCommentIds() {
		comments = append(comments, readComment(r, id))
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	k := view.Rows{Users: r.UserRows()}
	for _, l := range comments {
		if l.resolve() != nil || slices.ContainsFunc(k.Comments, func(c content.Comment) bool { return c.ID == l.comment.ID }) {
			continue
		}
		known := l.known(*l.comment)
		k.Comments, k.Members = append(k.Comments, known.Comments...), append(k.Members, known.Members...)
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
	l := s.newOwn(ctx, req.GetCommentId(), auth.DeleteCommunityComment, auth.DeleteUserFeedComment)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(l.comment.ID))
	tx.GuardCommentStatus(*l.comment, service.ErrConflict)
	tx.DeleteComment(*l.comment, s.Now())
	if req.GetPermanent() {
		tx.PurgeComments([]string{l.comment.ID})
	}
	return service.StatusSuccess(), s.CommitChange(ctx, tx, "comment.deleted", s.CommentChange(*l.comment))
}
