package comment

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateComment edits a comment. The caller must be its author or a moderator. Its state does not change.
func (s *Service) UpdateComment(ctx context.Context, req *plazav1.UpdateCommentRequest) (*plazav1.CommentResponse, error) {
	mentions, err := posting.ResolveMentions(ctx, s.Deps, req.GetMentionees())
	if err != nil {
		return nil, err
	}
	return service.RetryOnConflict(ctx, func() (*plazav1.CommentResponse, error) { return s.edit(ctx, req, mentions) })
}

// edit is one attempt of UpdateComment. It returns service.ErrConflict if the comment changed concurrently.
func (s *Service) edit(ctx context.Context, m *plazav1.UpdateCommentRequest, mentions []view.Mention) (*plazav1.CommentResponse, error) {
	var files *fileref.Check
	var rules *textrules.Rules
	l, err := s.load(ctx, m.GetCommentId(), func(f *service.Request) {
		files = fileref.Read(f.ReadBatch, fileref.OfAttachments(m.GetAttachments())...)
		rules = textrules.Read(s.Deps, f.ReadBatch, service.HomeOf(m.GetCommentId()))
	})
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, editRight(l.comment), l.ref.Target.Scope(l.comment.AuthorID)); err != nil {
		return nil, err
	}
	c, added, err := edited(*l.comment, m, mentions)
	if err != nil {
		return nil, err
	}
	if err := files.Only(added).Err(); err != nil {
		return nil, err
	}
	if err := rules.Require(ctx, l.Caller, textrules.TextOf(m.GetData())); err != nil {
		return nil, err
	}
	now := s.Now()
	var after *store.Comment
	tx := s.Store.NewTx(service.HomeOf(c.ID))
	tx.GuardCommentUnchanged(*l.comment, service.ErrConflict)
	tx.UpdateComment(c, now, l.Caller.KeepsEditedAt)
	tx.SelectComment(c.ID, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*after))
}

func editRight(c *store.Comment) auth.Permission {
	if c.TargetType != "community" {
		return auth.EditUserFeedComment
	}
	return auth.EditCommunityComment
}

// edited returns the comment after the edit, and the references to files that it did not have before. The error is a
// validation error.
func edited(c store.Comment, m *plazav1.UpdateCommentRequest, mentions []view.Mention) (store.Comment, []fileref.Reference, error) {
	data := &structpb.Struct{}
	if err := data.UnmarshalJSON(c.Data); err != nil {
		return c, nil, err
	}
	if m.GetData() != nil {
		data = m.GetData()
	}
	held := view.Attachments(c.Attachments)
	attachments := service.ReplaceList(m.GetAttachments(), held, m.GetClear(), "attachments")
	if err := check(data, attachments); err != nil {
		return c, nil, err
	}
	if m.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(m.GetMetadata())
	}
	c.DataTypes, c.Data, c.Attachments = dataTypes(data, attachments), view.ObjectJSON(data), view.AttachmentsJSON(attachments)
	c.Mentionees = posting.EditedMentions(m.GetMentionees(), mentions, c.Mentionees, m.GetClear())
	var added []fileref.Reference
	for i, ref := range fileref.OfAttachments(attachments) {
		if !slices.ContainsFunc(held, func(h *plazav1.Attachment) bool { return posting.SameFile(h, attachments[i]) }) {
			added = append(added, ref)
		}
	}
	return c, added, nil
}
