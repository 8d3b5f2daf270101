package importer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// postKind imports the posts in communities and on walls, without files.
var postKind = kind{
	name: "post", hasID: true, hasUpdate: true, community: "data.targetId",
	fields: []string{"targetType", "targetId", "dataType", "data", "text", "tags", "hashtags", "mentionees", "links", "metadata"},
	parse:  (*Importer).parsePost, check: (*Importer).checkPosts, insert: (*Importer).insertPosts,
}

func (i *Importer) parsePost(r *row) (err error) {
	m := &plazav1.CreatePostRequest{}
	if err := r.decode(i, m); err != nil {
		return err
	}
	if given := m.GetDataType(); given != "" && given != "text" && !strings.Contains(given, ".") {
		return errors.New("data.dataType: must be text or a custom name with a dot: polls, rooms, streams and files are not imported")
	}
	if r.draft, err = posting.NewDraft(m); err != nil {
		return inData(err)
	}
	switch {
	case len(r.draft.Attachments) > 0 || len(fileref.Mentioned(r.draft.Data)) > 0:
		return errors.New("data.data: must not refer to files, which are not imported")
	case r.draft.TargetType == "user":
		r.ownerID = cmp.Or(m.GetTargetId(), r.userID)
		return nil
	case r.draft.TargetType != "community":
		return errors.New("data.targetType: must be user or community")
	case candidates(m.GetTargetId()) == nil:
		return errors.New("data.targetId: must be " + idForm)
	}
	r.communityID = m.GetTargetId()
	return nil
}

// checkPosts finds which posts exist.
func (i *Importer) checkPosts(ctx context.Context, rows []*row) error {
	err := markExisting(ctx, i, rows, (*store.ReadBatch).PostsAlone, func(p content.Post) string { return p.ID })
	for _, r := range rows {
		if !r.present {
			i.takePostID(r)
		}
	}
	return err
}

// mentioned returns the public ids of the users whom a post mentions.
func (r *row) mentioned() []string {
	if r.draft == nil {
		return nil
	}
	return slices.Concat(service.Map(r.draft.GetMentionees(), (*plazav1.Mentionee).GetUserIds)...)
}

// takeMentions sets the mentions of a post. As in the API, mentions of unknown users are left out.
func (r *row) takeMentions(users map[string]people.User) {
	r.draft.Mentions = nil
	for _, m := range r.draft.GetMentionees() {
		mention := view.Mention{Type: "user"}
		for _, id := range m.GetUserIds() {
			if u := users[id]; u.ID != "" {
				mention.UserIDs, mention.UserInternalIDs = append(mention.UserIDs, id), append(mention.UserInternalIDs, u.ID)
			}
		}
		if mention.UserPublicIDs = mention.UserIDs; len(mention.UserIDs) > 0 {
			r.draft.Mentions = append(r.draft.Mentions, mention)
		}
	}
}

// takePostID completes the draft with its target, and sets the id of the post at the home of the target.
func (i *Importer) takePostID(r *row) {
	if r.err != nil {
		return
	}
	r.draft.TargetID = r.owner.ID
	if r.community != nil {
		r.draft.TargetID = r.community.ID
	}
	if r.draft.Home, r.err = i.Store.HomeOf(r.draft.TargetID); r.err == nil {
		r.internal, r.err = idAt(r.draft.Home, r.id)
	}
}

// insertPosts inserts the posts as published: reviews were the business of the platform that they come from.
func (*Importer) insertPosts(tx *store.Tx, _ string, rows []*row) {
	for _, r := range rows {
		posting.InsertPosts(tx, r.postRows(), r.draft)
	}
}

func (r *row) postRows() []content.Post {
	author := posting.PostContext{AuthorID: r.user.ID, AuthorPublicID: r.user.PublicID, TargetPublicID: r.draft.TargetID}
	if r.community == nil {
		author.TargetPublicID = r.owner.PublicID
	}
	rows := author.Rows(r.draft, r.createdAt, func() string { return r.internal })
	for n := range rows {
		rows[n].UpdatedAt, rows[n].EditedAt = r.updatedAt, r.updatedAt
	}
	return rows
}
