package story

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Limits of a story.
const (
	maxHyperlinks = 1
	maxFileID     = 100 // characters
)

// CreateStory creates a story. It is stored at the home of its target.
func (s *Service) CreateStory(ctx context.Context, req *plazav1.CreateStoryRequest) (*plazav1.StoryResponse, error) {
	data, items, err := check(req)
	if err != nil {
		return nil, err
	}
	mentions, err := posting.ResolveMentions(ctx, s.Deps, req.GetMentionees())
	if err != nil {
		return nil, err
	}
	t, settings, err := s.loadTarget(ctx, req)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	story := content.Story{
		ID: s.NewID(s.HomeOf(t.id)), TargetType: req.GetTargetType(), TargetID: t.id, TargetPublicID: t.publicID,
		AuthorID: t.User().ID, AuthorPublicID: t.User().PublicID, ReferenceID: req.GetReferenceId(), DataType: req.GetDataType(),
		Data: data.Row(), Items: view.ObjectsJSON(items), Metadata: view.ObjectJSON(req.GetMetadata()),
		Mentionees: view.MentionsJSON(mentions), CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(settings.StoryLifetime()),
	}
	auth.Created(ctx, "story", story.ID)
	tx := s.Store.NewTx(s.HomeOf(t.id))
	tx.GuardTarget(story.TargetType, story.TargetID, fail.NotFound())
	tx.InsertStory(story)
	if err := s.CommitChange(ctx, tx, "story.created", s.StoryChange(story)); err != nil {
		return nil, err
	}
	r := &visibility.Request{Request: t.Request, Reference: visibility.Reference{Story: &story, Target: t.target}}
	return s.respond(ctx, r, story, core.Counts{story.ID: nil}) // a new story has no counts
}

// newTarget is the target of a new story.
type newTarget struct {
	*service.Request
	id       string // internal
	publicID string
	target   visibility.Target
}

// loadTarget reads the target of a new story and checks that the caller may create one there: on the caller's own
// wall; in a community, if the caller manages its stories or the network lets every member create stories.
func (s *Service) loadTarget(ctx context.Context, m *plazav1.CreateStoryRequest) (*newTarget, network.Settings, error) {
	var settings network.Settings
	t := &newTarget{Request: s.NewUserRequest(ctx), id: m.GetTargetId(), publicID: m.GetTargetId()}
	t.Settings(s.Region, &settings)
	home := s.HomeOf(t.Caller.UserID)
	if m.GetTargetType() == inCommunity {
		home = s.HomeOf(t.id)
		visibility.ReadTarget(t.Request, inCommunity, t.id, &t.target)
		t.Check(func() error { return t.requireCreate(settings) })
	} else {
		t.Check(t.requireOwnWall)
	}
	fileref.RequireIn(t.Request, func() bool { return t.target.IsPrivate() || settings.IsPrivate() && t.target.Community == nil },
		fileRefs(m)...)
	textrules.Require(t.Request, home, textsOf(m))
	err := t.Run(ctx)
	return t, settings, err
}

// requireOwnWall makes the caller's wall the target, which must be what the request names.
func (t *newTarget) requireOwnWall() error {
	if t.publicID != t.User().PublicID {
		return fail.NotAllowed()
	}
	t.id, t.target.WallOwnerID = t.User().ID, t.User().ID
	return nil
}

// textsOf returns the user-written text and links of a story.
func textsOf(m *plazav1.CreateStoryRequest) textrules.UserText {
	w := textrules.TextOf(freeform.Of(m.GetData()))
	for _, item := range m.GetItems() {
		w.Texts = append(w.Texts, item.GetData().GetCustomText())
		w.Links = append(w.Links, item.GetData().GetUrl())
	}
	return w
}

