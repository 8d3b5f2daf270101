package flag

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
)

// flagged is the target of flags. One field is set, or none if the target does not exist.
type flagged struct {
	post    *store.Post
	comment *store.Comment
	story   *store.Story
	message *store.Message
	user    *store.User
}

// readFlagged reads the target of an item.
func (s *Service) readFlagged(ctx context.Context, i store.FlagItem) (o flagged, err error) {
	all, err := s.readAllFlagged(ctx, []store.FlagItem{i})
	return all[i.TargetID], err
}

// readAllFlagged reads the targets of items.
func (s *Service) readAllFlagged(ctx context.Context, items []store.FlagItem) (map[string]flagged, error) {
	ids := map[store.FlagTarget][]string{}
	for _, i := range items {
		ids[i.TargetType] = append(ids[i.TargetType], i.TargetID)
	}
	var posts []store.Post
	var comments []store.Comment
	var stories []store.Story
	var messages []store.Message
	var users []store.User
	reads := s.Store.NewReadBatch()
	reads.PostsByID(ids[store.FlagPost], &posts)
	reads.CommentsByID(ids[store.FlagComment], &comments)
	reads.StoriesByID(ids[store.FlagStory], &stories)
	reads.MessagesByID(ids[store.FlagMessage], &messages)
	reads.Users(ids[store.FlagUser], &users)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	all := map[string]flagged{}
	addFlagged(all, posts, func(p *store.Post) (string, flagged) { return p.ID, flagged{post: p} })
	addFlagged(all, comments, func(c *store.Comment) (string, flagged) { return c.ID, flagged{comment: c} })
	addFlagged(all, stories, func(s *store.Story) (string, flagged) { return s.ID, flagged{story: s} })
	addFlagged(all, messages, func(m *store.Message) (string, flagged) { return m.ID, flagged{message: m} })
	addFlagged(all, users, func(u *store.User) (string, flagged) { return u.ID, flagged{user: u} })
	return all, nil
}

func addFlagged[T any](all map[string]flagged, rows []T, convert func(*T) (string, flagged)) {
	for i := range rows {
		id, o := convert(&rows[i])
		all[id] = o
	}
}

// isDeleted reports whether the target is deleted or does not exist.
func (o flagged) isDeleted() bool {
	switch {
	case o.post != nil:
		return o.post.DeletedAt != nil
	case o.comment != nil:
		return o.comment.DeletedAt != nil
	case o.story != nil:
		return o.story.DeletedAt != nil
	case o.message != nil:
		return o.message.DeletedAt != nil
	case o.user != nil:
		return o.user.DeletedAt != nil
	}
	return true
}

// isRemoved reports whether the target is deleted or declined.
func (o flagged) isRemoved() bool {
	return o.isDeleted() || o.post != nil && o.post.FeedType == "declined" || o.comment != nil && o.comment.ApprovalStatus == store.Declined
}

// placeID returns the community or channel of the target.
func (o flagged) placeID() string {
	switch {
	case o.post != nil:
		return flags.CommunityOf(o.post.TargetType, o.post.TargetID)
	case o.comment != nil:
		return flags.CommunityOf(o.comment.TargetType, o.comment.TargetID)
	case o.story != nil:
		return flags.CommunityOf(o.story.TargetType, o.story.TargetID)
	case o.message != nil:
		return o.message.ChannelID
	}
	return ""
}

// recompute adds to a transaction that changes the flags of the target the changes of what depends on them.
func (o flagged) recompute(tx *store.Tx, now time.Time) {
	switch {
	case o.post != nil:
		tx.RecomputePostFlags(*o.post)
		tx.ApplyFlagsToPost(*o.post, 0, now)
	case o.comment != nil:
		tx.RecomputeCommentFlags(*o.comment)
		tx.ApplyFlagsToComment(*o.comment, 0, now)
	case o.story != nil:
		tx.RecomputeStoryFlags(o.story.ID)
		tx.ApplyFlagsToStory(*o.story, 0, now)
	case o.message != nil:
		tx.RecomputeMessageFlags(o.message.ID)
		tx.ApplyFlagsToMessage(o.message.ID, 0, now)
	case o.user != nil:
		tx.RecomputeUserFlags(o.user.ID)
	}
}
