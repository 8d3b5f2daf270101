package comment

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateComment edits a comment. The caller must be its author or a moderator. Its state does not change. In a community
// that reviews comments, the edit of an approved comment by its author becomes its pending edit.
func (s *Service) UpdateComment(ctx context.Context, req *plazav1.UpdateCommentRequest) (*plazav1.CommentResponse, error) {
	mentions, err := posting.ResolveMentions(ctx, s.Deps, req.GetMentionees())
	if err != nil {
		return nil, err
	}
	return service.RetryOnConflict(ctx, func() (*plazav1.CommentResponse, error) { return s.edit(ctx, req, mentions) })
}

// edit is one attempt of UpdateComment. It returns service.ErrConflict if the comment changed concurrently.
func (s *Service) edit(ctx context.Context, m *plazav1.UpdateCommentRequest, mentions []view.Mention) (*plazav1.CommentResponse, error) {
	l := s.newOwn(ctx, m.GetCommentId(), auth.EditCommunityComment, auth.EditUserFeedComment)
	files := fileref.Read(l.ReadBatch, fileref.OfAttachments(m.GetAttachments())...)
	var pending *content.PendingEdit
	l.PendingEdit(m.GetCommentId(), &pending)
	var c content.Comment
	l.AfterRun(func(ctx context.Context) (err error) {
		var added []fileref.Reference
		if l.Target.Moderates(l.Caller) && l.comment.AuthorID != l.Caller.UserID {
			pending = nil // moderators edit what they approved
		}
		if c, added, err = edited(withPending(*l.comment, pending), m, mentions); err != nil {
			return err
		}
		return files.Only(added).Settle(ctx, l.Request, l.Target.IsPrivate())
	})
	textrules.Require(l.Request, s.HomeOf(m.GetCommentId()), textOf(freeform.Of(m.GetData()), m.GetLinks()))
	return s.change(ctx, l, func(tx *store.Tx) string {
		tx.GuardCommentUnchanged(*l.comment, service.ErrConflict)
		if c.ApprovalStatus == content.Approved && l.Target.ReviewsCommentOf(l.Caller) {
			tx.UpsertPendingEdit(pendingOf(c, s.Now()))
			return ""
		}
		tx.UpdateComment(c, s.Now(), l.Caller.KeepsEditedAt)
		tx.DeletePendingEdits(c.ID)
		return "comment.updated"
	})
}

// withPending returns a comment with the fields of a pending edit.
func withPending(c content.Comment, e *content.PendingEdit) content.Comment {
	if e != nil {
		c.Data, c.Metadata, c.Mentionees, c.Attachments, c.Annotations = e.Data, e.Metadata, e.Mentionees, e.Attachments, e.Annotations
	}
	return c
}

// pendingOf returns an edited comment as an edit that waits for approval.
func pendingOf(c content.Comment, now time.Time) content.PendingEdit {
	return content.PendingEdit{
		ReferenceID: c.ID, ReferenceType: content.ReferenceComment, TargetID: c.TargetID, AuthorID: c.AuthorID, Data: c.Data,
		Metadata:   c.Metadata,
		Mentionees: c.Mentionees, Attachments: c.Attachments, CreatedAt: now, Annotations: c.Annotations,
	}
}

// edited returns the comment after the edit, and the references to files that it did not have before. The error is a
// validation error.
func edited(c content.Comment, m *plazav1.UpdateCommentRequest, mentions []view.Mention) (content.Comment, []fileref.Reference, error) {
	data := freeform.Object(c.Data)
	if m.GetData() != nil {
		data = freeform.Of(m.GetData())
	}
	held := view.Attachments(c.Attachments)
	attachments := service.ReplaceList(m.GetAttachments(), held, m.GetClear(), "attachments")
	if err := check(data, attachments); err != nil {
		return c, nil, err
	}
	if m.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(m.GetMetadata())
	}
	c.DataTypes, c.Data, c.Attachments = dataTypes(data, attachments), data.Row(), view.AttachmentsJSON(attachments)
	c.Annotations = posting.EditedLinks(c.Annotations, m.GetLinks(), m.GetClear())
	c.Mentionees = posting.EditedMentions(m.GetMentionees(), mentions, c.Mentionees, m.GetClear())
	var added []fileref.Reference
	for i, ref := range fileref.OfAttachments(attachments) {
		if !slices.ContainsFunc(held, func(h *plazav1.Attachment) bool { return posting.SameFile(h, attachments[i]) }) {
			added = append(added, ref)
		}
	}
	return c, added, nil
}
