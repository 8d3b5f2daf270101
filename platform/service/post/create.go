package post

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Limits of a post's body.
const (
	maxTitle       = 150        // characters
	maxText        = 50_000     // characters
	maxCustom      = 100 * 1024 // bytes of JSON
	maxAttachments = 10
)

// CreatePost makes a post and, for each attachment, a child post. It is stored at the home of its target.
func (s *Service) CreatePost(ctx context.Context, req *connect.Request[plazav1.CreatePostRequest]) (*connect.Response[plazav1.PostAggregate], error) {
	d, err := draftOf(req.Msg)
	if err != nil {
		return nil, err
	}
	if err := s.resolve(ctx, d); err != nil {
		return nil, err
	}
	l, categories, err := s.loadTarget(ctx, d)
	if err != nil {
		return nil, err
	}
	posts := s.rows(l, d)
	counts := store.Counts{}
	w := s.Store.Write(d.home)
	w.GuardTarget(d.targetType, d.targetID, fail.NotFound())
	for _, p := range posts {
		w.NewPost(p)
		counts[p.ID] = nil // nothing to count of it yet
	}
	w.Count(d.targetID, store.FeedCounter(posts[0].FeedType), +1)
	w.CountsAfter([]string{d.targetID}, counts)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	k := l.known(posts[0])
	k.Categories, k.Counts, k.Children = categories, counts, posts[1:]
	return s.answer(ctx, l.First.Caller.UserID, k)
}

// draft is a request to post, checked and with its names resolved.
type draft struct {
	*plazav1.CreatePostRequest
	targetType  string
	targetID    string // internal id
	home        region.Code
	dataType    string
	data        *structpb.Struct
	attachments []*plazav1.Attachment
	mentions    []view.Mention
}

func draftOf(m *plazav1.CreatePostRequest) (*draft, error) {
	d := &draft{CreatePostRequest: m, targetType: m.GetTargetType(), dataType: m.GetDataType(), data: m.GetData(), attachments: m.GetAttachments()}
	if d.targetType == "" {
		d.targetType = onWall
	}
	if d.dataType == "" || d.dataType == "image" || d.dataType == "file" || d.dataType == "video" {
		d.dataType = "text" // the parent holds the text; its children are what the older types name
	}
	if d.data == nil {
		d.data = &structpb.Struct{Fields: map[string]*structpb.Value{}}
	}
	if m.GetText() != "" && d.data.GetFields()["text"] == nil {
		d.data.Fields["text"] = structpb.NewStringValue(m.GetText())
	}
	d.takeOlderMedia()
	return d, d.check()
}

// takeOlderMedia reads `data.images` and `data.files`, which older clients send instead of attachments.
func (d *draft) takeOlderMedia() {
	for field, kind := range map[string]string{"images": "image", "files": "file"} {
		for _, v := range d.data.GetFields()[field].GetListValue().GetValues() {
			d.attachments = append(d.attachments, &plazav1.Attachment{Type: kind, FileId: v.GetStringValue()})
		}
		if d.dataType == "text" {
			delete(d.data.GetFields(), field)
		}
	}
}

func (d *draft) check() error {
	if strings.Contains(d.dataType, ".") {
		return d.checkCustom()
	}
	if d.dataType != "text" {
		return fail.Validation("dataType: must be text or a dotted custom name")
	}
	for field, limit := range map[string]int{"title": maxTitle, "text": maxText} {
		v, present := d.data.GetFields()[field]
		if !present {
			continue
		}
		text, isText := v.GetKind().(*structpb.Value_StringValue)
		if !isText {
			return fail.Validation(fmt.Sprintf("data.%s: must be a string", field))
		}
		if utf8.RuneCountInString(text.StringValue) > limit {
			return fail.Validation(fmt.Sprintf("data.%s: must be at most %d characters", field, limit))
		}
	}
	if d.data.GetFields()["text"].GetStringValue() == "" && len(d.attachments) == 0 {
		return fail.Validation("data.text: a post needs text or an attachment")
	}
	if len(d.attachments) > maxAttachments {
		return fail.Validation(fmt.Sprintf("attachments: must be at most %d", maxAttachments))
	}
	return nil
}

func (d *draft) checkCustom() error {
	d.attachments = nil // a custom post has none
	raw, err := json.Marshal(d.data.AsMap())
	if err != nil || len(raw) > maxCustom {
		return fail.Validation(fmt.Sprintf("data: must be at most %d bytes", maxCustom))
	}
	return nil
}

