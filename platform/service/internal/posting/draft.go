package posting

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Limits of a post's body.
const (
	maxTitle       = 150       // characters
	maxText        = 50_000    // characters
	maxCustom      = 100 << 10 // bytes of JSON of a custom post
	maxAttachments = 10
	maxFileID      = 100 // characters
)

// Draft is a validated request to post. ResolveDraft completes it.
type Draft struct {
	*plazav1.CreatePostRequest
	TargetType  string // user, community or content
	TargetID    string // internal id
	Home        region.Code
	DataType    string
	Data        freeform.Object
	Attachments []*plazav1.Attachment
	Embedded    Embedded
	Mentions    []view.Mention
	PostID      string // of the post to create, if it is known already
}

// NewDraft validates a request to post. Its error is a validation error.
func NewDraft(m *plazav1.CreatePostRequest) (*Draft, error) {
	d := &Draft{
		CreatePostRequest: m, TargetType: m.GetTargetType(), DataType: m.GetDataType(), Data: freeform.Of(m.GetData()),
		Attachments: m.GetAttachments(),
	}
	if d.TargetType == "" {
		d.TargetType = "user"
	}
	if d.DataType == "" || d.DataType == "image" || d.DataType == "file" || d.DataType == "video" || d.DataType == "clip" ||
		d.DataType == "audio" {
		d.DataType = "text" // the parent has the text; its children have the files that the older types name
	}
	if m.GetText() != "" && d.Data.Member("text") == nil {
		d.Data = d.Data.With("text", freeform.Quote(m.GetText()))
	}
	if err := d.takeOlderMedia(); err != nil {
		return nil, err
	}
	if err := d.takeEmbed(); err != nil {
		return nil, err
	}
	if err := d.requireDataSize(d.Data); err != nil {
		return nil, err
	}
	return d, d.check()
}

// takeEmbed reads the id of the poll, stream or room of a post of such a type. The parent holds the text and also
// this id, so that a page of posts has all of them at once; what is embedded is a child post, like every other part
// of a post.
func (d *Draft) takeEmbed() error {
	kind, ok := embedKinds[d.DataType]
	if !ok {
		return nil
	}
	d.Embedded = Embedded{d.DataType, d.Data.Text(kind.field)}
	switch {
	case !region.ValidID(d.Embedded.ID):
		return fail.Validation("data." + kind.field + ": must be the id of a " + kind.name)
	case len(d.Attachments) > 0:
		return fail.Validation("attachments: a post with a " + kind.name + " must not have any")
	}
	d.DataType = "text"
	return nil
}

// takeOlderMedia reads `data.images` and `data.files`, which older clients send instead of attachments.
func (d *Draft) takeOlderMedia() error {
	for field, kind := range map[string]string{"images": "image", "files": "file"} {
		for _, value := range freeform.ListOf(d.Data.Member(field)) {
			id := freeform.TextOf(value)
			if n := utf8.RuneCountInString(id); n < 1 || n > maxFileID {
				return fail.Validation(fmt.Sprintf("data.%s: must be file ids of 1 to %d characters", field, maxFileID))
			}
			d.Attachments = append(d.Attachments, &plazav1.Attachment{Type: kind, FileId: id})
		}
		if d.DataType == "text" {
			d.Data = d.Data.Without(field)
		}
	}
	return nil
}

func (d *Draft) check() error {
	if strings.Contains(d.DataType, ".") {
		return d.checkCustom()
	}
	if d.DataType != "text" {
		return fail.Validation("dataType: must be text, image, file, video, clip, audio, poll, liveStream, room or a dotted custom name")
	}
	for field, limit := range map[string]int{"title": maxTitle, "text": maxText} {
		value := d.Data.Member(field)
		if value != nil && !freeform.IsText(value) {
			return fail.Validation(fmt.Sprintf("data.%s: must be a string", field))
		}
		if utf8.RuneCountInString(freeform.TextOf(value)) > limit {
			return fail.Validation(fmt.Sprintf("data.%s: must be at most %d characters", field, limit))
		}
	}
	if d.Data.Text("text") == "" && len(d.parts()) == 0 {
		return fail.Validation("data.text: a post needs text or an attachment")
	}
	if len(d.Attachments) > maxAttachments {
		return fail.Validation(fmt.Sprintf("attachments: must be at most %d", maxAttachments))
	}
	return nil
}

