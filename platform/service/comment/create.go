package comment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxText is the maximum length of a comment, in characters.
const maxText = 50_000

var errUnapproved = fail.Forbidden(fmt.Sprintf("At most %d of your comments on a post or story can wait for approval or be declined",
	content.MaxUnapprovedComments))

// CreateComment creates a comment on a post or story, or a reply to such a comment. It is stored at the home of the
// post or story.
func (s *Service) CreateComment(ctx context.Context, req *plazav1.CreateCommentRequest) (*plazav1.CommentResponse, error) {
	if err := check(freeform.Of(req.GetData()), req.GetAttachments()); err != nil {
		return nil, err
	}
	mentions, err := posting.ResolveMentions(ctx, s.Deps, req.GetMentionees())
	if err != nil {
		return nil, err
	}
	d, err := s.loadDraft(ctx, req)
	if err != nil {
		return nil, err
	}
	c := s.row(d, mentions)
	auth.Created(ctx, "comment", c.ID)
	tx := s.Store.NewTx(d.Home())
	d.Guard(tx, c.CreatedAt)
	if d.parent != nil {
		tx.GuardComment(d.parent.ID, fail.NotFound())
	}
	if c.ApprovalStatus == content.Pending {
		tx.GuardUnapprovedComments(c.ReferenceID, c.AuthorID, errUnapproved)
	}
	tx.InsertComment(c)
	if err := s.CommitChange(ctx, tx, "comment.created", s.CommentChange(c)); err != nil {
		return nil, err
	}
	l := &request{Request: d.Request.Request, Reference: d.Reference}
	k := l.known(c)
	k.Counts = core.Counts{c.ID: nil} // a new comment has no counts
	k.IsNew = true
	return s.respond(ctx, d.Caller.UserID, k)
}

// check validates the body and the attachments of a comment.
func check(data freeform.Object, attachments []*plazav1.Attachment) error {
	value := data.Member("text")
	if value != nil && !freeform.IsText(value) {
		return fail.Validation("data.text: must be a string")
	}
	text := freeform.TextOf(value)
	if utf8.RuneCountInString(text) > maxText {
		return fail.Validation(fmt.Sprintf("data.text: must be at most %d characters", maxText))
	}
	if text == "" && len(attachments) == 0 {
		return fail.Validation("data.text: a comment needs text or an attachment")
	}
	for i, a := range attachments {
		if a.GetType() != "image" && a.GetType() != "video" {
			return fail.Validation(fmt.Sprintf("attachments[%d].type: must be image or video", i))
		}
	}
	return nil
}

// textOf returns the text of a comment and of its links.
func textOf(data freeform.Object, links []*plazav1.Link) textrules.UserText {
	t := textrules.TextOf(data)
	t.Texts = append(t.Texts, posting.LinkTexts(links)...)
	return t
}

// draft is a comment to create.
type draft struct {
	*visibility.Request // of the post or story to comment on
	*plazav1.CreateCommentRequest
	parent *content.Comment // nil without one
	counts core.Counts
}

// loadDraft reads the post or story to comment on and the parent comment, if any, and checks that the caller may
// comment.
func (s *Service) loadDraft(ctx context.Context, m *plazav1.CreateCommentRequest) (*draft, error) {
	id := m.GetReferenceId()
	d := &draft{CreateCommentRequest: m, counts: core.Counts{}}
	d.Request = visibility.NewRequest(s.NewUserRequest(ctx), kindOf(m.GetReferenceType()), id)
	d.CountsOf([]string{id}, d.counts)
	if m.GetParentId() != "" {
		d.Comment(m.GetParentId(), &d.parent)
		d.Check(d.requireParent)
	}
	d.Check(func() error { return d.RequireComment(d.Caller) })
	hidden := contact.ReadHidden(d.Request.Request)
	d.AfterRun(func(ctx context.Context) error { return d.requireContact(ctx, hidden) })
	fileref.RequireIn(d.Request.Request, func() bool { return d.Target.IsPrivate() }, fileref.OfAttachments(m.GetAttachments())...)
	textrules.Require(d.Request.Request, s.HomeOf(id), textOf(freeform.Of(m.GetData()), m.GetLinks()))
	return d, d.Run(ctx)
}

// requireContact returns an error if a block is between the caller and the author of the post, story or parent. The
// moderators of a target answer everyone there.
func (d *draft) requireContact(ctx context.Context, hidden *contact.Hidden) error {
	if d.Target.Moderates(d.Caller) {
		return nil
	}
	authors := []string{d.AuthorID()}
	if d.parent != nil {
		authors = append(authors, d.parent.AuthorID)
	}
	return hidden.RequireAnswer(ctx, authors...)
}

// requireParent returns 400400 unless the parent is an approved comment on the same post or story.
func (d *draft) requireParent() error {
	if p := d.parent; p == nil || p.DeletedAt != nil || p.ReferenceID != d.GetReferenceId() || p.ApprovalStatus != content.Approved {
		return fail.NotFound()
	}
	return nil
}

// kindOf returns the kind of what a request refers to, which is a post by default.
func kindOf(referenceType string) string { return cmp.Or(referenceType, content.ReferencePost) }

func (s *Service) row(d *draft, mentions []view.Mention) content.Comment {
	now := s.Now()
	id := s.NewID(d.Home())
	c := content.Comment{
		ID: id, ReferenceType: kindOf(d.GetReferenceType()), ReferenceID: d.ID(), RootID: id, AuthorID: d.Caller.UserID,
		AuthorPublicID: d.User().PublicID,
		DataTypes:      dataTypes(freeform.Of(d.GetData()), d.GetAttachments()), Data: view.ObjectJSON(d.GetData()),
		Metadata:   view.ObjectJSON(d.GetMetadata()),
		Mentionees: view.MentionsJSON(mentions), Attachments: view.AttachmentsJSON(d.GetAttachments()),
		Annotations: posting.EditedLinks(nil, d.GetLinks(), nil), ApprovalStatus: d.approval(),
		Segment: d.counts.Of(d.ID(), core.CountSegment) + 1, CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	c.TargetType, c.TargetID, c.TargetPublicID = d.TargetIDs()
	if d.parent != nil {
		c.ParentID, c.RootID = d.parent.ID, d.parent.RootID
	}
	return c
}

// dataTypes returns the types of content in a comment.
func dataTypes(data freeform.Object, attachments []*plazav1.Attachment) []string {
	var types []string
	if data.Text("text") != "" {
		types = append(types, "text")
	}
	for _, a := range attachments {
		if !slices.Contains(types, a.GetType()) {
			types = append(types, a.GetType())
		}
	}
	return types
}

func (d *draft) approval() string {
	if d.Target.ReviewsCommentOf(d.Caller) {
		return content.Pending
	}
	return content.Approved
}
