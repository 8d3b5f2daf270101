package notification

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// maxModerators is the maximum number of moderators of a community who are told about a join request.
const maxModerators = 100

// noticesOf returns whom a notice concerns, with the items of their trays. What no longer exists concerns no one.
func (s *Service) noticesOf(ctx context.Context, n service.Notice) ([]notice, error) {
	notices, err := s.about(ctx, n)
	for i := range notices {
		notices[i].item.Identify(n.At)
	}
	return notices, err
}

func (s *Service) about(ctx context.Context, n service.Notice) ([]notice, error) {
	switch n.Event {
	case "post.created", "post.approved":
		return s.aboutPost(ctx, n.ID)
	case "comment.created":
		return s.aboutComment(ctx, n.ID)
	case "post.addReaction":
		return s.aboutPostReaction(ctx, n)
	case "comment.addReaction":
		return s.aboutCommentReaction(ctx, n)
	case "follow.created":
		return s.aboutFollow(ctx, newFollower, n.OtherID, n.ID)
	case "follow.requested":
		return s.aboutFollow(ctx, followRequest, n.OtherID, n.ID)
	case "follow.accepted":
		return s.aboutFollow(ctx, followAccepted, n.ID, n.OtherID)
	case service.NoticeJoinRequested:
		return s.aboutJoinRequest(ctx, n)
	case service.NoticeJoinApproved:
		return inCommunity(joinApproved, n.ID, n.OtherID, n.ActorID), nil
	case service.NoticeJoinRejected:
		return inCommunity(joinRejected, n.ID, n.OtherID, n.ActorID), nil
	case service.NoticeInvited:
		return s.aboutInvitation(ctx, n.ID)
	}
	return nil, nil
}

// aboutPost returns the notices of the users whom a published post mentions.
func (s *Service) aboutPost(ctx context.Context, id string) ([]notice, error) {
	post, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Post, id)
	if err != nil || post == nil || post.DeletedAt != nil || post.FeedType != "published" {
		return nil, err
	}
	item := itemOf(postMention, post.TargetType, post.TargetID, post.TargetPublicID)
	if post.DataType == "poll" || post.StructureType == "poll" {
		item.Kind = pollMention
	}
	item.ReferenceType, item.ReferenceID, item.ActionID, item.ParentID = store.ReferencePost, id, id, post.ParentID
	return toEach(notice{item: item, actorID: post.AuthorID, postID: id}, mentioned(post.Mentionees)), nil
}

// aboutComment returns the notices of a comment. Each user gets one: as mentioned, as the author of the parent, or as the author
// of the post or story.
func (s *Service) aboutComment(ctx context.Context, id string) ([]notice, error) {
	var post *store.Post
	var story *store.Story
	var parent *store.Comment
	c, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Comment, id)
	if err != nil || c == nil || c.DeletedAt != nil || c.ApprovalStatus != store.Approved {
		return nil, err
	}
	reads := s.Store.NewReadBatch()
	reads.PostOfComment(id, &post)
	reads.StoryOfComment(id, &story)
	if c.ParentID != "" {
		reads.Comment(c.ParentID, &parent)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	base := notice{item: commentItem(*c), actorID: c.AuthorID, commentID: id}
	base.item.CommentID = id
	notices := toEach(base.of(pickKind(c, commentMention, replyMention), c.ReferenceType, c.ReferenceID), mentioned(c.Mentionees))
	if parent != nil && parent.DeletedAt == nil {
		notices = append(notices, toEach(base.of(commentReply, store.ReferenceComment, parent.ID), []string{parent.AuthorID})...)
	}
	switch {
	case post != nil:
		notices = append(notices, toEach(base.of(postComment, store.ReferencePost, post.ID), []string{post.AuthorID})...)
	case story != nil:
		notices = append(notices, toEach(base.of(storyComment, store.ReferenceStory, story.ID), []string{story.AuthorID})...)
	}
	return onePerUser(notices), nil
}

// aboutPostReaction returns the notice of the author of a post.
func (s *Service) aboutPostReaction(ctx context.Context, n service.Notice) ([]notice, error) {
	post, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Post, n.ID)
	if err != nil || post == nil || post.DeletedAt != nil {
		return nil, err
	}
	item := itemOf(postReaction, post.TargetType, post.TargetID, post.TargetPublicID)
	item.ReferenceType, item.ReferenceID, item.ActionID, item.ParentID = store.ReferencePost, n.ID, n.OtherID, post.ParentID
	return toEach(notice{item: item, actorID: n.ActorID, postID: n.ID}, []string{post.AuthorID}), nil
}