// fileRefs returns the references of a story to files.
func fileRefs(m *plazav1.CreateStoryRequest) []fileref.Reference {
	data := freeform.Of(m.GetData())
	var refs []fileref.Reference
	switch m.GetDataType() {
	case "image":
		refs = append(refs, fileref.Reference{ID: data.Text("fileId"), Kind: "image", Field: "data.fileId"})
	case "video":
		refs = append(refs, fileref.Reference{ID: data.Text("videoFileId", "original"), Kind: "video", Field: "data.videoFileId.original"})
	}
	refs = append(refs, fileref.Mentioned(data)...)
	return append(refs, fileref.Reference{ID: data.Text("thumbnailFileId"), Kind: "image", Field: "data.thumbnailFileId"})
}

func (t *newTarget) requireCreate(settings network.Settings) error {
	if err := t.target.RequireSee(t.Caller); err != nil {
		return err
	}
	if err := auth.RequireMember(t.Caller, t.target.Scope("")); err != nil {
		return err
	}
	if settings.AllowAllUserToCreateStory {
		return nil
	}
	scope := t.target.Scope("")
	scope.Creating = true
	return auth.Require(t.Caller, auth.ManageCommunityStory, scope)
}

// check returns the body and the items of a story after validation.
func check(m *plazav1.CreateStoryRequest) (data freeform.Object, items []freeform.Object, err error) {
	data, err = checkedData(freeform.Of(m.GetData()), m.GetDataType())
	if err != nil {
		return nil, nil, err
	}
	if len(m.GetItems()) > maxHyperlinks {
		return nil, nil, fail.Validation(fmt.Sprintf("items: at most %d of them can be a hyperlink", maxHyperlinks))
	}
	for i, item := range m.GetItems() {
		if err := checkItem(i, item); err != nil {
			return nil, nil, err
		}
		items = append(items, itemOf(item))
	}
	return data, items, nil
}

// checkedData validates the fields that a body of the type has, and returns it with the default display mode.
func checkedData(data freeform.Object, dataType string) (freeform.Object, error) {
	for _, name := range []string{"text", "fileId", "thumbnailFileId", "imageDisplayMode"} {
		if value := data.Member(name); value != nil && !freeform.IsText(value) {
			return nil, fail.Validation(fmt.Sprintf("data.%s: must be a string", name))
		}
	}
	switch data.Text("imageDisplayMode") {
	case "fit", "fill":
	case "":
		if dataType != "text" {
			data = data.With("imageDisplayMode", freeform.Quote("fit"))
		}
	default:
		return nil, fail.Validation("data.imageDisplayMode: must be fit or fill")
	}
	switch {
	case dataType == "text" && data.Text("text") == "":
		return nil, fail.Validation("data.text: a text story needs text")
	case dataType == "image" && !isFileID(data.Text("fileId")):
		return nil, fail.Validation(fmt.Sprintf("data.fileId: an image story needs a file id of 1 to %d characters", maxFileID))
	case dataType == "video" && !isFileID(data.Text("videoFileId", "original")):
		return nil, fail.Validation(fmt.Sprintf("data.videoFileId.original: a video story needs a file id of 1 to %d characters", maxFileID))
	}
	return data, nil
}

func isFileID(id string) bool {
	n := utf8.RuneCountInString(id)
	return n >= 1 && n <= maxFileID
}

func checkItem(i int, item *plazav1.StoryItem) error {
	link, err := url.Parse(item.GetData().GetUrl())
	if err != nil || link.Host == "" || (link.Scheme != "http" && link.Scheme != "https") {
		return fail.Validation(fmt.Sprintf("items[%d].data.url: must be an absolute http or https address", i))
	}
	return nil
}

// itemOf returns an item as it is stored and returned.
func itemOf(item *plazav1.StoryItem) freeform.Object {
	data := freeform.Object(nil).With("url", freeform.Quote(item.GetData().GetUrl()))
	if text := item.GetData().GetCustomText(); text != "" {
		data = data.With("customText", freeform.Quote(text))
	}
	stored := freeform.Object(nil).With("type", freeform.Quote("hyperlink")).With("data", json.RawMessage(data))
	if item.GetPlacement() != nil {
		stored = stored.With("placement", freeform.Of(item.GetPlacement()).Row())
	}
	return stored
}
