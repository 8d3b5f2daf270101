package comment

import (
	"context"
	"slices"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateComment edits a comment; for its author and for moderators. Its state stays.
func (s *Service) UpdateComment(ctx context.Context, req *connect.Request[plazav1.UpdateCommentRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	mentions, err := s.Mentions(ctx, req.Msg.GetMentionees())
	if err != nil {
		return nil, err
	}
	return service.Edit(ctx, func() (*connect.Response[plazav1.CommentResponse], error) { return s.edit(ctx, req, mentions) })
}

// edit is UpdateComment unless somebody else changes the comment between: then it is service.ErrEdited.
func (s *Service) edit(ctx context.Context, req *connect.Request[plazav1.UpdateCommentRequest], mentions []view.Mention) (*connect.Response[plazav1.CommentResponse], error) {
	m := req.Msg
	var files *service.FileCheck
	var rules *service.TextRules
	l, err := s.load(ctx, m.GetCommentId(), func(f *service.First) {
		files = service.ReadFiles(f.Reads, service.AttachmentRefs(m.GetAttachments())...)
		rules = s.ReadTextRules(f.Reads, service.HomeOf(m.GetCommentId()))
	})
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.First.Caller, editRight(l.comment), l.ref.Place.Scope(l.comment.AuthorID)); err != nil {
		return nil, err
	}
	c, added, err := edited(*l.comment, m, mentions)
	if err != nil {
		return nil, err
	}
	if err := files.Only(added).Err(); err != nil {
		return nil, err
	}
	if err := rules.Require(ctx, l.First.Caller, service.WrittenIn(m.GetData())); err != nil {
		return nil, err
	}
	now := s.Now()
	var after *store.Comment
	w := s.Store.Write(service.HomeOf(c.ID))
	w.GuardCommentUnchanged(*l.comment, service.ErrEdited)
	w.EditComment(c, now, service.KeepsEditedAt(l.First.Caller, req.Header()))
	w.CommentAfter(c.ID, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*after))
}

func editRight(c *store.Comment) auth.Permission {
	if c.TargetType != "community" {
		return auth.EditUserFeedComment
	}
	return auth.EditCommunityComment
}

// edited is the comment as the request changes it, with the references to files that it did not make before. The error is a
// validation error.
func edited(c store.Comment, m *plazav1.UpdateCommentRequest, mentions []view.Mention) (store.Comment, []service.FileRef, error) {
	data := &structpb.Struct{}
	if err := data.UnmarshalJSON(c.Data); err != nil {
		return c, nil, err
	}
	if m.GetData() != nil {
		data = m.GetData()
	}
	held := view.Attachments(c.Attachments)
	attachments := service.Given(m.GetAttachments(), held, m.GetClear(), "attachments")
	if err := check(data, attachments); err != nil {
		return c, nil, err
	}
	if m.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(m.GetMetadata())
	}
	c.DataTypes, c.Data, c.Attachments = dataTypes(data, attachments), view.ObjectJSON(data), view.AttachmentsJSON(attachments)
	c.Mentionees = service.EditedMentions(m.GetMentionees(), mentions, c.Mentionees, m.GetClear())
	var added []service.FileRef
	for i, ref := range service.AttachmentRefs(attachments) {
		if !slices.ContainsFunc(held, func(h *plazav1.Attachment) bool { return service.SameFile(h, attachments[i]) }) {
			added = append(added, ref)
		}
	}
	return c, added, nil
}