func (d *Draft) checkCustom() error {
	d.Attachments = nil // a custom post has no attachments
	return freeform.RequireSize("data", d.Data, maxCustom)
}

// requireDataSize returns a validation error if a request gives a post that is not custom too many fields of its own.
func (d *Draft) requireDataSize(given freeform.Object) error {
	if strings.Contains(d.DataType, ".") {
		return nil // see checkCustom
	}
	return freeform.RequireSize("data", given, freeform.MaxCustomBytes, "title", "text")
}

// ResolveDraft sets the internal ids of the target and of the mentioned users. callerID is the caller's public id; a
// draft without a target goes to the caller's wall. An unknown target is 400400.
func ResolveDraft(ctx context.Context, d *service.Deps, draft *Draft, callerID string) error {
	mentions, err := ResolveMentions(ctx, d, draft.GetMentionees())
	if err != nil {
		return err
	}
	draft.Mentions = mentions
	draft.TargetID = draft.GetTargetId()
	if draft.TargetType == visibility.OnContent {
		return draft.resolveContent(d, auth.CallerFrom(ctx))
	}
	if draft.TargetType == "user" {
		if draft.TargetID == "" {
			draft.TargetID = callerID
		}
		if draft.TargetID, err = d.Directory.ResolveOne(ctx, draft.TargetID); err != nil {
			return err
		}
	}
	draft.Home, err = d.Store.HomeOf(draft.TargetID)
	if err != nil {
		return fail.NotFound()
	}
	return nil
}

// resolveContent sets the caller's content target. An administrator has none and is refused later.
func (d *Draft) resolveContent(deps *service.Deps, caller *auth.Caller) error {
	if d.GetTargetId() == "" {
		return fail.Validation("targetId: is required for target type content")
	}
	home, err := deps.Store.HomeOf(caller.UserID)
	if err != nil {
		home = region.US
	}
	d.Home, d.TargetID = home, visibility.ContentTarget(home)
	return nil
}

// structure returns the type of content of the post and its children, or "mixed" if there are several.
func (d *Draft) structure() string {
	structure := d.DataType
	for i, part := range d.parts() {
		switch {
		case i == 0:
			structure = part.kind
		case structure != part.kind:
			return "mixed"
		}
	}
	return structure
}

// part is the content of a child post.
type part struct {
	kind string // the child's data type
	id   string // of the embedded poll, stream or room; empty for files
	data freeform.Object
}

// parts returns the content of the child posts, in their order.
func (d *Draft) parts() []part {
	var parts []part
	for _, a := range d.Attachments {
		parts = append(parts, part{kind: a.GetType(), data: fileData(a)})
	}
	if e := d.Embedded; e.ID != "" {
		data := freeform.Object(nil).With(embedKinds[e.Kind].field, freeform.Quote(e.ID))
		parts = append(parts, part{kind: e.Kind, id: e.ID, data: data})
	}
	return parts
}

func fileData(a *plazav1.Attachment) freeform.Object {
	id := freeform.Quote(a.GetFileId())
	if a.GetType() == "video" {
		video := freeform.Object(nil).With("original", id)
		// By which clients recognize a video.
		return freeform.Object(nil).With("videoFileId", json.RawMessage(video)).With("thumbnailFileId", freeform.Quote(""))
	}
	return freeform.Object(nil).With("fileId", id)
}

// RequireFiles adds the check of the draft's references to files to a request, which must read the target.
func (d *Draft) RequireFiles(r *service.Request, target *visibility.Target) {
	refs := append(fileref.OfAttachments(d.Attachments), fileref.Mentioned(d.Data)...)
	fileref.RequireIn(r, func() bool { return target.IsPrivate() }, refs...)
}

// Text returns the user-written text of the draft.
func (d *Draft) Text() textrules.UserText {
	t := textrules.TextOf(d.Data)
	t.Texts = slices.Concat(t.Texts, d.GetTags(), d.GetHashtags(), annotationTexts(d.GetLinks(), d.GetProductTags()))
	return t
}
