package erasure

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
)

// deletePost marks a post as deleted, with its children.
func (s *Service) deletePost(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	post, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Post, key[0])
	if err != nil || post == nil || post.DeletedAt != nil {
		return false, err
	}
	tx := s.Store.NewTx(s.HomeOf(post.ID))
	tx.GuardPost(*post, errChanged)
	tx.DeletePost(*post, s.Now())
	return true, tx.Commit(ctx)
}

// deleteStory marks a story as deleted.
func (s *Service) deleteStory(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	rows, err := service.Read(ctx, s.Deps, (*store.ReadBatch).StoriesByID, key)
	if err != nil || len(rows) == 0 || rows[0].DeletedAt != nil {
		return false, err
	}
	tx := s.Store.NewTx(s.HomeOf(key[0]))
	tx.GuardStory(key[0], errChanged)
	tx.DeleteStory(rows[0], s.Now())
	return true, tx.Commit(ctx)
}

// deleteComment marks a comment as deleted. Comments of others on the user's wall go with the wall.
func (s *Service) deleteComment(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	comment, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Comment, key[0])
	if err != nil || comment == nil || comment.DeletedAt != nil {
		return false, err
	}
	tx := s.Store.NewTx(s.HomeOf(comment.ID))
	tx.GuardCommentStatus(*comment, errChanged)
	tx.DeleteComment(*comment, s.Now())
	return true, tx.Commit(ctx)
}

// deleteMessage marks a message as deleted. It keeps its segment.
func (s *Service) deleteMessage(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	message, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Message, key[0])
	if err != nil || message == nil || message.DeletedAt != nil {
		return false, err
	}
	tx := s.Store.NewTx(s.HomeOf(message.ID))
	tx.GuardMessage(message.ID, errChanged)
	tx.DeleteMessage(*message, s.Now())
	return true, tx.Commit(ctx)
}

// deleteReaction deletes a reaction and its count.
func (s *Service) deleteReaction(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	tx := s.Store.NewTx(s.HomeOf(key[0]))
	tx.DeleteReaction(content.Reaction{ReferenceID: key[0], UserID: key[1], Name: key[2]}, errChanged)
	return true, tx.Commit(ctx)
}

// deleteFile deletes a file and emits the deletion of its content.
func (s *Service) deleteFile(ctx context.Context, u subject, key []string) (changed bool, err error) {
	tx := s.Store.NewTx(s.HomeOf(key[0]))
	content := tx.DeleteFile(media.File{ID: key[0], OwnerID: u.id}, errChanged, s.Now(), s.Outbox.FirstTry())
	return true, s.Commit(ctx, tx, content)
}

// endMembership ends the membership of the user in a community. A community may be left without a moderator.
func (s *Service) endMembership(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	member, err := readPair(ctx, s, (*store.ReadBatch).Member, key)
	if err != nil || !member.IsMember() {
		return false, err
	}
	now := s.Now()
	tx := s.Store.NewTx(s.HomeOf(member.CommunityID))
	rows := tx.ChangeMembers(member.CommunityID, []communities.MemberChange{membership.Leave(*member, communities.StateLeft, now)}, now,
		now.Add(events.Grace))
	return true, s.Commit(ctx, tx, rows...)
}

// readPair reads the row whose key is a pair of ids.
func readPair[T any](ctx context.Context, s *Service, query func(*store.ReadBatch, string, string, **T), key []string) (*T, error) {
	var row *T
	reads := s.Store.NewReadBatch()
	query(reads, key[0], key[1], &row)
	err := reads.Run(ctx)
	return row, err
}

// leaveChannel ends the membership of the user in a channel.
func (s *Service) leaveChannel(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	user, err := readPair(ctx, s, (*store.ReadBatch).ChannelUser, key)
	if err != nil || !user.IsMember() {
		return false, err
	}
	now := s.Now()
	tx := s.Store.NewTx(s.HomeOf(user.ChannelID))
	tx.ChangeChannelUsers(user.ChannelID, []messaging.ChannelUserChange{chat.Leave(*user, now)}, now)
	return true, tx.Commit(ctx)
}

// endFollow ends a follow by or of the user.
func (s *Service) endFollow(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	follow, err := readPair(ctx, s, (*store.ReadBatch).Follow, key)
	if err != nil || !follow.Active() {
		return false, err
	}
	now := s.Now()
	ended := *follow
	ended.Status, ended.UpdatedAt = people.FollowNone, now
	tx := s.Store.NewTx(s.HomeOf(follow.FollowerID))
	rows := tx.ChangeFollow(people.FollowChange{Old: follow, New: ended}, now, now.Add(events.Grace))
	return true, s.Commit(ctx, tx, rows...)
}

// endBlock ends a block by or of the user.
func (s *Service) endBlock(ctx context.Context, _ subject, key []string) (changed bool, err error) {
	block, err := readPair(ctx, s, (*store.ReadBatch).Block, key)
	if err != nil || !block.IsActive() {
		return false, err
	}
	now := s.Now()
	ended := *block
	ended.Status, ended.UpdatedAt = people.BlockNone, now
	tx := s.Store.NewTx(s.HomeOf(block.BlockerID))
	row := tx.ChangeBlock(people.BlockChange{Old: block, New: ended}, now, now.Add(events.Grace))
	return true, s.Commit(ctx, tx, row)
}
