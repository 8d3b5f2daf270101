package comment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxText is the maximum length of a comment, in characters.
const maxText = 50_000

// CreateComment creates a comment on a post or story, or a reply to such a comment. It is stored at the home of the
// post or story.
func (s *Service) CreateComment(ctx context.Context, req *plazav1.CreateCommentRequest) (*plazav1.CommentResponse, error) {
	if err := check(req.GetData(), req.GetAttachments()); err != nil {
		return nil, err
	}
	mentions, err := posting.ResolveMentions(ctx, s.Deps, req.GetMentionees())
	if err != nil {
		return nil, err
	}
	l, parent, counts, err := s.loadReference(ctx, req)
	if err != nil {
		return nil, err
	}
	c := s.row(l, parent, req, mentions)
	c.Segment = counts.Of(l.ref.ID(), store.CountSegment) + 1
	tx := s.Store.NewTx(l.ref.Home())
	l.ref.Guard(tx, c.CreatedAt)
	if parent != nil {
		tx.GuardComment(parent.ID, fail.NotFound())
	}
	tx.InsertComment(c)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	k := l.known(c)
	k.Counts = store.Counts{c.ID: nil} // a new comment has no counts
	return s.respond(ctx, l.Caller.UserID, k)
}

// check validates the body and the attachments of a comment.
func check(data *structpb.Struct, attachments []*plazav1.Attachment) error {
	v, present := data.GetFields()["text"]
	if present {
		if _, isText := v.GetKind().(*structpb.Value_StringValue); !isText {
			return fail.Validation("data.text: must be a string")
		}
	}
	text := v.GetStringValue()
	if utf8.RuneCountInString(text) > maxText {
		return fail.Validation(fmt.Sprintf("data.text: must be at most %d characters", maxText))
	}
	if text == "" && len(attachments) == 0 {
		return fail.Validation("data.text: a comment needs text or an attachment")
	}
	for i, a := range attachments {
		if a.GetType() == "file" {
			return fail.Validation(fmt.Sprintf("attachments[%d].type: must be image or video", i))
		}
	}
	return nil
}

// loadReference reads the post or story to comment on and the parent comment, if any, and checks that the caller may
// comment.
func (s *Service) loadReference(ctx context.Context, m *plazav1.CreateCommentRequest) (*loaded, *store.Comment, store.Counts, error) {
	l := &loaded{Request: s.NewRequest(ctx)}
	counts := store.Counts{}
	var parent *store.Comment
	id := m.GetReferenceId()
	ref := visibility.ReadReference(l.Request, kindOf(m.GetReferenceType()), id)
	l.CountsOf([]string{id}, counts)
	if m.GetParentId() != "" {
		l.Comment(m.GetParentId(), &parent)
	}
	files := fileref.Read(l.ReadBatch, fileref.OfAttachments(m.GetAttachments())...)
	rules := textrules.Read(s.Deps, l.ReadBatch, service.HomeOf(id))
	if err := l.Run(ctx); err != nil {
		return nil, nil, nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, nil, nil, err
	}
	var err error
	if l.ref, err = ref.Resolve(l.Caller, s.Now()); err != nil {
		return nil, nil, nil, err
	}
	if m.GetParentId() != "" && (parent == nil || parent.DeletedAt != nil || parent.ReferenceID != id || parent.ApprovalStatus != store.Approved) {
		return nil, nil, nil, fail.NotFound()
	}
	if err := l.ref.RequireComment(l.Caller); err != nil {
		return nil, nil, nil, err
	}
	if err := files.Err(); err != nil {
		return nil, nil, nil, err
	}
	return l, parent, counts, rules.Require(ctx, l.Caller, textrules.TextOf(m.GetData()))
}

// kindOf returns the kind of what a request refers to, which is a post by default.
func kindOf(referenceType string) string { return cmp.Or(referenceType, store.ReferencePost) }

func (s *Service) row(l *loaded, parent *store.Comment, m *plazav1.CreateCommentRequest, mentions []view.Mention) store.Comment {
	now := s.Now()
	id := s.NewID(l.ref.Home())
	c := store.Comment{
		ID: id, ReferenceType: kindOf(m.GetReferenceType()), ReferenceID: l.ref.ID(), RootID: id, AuthorID: l.Caller.UserID, AuthorPublicID: l.User().PublicID,
		DataTypes: dataTypes(m.GetData(), m.GetAttachments()), Data: view.ObjectJSON(m.GetData()), Metadata: view.ObjectJSON(m.GetMetadata()),
		Mentionees: view.MentionsJSON(mentions), Attachments: view.AttachmentsJSON(m.GetAttachments()),
		ApprovalStatus: l.approval(), CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	c.TargetType, c.TargetID, c.TargetPublicID = l.ref.TargetIDs()
	if parent != nil {
		c.ParentID, c.RootID = parent.ID, parent.RootID
	}
	return c
}

// dataTypes returns the types of content in a comment.
func dataTypes(data *structpb.Struct, attachments []*plazav1.Attachment) []string {
	var types []string
	if data.GetFields()["text"].GetStringValue() != "" {
		types = append(types, "text")
	}
	for _, a := range attachments {
		if !slices.Contains(types, a.GetType()) {
			types = append(types, a.GetType())
		}
	}
	return types
}

func (l *loaded) approval() string {
	if c := l.ref.Target.Community; c != nil && c.CommentApproval && !l.ref.Target.Moderates(l.Caller) {
		return store.Pending
	}
	return store.Approved
}