// aboutCommentReaction returns the notice of the author of a comment.
func (s *Service) aboutCommentReaction(ctx context.Context, n service.Notice) ([]notice, error) {
	c, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Comment, n.ID)
	if err != nil || c == nil || c.DeletedAt != nil {
		return nil, err
	}
	base := notice{item: commentItem(*c), actorID: n.ActorID, commentID: n.ID}
	base.item.ActionID = n.OtherID
	return toEach(base.of(pickKind(c, commentReaction, replyReaction), store.ReferenceComment, n.ID), []string{c.AuthorID}), nil
}

// aboutFollow returns the notice of a user about a follow by or of another one.
func (s *Service) aboutFollow(ctx context.Context, kind, userID, actorID string) ([]notice, error) {
	var follow *store.Follow
	followerID, followeeID := actorID, userID
	if kind == followAccepted {
		followerID, followeeID = userID, actorID
	}
	reads := s.Store.NewReadBatch()
	reads.Follow(followerID, followeeID, &follow)
	if err := reads.Run(ctx); err != nil || !follow.Active() {
		return nil, err
	}
	publicID := follow.FolloweePublicID
	if kind == followAccepted {
		publicID = follow.FollowerPublicID
	}
	item := itemOf(kind, "user", userID, publicID)
	item.ReferenceType, item.ReferenceID, item.ActionID = "user", userID, actorID
	return toEach(notice{item: item, actorID: actorID}, []string{userID}), nil
}

// aboutJoinRequest returns the notices of the moderators of a community.
func (s *Service) aboutJoinRequest(ctx context.Context, n service.Notice) ([]notice, error) {
	var pending *store.JoinRequest
	var moderators []store.MemberRow
	list := store.MemberList{CommunityID: n.ID, State: store.StateMember, Roles: []string{auth.RoleCommunityModerator}, Limit: maxModerators}
	list.AfterTime, list.AfterKey, list.AfterID = page.Cursor{}.Start(false)
	reads := s.Store.NewReadBatch()
	reads.PendingJoinRequest(n.ID, n.OtherID, &pending)
	reads.ListMembers(list, &moderators)
	if err := reads.Run(ctx); err != nil || pending == nil {
		return nil, err
	}
	ids := service.Map(moderators, func(m store.MemberRow) string { return m.UserID })
	return toEach(inCommunity(joinRequest, n.ID, "", n.OtherID)[0], ids), nil
}

// aboutInvitation returns the notice of an invited user.
func (s *Service) aboutInvitation(ctx context.Context, id string) ([]notice, error) {
	i, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Invitation, id)
	if err != nil || i == nil || i.Status != store.JoinPending {
		return nil, err
	}
	kind := communityInvitation
	if i.TargetType == store.InviteToRoom {
		kind = coHostInvitation
	}
	item := itemOf(kind, i.TargetType, i.TargetID, i.TargetID)
	item.ReferenceType, item.ReferenceID, item.ActionID = i.TargetType, i.TargetID, id
	return toEach(notice{item: item, actorID: i.InviterID}, []string{i.InvitedID}), nil
}

// inCommunity returns the notice of a user about a join request.
func inCommunity(kind, communityID, userID, actorID string) []notice {
	item := itemOf(kind, "community", communityID, communityID)
	item.ReferenceType, item.ReferenceID, item.ActionID = "community", communityID, communityID
	return toEach(notice{item: item, actorID: actorID}, []string{userID})
}

func itemOf(kind, targetType, targetID, targetPublicID string) store.TrayItem {
	return store.TrayItem{Kind: kind, TargetType: targetType, TargetID: targetID, TargetPublicID: targetPublicID}
}

// commentItem returns what the items about a comment have in common.
func commentItem(c store.Comment) store.TrayItem {
	item := itemOf("", c.TargetType, c.TargetID, c.TargetPublicID)
	item.ActionID, item.ParentID, item.RootID = c.ID, c.ParentID, c.RootID
	return item
}

// of returns the notice with another kind and reference.
func (n notice) of(kind, referenceType, referenceID string) notice {
	n.item.Kind, n.item.ReferenceType, n.item.ReferenceID = kind, referenceType, referenceID
	return n
}

// pickKind returns the kind for a comment or a reply.
func pickKind(c *store.Comment, comment, reply string) string {
	if c.ParentID != "" {
		return reply
	}
	return comment
}

// toEach returns the notice for each of some users.
func toEach(n notice, userIDs []string) []notice {
	return service.Map(userIDs, func(id string) notice {
		one := n
		one.item.UserID = id
		return one
	})
}

// onePerUser returns the first notice of each user.
func onePerUser(notices []notice) []notice {
	var first []notice
	for _, n := range notices {
		if !slices.ContainsFunc(first, func(other notice) bool { return other.item.UserID == n.item.UserID }) {
			first = append(first, n)
		}
	}
	return first
}

// mentioned returns the internal ids of mentioned users, each once.
func mentioned(mentionees []byte) []string {
	var ids []string
	for _, m := range view.Mentions(mentionees) {
		ids = append(ids, m.UserInternalIDs...)
	}
	return service.Distinct(ids)
}