// resolve finds the target's internal id and the mentioned users'.
func (s *Service) resolve(ctx context.Context, d *draft) error {
	mentions, err := s.Mentions(ctx, d.GetMentionees())
	if err != nil {
		return err
	}
	d.mentions = mentions
	d.targetID = d.GetTargetId()
	if d.targetType == onWall {
		if d.targetID == "" {
			d.targetID = auth.CallerFrom(ctx).PublicID
		}
		if d.targetID, err = s.Directory.ResolveOne(ctx, d.targetID); err != nil {
			return err
		}
	}
	d.home, err = region.HomeOf(d.targetID)
	if err != nil {
		return fail.NotFound()
	}
	return nil
}

// loadTarget reads the target and decides whether the caller may post on it.
func (s *Service) loadTarget(ctx context.Context, d *draft) (*loaded, []store.Category, error) {
	l := &loaded{First: s.Begin(ctx)}
	var owners []store.User
	var categories []store.Category
	if d.targetType == onCommunity {
		l.Community(d.targetID, &l.place.Community)
		l.CategoriesOfCommunity(d.targetID, &categories)
		if l.First.Caller.UserID != "" {
			l.Member(d.targetID, l.First.Caller.UserID, &l.place.Member)
		}
	} else {
		l.place.WallOwnerID = d.targetID
		l.Users([]string{d.targetID}, &owners)
	}
	if err := l.Run(ctx); err != nil {
		return nil, nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, nil, err
	}
	l.post = &store.Post{TargetID: d.targetID, TargetPublicID: d.targetID}
	if d.targetType == onWall {
		if len(owners) == 0 || owners[0].DeletedAt != nil {
			return nil, nil, fail.NotFound()
		}
		l.post.TargetPublicID = owners[0].PublicID
	}
	return l, categories, l.requirePost()
}

// requirePost returns nil where the caller may post: on any wall; in a community as a member, and where only its
// moderators can post, with the right to.
func (l *loaded) requirePost() error {
	if err := l.place.RequireSee(l.First.Caller); err != nil {
		return err
	}
	c := l.place.Community
	if c == nil {
		return nil
	}
	if err := auth.RequireMember(l.First.Caller, l.place.Scope("")); err != nil {
		return err
	}
	if c.OnlyAdminCanPost {
		return auth.Require(l.First.Caller, auth.CreatePrivilegedPost, l.place.Scope(""))
	}
	return nil
}

// rows makes the parent and its children.
func (s *Service) rows(l *loaded, d *draft) []store.Post {
	now := s.Now()
	parent := store.Post{
		ID: s.NewID(d.home), TargetType: d.targetType, TargetID: d.targetID, TargetPublicID: l.post.TargetPublicID,
		AuthorID: l.First.Caller.UserID, AuthorPublicID: l.User().PublicID, IsParent: true,
		FeedType: l.feedType(), DataType: d.dataType, StructureType: d.structure(), Data: view.ObjectJSON(d.data),
		Metadata: view.ObjectJSON(d.GetMetadata()), Tags: d.GetTags(), Hashtags: d.GetHashtags(), Mentionees: view.MentionsJSON(d.mentions),
		CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	posts := []store.Post{parent}
	for _, a := range d.attachments {
		child := parent
		child.ID, child.ParentID, child.IsParent = s.NewID(d.home), parent.ID, false
		child.DataType, child.StructureType = a.GetType(), a.GetType()
		child.Data = fileData(a)
		child.Metadata, child.Tags, child.Hashtags, child.Mentionees = []byte("{}"), nil, nil, []byte("[]")
		posts = append(posts, child)
		posts[0].Children = append(posts[0].Children, child.ID)
	}
	return posts
}

func fileData(a *plazav1.Attachment) []byte {
	field := "fileId"
	value := structpb.NewStringValue(a.GetFileId())
	if a.GetType() == "video" {
		field = "videoFileId"
		value = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"original": value}})
	}
	return view.ObjectJSON(&structpb.Struct{Fields: map[string]*structpb.Value{field: value}})
}

// structure is what the post and its children hold: one type, or `mixed`.
func (d *draft) structure() string {
	structure := d.dataType
	for i, a := range d.attachments {
		switch {
		case i == 0:
			structure = a.GetType()
		case structure != a.GetType():
			return "mixed"
		}
	}
	return structure
}

// feedType is where a new post goes: to the moderators where the community asks for it, unless the author is one.
func (l *loaded) feedType() string {
	if c := l.place.Community; c != nil && c.PostApproval && !l.place.Moderates(l.First.Caller) {
		return reviewing
	}
	return published
}
