package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdatePost edits a post. The caller must be its author or a moderator of its community. The post stays in its feed. In
// a community that reviews posts, the edit of a published post by its author becomes its pending edit.
func (s *Service) UpdatePost(ctx context.Context, req *plazav1.UpdatePostRequest) (*plazav1.PostResponse, error) {
	mentions, err := posting.ResolveMentions(ctx, s.Deps, req.GetMentionees())
	if err != nil {
		return nil, err
	}
	return service.RetryOnConflict(ctx, func() (*plazav1.PostResponse, error) { return s.edit(ctx, req, mentions) })
}

// edit is one attempt of UpdatePost. It returns service.ErrConflict if the post changed concurrently.
func (s *Service) edit(ctx context.Context, req *plazav1.UpdatePostRequest, mentions []view.Mention) (*plazav1.PostResponse, error) {
	var edit *posting.Edit
	r := s.newRequest(ctx, req.GetPostId())
	s.checkEdit(r, req, &edit)
	return s.change(ctx, r, func(tx *store.Tx) string {
		now := s.Now()
		if r.Post.FeedType == published && r.Target.ReviewsPostOf(r.Caller) {
			tx.GuardPostUnchanged(*r.Post, service.ErrConflict)
			tx.UpsertPendingEdit(edit.Pending(req, mentions, now))
			return ""
		}
		parent, added, dropped := edit.Rows(req, mentions, now, func() string { return s.NewID(r.Home()) })
		tx.GuardPostUnchanged(*r.Post, service.ErrConflict)
		tx.UpdatePost(parent, added, dropped, now, r.Caller.KeepsEditedAt)
		tx.DeletePendingEdits(parent.ID)
		tx.SelectCommunity(r.Target.Community)
		return "post.updated"
	})
}

// checkEdit adds the checks of an edit to a request, which set *into. A post that is not published may be edited by
// moderators, and by its author if the network's settings allow that.
func (s *Service) checkEdit(r *visibility.Request, m *plazav1.UpdatePostRequest, into **posting.Edit) {
	var settings network.Settings
	var children []content.Post
	var pending *content.PendingEdit
	r.PendingEdit(m.GetPostId(), &pending)
	r.Settings(s.Region, &settings)
	r.ChildrenOf([]string{m.GetPostId()}, &children)
	mentioned := fileref.Mentioned(view.ObjectJSON(m.GetData()))
	files := fileref.Read(r.ReadBatch, append(fileref.OfAttachments(m.GetAttachments()), mentioned...)...)
	rules := textrules.Read(s.Deps, r.ReadBatch, s.HomeOf(m.GetPostId()))
	r.CheckRight(auth.EditCommunityPost, auth.EditUserFeedPost)
	r.AfterRun(func(ctx context.Context) error {
		if r.Post.FeedType != published && !settings.IsAllowEditPostWhenReviewingEnabled && !r.Target.Moderates(r.Caller) {
			return fail.NotAllowed()
		}
		if r.Target.Moderates(r.Caller) && r.Post.AuthorID != r.Caller.UserID {
			pending = nil // moderators edit what they approved
		}
		edit, err := posting.NewEdit(m, r.Post, children, pending)
		if err != nil {
			return err
		}
		if err := files.Only(append(edit.Files, mentioned...)).Settle(ctx, r.Request, r.Target.IsPrivate()); err != nil {
			return err
		}
		*into = edit
		return rules.Require(ctx, r.Caller, edit.Text(m))
	})
}
