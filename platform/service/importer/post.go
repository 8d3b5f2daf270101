package importer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// posts are the posts in communities and on walls, without files.
var posts = kind{
	name: "post", hasID: true, hasUpdate: true,
	fields: []string{"targetType", "targetId", "dataType", "data", "text", "tags", "hashtags", "mentionees", "links", "metadata"},
	parse:  (*Importer).parsePost, check: (*Importer).checkPosts, write: (*Importer).writePosts,
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
	case r.draft.TargetType == targetUser:
		return nil
	case r.draft.TargetType != targetCommunity:
		return errors.New("data.targetType: must be user or community")
	case candidates(m.GetTargetId()) == nil:
		return errors.New("data.targetId: must be " + idForm)
	}
	return nil
}

// The types of targets.
const (
	targetUser      = "user"
	targetCommunity = "community"
)

// communityTarget returns the id in the file of the community of a post, "" if it is on a wall.
func (r *row) communityTarget() string {
	if r.draft.TargetType == targetCommunity {
		return r.draft.GetTargetId()
	}
	return ""
}

// wallOwner returns the public id of the owner of the wall of a post, the author by default.
func (r *row) wallOwner() string { return cmp.Or(r.draft.GetTargetId(), r.userID) }

// checkPosts finds the authors, targets and mentioned users of posts, and which posts exist.
func (i *Importer) checkPosts(ctx context.Context, rows []*row) error {
	if err := i.takeCommunities(ctx, rows, (*row).communityTarget, "data.targetId"); err != nil {
		return err
	}
	users, err := i.findUsers(ctx, usersOfPosts(rows))
	if err != nil {
		return err
	}
	var found []store.Post
	reads := i.Store.NewReadBatch()
	reads.PostsAlone(internalIDs(rows), &found)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for _, r := range rows {
		may := candidates(r.id)
		r.present = slices.ContainsFunc(found, func(p store.Post) bool { return slices.Contains(may, p.ID) })
		r.takePostUsers(users)
		if r.keep(); !r.present {
			i.takePostID(r)
		}
	}
	return nil
}

// usersOfPosts returns the public ids of all users that posts refer to.
func usersOfPosts(rows []*row) []string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.userID)
		if r.draft.TargetType == targetUser {
			ids = append(ids, r.wallOwner())
		}
		for _, m := range r.draft.GetMentionees() {
			ids = append(ids, m.GetUserIds()...)
		}
	}
	return ids
}

// takePostUsers sets the author, the owner of the wall and the mentions. As in the API, mentions of unknown users are left
// out.
func (r *row) takePostUsers(users map[string]store.User) {
	r.user = users[r.userID]
	r.requireUser("userId", r.userID, r.user)
	if r.draft.TargetType == targetUser {
		r.owner = users[r.wallOwner()]
		r.requireUser("data.targetId", r.wallOwner(), r.owner)
	}
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

// writePosts inserts the posts as published: reviews were the business of the platform that they come from.
func (i *Importer) writePosts(ctx context.Context, rows []*row) error {
	txs := i.newTxs()
	for _, r := range rows {
		if r.present {
			continue
		}
		tx, err := txs.at(r.internal)
		if err != nil {
			return err
		}
		posting.InsertPosts(tx, r.postRows(), r.draft)
	}
	return txs.commit(ctx)
}

func (r *row) postRows() []store.Post {
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
