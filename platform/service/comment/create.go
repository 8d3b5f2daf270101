package comment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxText is the most characters of a comment.
const maxText = 50_000

// CreateComment makes a comment on a post or story, or a reply to a comment on it. It is stored at the home of what it
// stands on.
func (s *Service) CreateComment(ctx context.Context, req *connect.Request[plazav1.CreateCommentRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	if err := check(req.Msg.GetData(), req.Msg.GetAttachments()); err != nil {
		return nil, err
	}
	mentions, err := s.Mentions(ctx, req.Msg.GetMentionees())
	if err != nil {
		return nil, err
	}
	l, parent, counts, err := s.loadReference(ctx, req.Msg)
	if err != nil {
		return nil, err
	}
	c := s.row(l, parent, req.Msg, mentions)
	c.Segment = counts.Of(l.ref.ID(), store.CountSegment) + 1
	w := s.Store.Write(l.ref.Home())
	l.ref.Guard(w, c.CreatedAt)
	if parent != nil {
		w.GuardComment(parent.ID, fail.NotFound())
	}
	w.NewComment(c)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	k := l.known(c)
	k.Counts = store.Counts{c.ID: nil} // nothing to count of it yet
	return s.answer(ctx, l.First.Caller.UserID, k)
}

// check says whether a comment can hold a body and attachments.
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

// loadReference reads the post or story to comment on, the comment to answer, if any, and decides whether the caller may.
func (s *Service) loadReference(ctx context.Context, m *plazav1.CreateCommentRequest) (*loaded, *store.Comment, store.Counts, error) {
	l := &loaded{First: s.Begin(ctx)}
	counts := store.Counts{}
	var parent *store.Comment
	id := m.GetReferenceId()
	l.Refer(kindOf(m.GetReferenceType()), id, &l.ref)
	l.CountsOf([]string{id}, counts)
	if m.GetParentId() != "" {
		l.Comment(m.GetParentId(), &parent)
	}
	files := service.ReadFiles(l.Reads, service.AttachmentRefs(m.GetAttachments())...)
	rules := s.ReadTextRules(l.Reads, service.HomeOf(id))
	if err := l.Run(ctx); err != nil {
		return nil, nil, nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, nil, nil, err
	}
	if err := l.ref.RequireSee(l.First.Caller, s.Now()); err != nil {
		return nil, nil, nil, err
	}
	if m.GetParentId() != "" && (parent == nil || parent.DeletedAt != nil || parent.ReferenceID != id || parent.ApprovalStatus != store.Approved) {
		return nil, nil, nil, fail.NotFound()
	}
	if err := l.ref.RequireComment(l.First.Caller); err != nil {
		return nil, nil, nil, err
	}
	if err := files.Err(); err != nil {
		return nil, nil, nil, err
	}
	return l, parent, counts, rules.Require(ctx, l.First.Caller, service.WrittenIn(m.GetData()))
}

// kindOf is what a request refers to; a post where it does not say.
func kindOf(referenceType string) string { return cmp.Or(referenceType, store.ReferencePost) }

func (s *Service) row(l *loaded, parent *store.Comment, m *plazav1.CreateCommentRequest, mentions []view.Mention) store.Comment {
	now := s.Now()
	id := s.NewID(l.ref.Home())
	c := store.Comment{
		ID: id, ReferenceType: kindOf(m.GetReferenceType()), ReferenceID: l.ref.ID(), RootID: id, AuthorID: l.First.Caller.UserID, AuthorPublicID: l.User().PublicID,
		DataTypes: dataTypes(m.GetData(), m.GetAttachments()), Data: view.ObjectJSON(m.GetData()), Metadata: view.ObjectJSON(m.GetMetadata()),
		Mentionees: view.MentionsJSON(mentions), Attachments: view.AttachmentsJSON(m.GetAttachments()),
		ApprovalStatus: l.approval(), CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	c.TargetType, c.TargetID, c.TargetPublicID = l.ref.Target()
	if parent != nil {
		c.ParentID, c.RootID = parent.ID, parent.RootID
	}
	return c
}

// dataTypes are what a comment holds.
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
	if c := l.ref.Place.Community; c != nil && c.CommentApproval && !l.ref.Place.Moderates(l.First.Caller) {
		return store.Pending
	}
	return store.Approved
}
