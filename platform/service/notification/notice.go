package notification

import (
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/view"
)

// noticesOf returns whom a change concerns, with the items of their trays. What no longer exists concerns no one.
func (r *rows) noticesOf(n service.Notice) []notice {
	notices := r.about(n)
	for i := range notices {
		notices[i].item.Identify(n.At)
	}
	return notices
}

func (r *rows) about(n service.Notice) []notice {
	switch n.Event {
	case "post.created", "post.approved":
		return r.aboutPost(n.ID)
	case "comment.created":
		return r.aboutComment(n.ID)
	case "post.addReaction":
		return r.aboutPostReaction(n)
	case "comment.addReaction":
		return r.aboutCommentReaction(n)
	case "follow.created":
		return r.aboutFollow(newFollower, n.OtherID, n.ID)
	case "follow.requested":
		return r.aboutFollow(followRequest, n.OtherID, n.ID)
	case "follow.accepted":
		return r.aboutFollow(followAccepted, n.ID, n.OtherID)
	case service.NoticeJoinRequested:
		return r.aboutJoinRequest(n)
	case service.NoticeJoinApproved:
		return inCommunity(joinApproved, n.ID, n.OtherID, n.ActorID)
	case service.NoticeJoinRejected:
		return inCommunity(joinRejected, n.ID, n.OtherID, n.ActorID)
	case service.NoticeInvited:
		return r.aboutInvitation(n.ID)
	}
	return nil
}

// aboutPost returns the notices of the users whom a published post mentions.
func (r *rows) aboutPost(id string) []notice {
	post := r.posts[id]
	if post == nil || post.DeletedAt != nil || post.FeedType != "published" {
		return nil
	}
	item := itemOf(postMention, post.TargetType, post.TargetID, post.TargetPublicID)
	if post.DataType == "poll" || post.StructureType == "poll" {
		item.Kind = pollMention
	}
	item.ReferenceType, item.ReferenceID, item.ActionID, item.ParentID = content.ReferencePost, id, id, post.ParentID
	return toEach(notice{item: item, actorID: post.AuthorID, postID: id}, mentioned(post.Mentionees))
}

// aboutComment returns the notices of a comment. Each user gets one: as mentioned, as the author of the parent, or as the author
// of the post or story.
func (r *rows) aboutComment(id string) []notice {
	c := r.comments[id]
	if c == nil || c.DeletedAt != nil || c.ApprovalStatus != content.Approved {
		return nil
	}
	base := notice{item: commentItem(*c), actorID: c.AuthorID, commentID: id}
	base.item.CommentID = id
	notices := toEach(base.of(pickKind(c, commentMention, replyMention), c.ReferenceType, c.ReferenceID), mentioned(c.Mentionees))
	if parent := r.comments[c.ParentID]; parent != nil && parent.DeletedAt == nil {
		notices = append(notices, toEach(base.of(commentReply, content.ReferenceComment, parent.ID), []string{parent.AuthorID})...)
	}
	if post := r.posts[c.ReferenceID]; post != nil {
		notices = append(notices, toEach(base.of(postComment, content.ReferencePost, post.ID), []string{post.AuthorID})...)
	}
	if story := r.stories[c.ReferenceID]; story != nil {
		notices = append(notices, toEach(base.of(storyComment, content.ReferenceStory, story.ID), []string{story.AuthorID})...)
	}
	return onePerUser(notices)
}

// aboutPostReaction returns the notice of the author of a post.
func (r *rows) aboutPostReaction(n service.Notice) []notice {
	post := r.posts[n.ID]
	if post == nil || post.DeletedAt != nil {
		return nil
	}
	item := itemOf(postReaction, post.TargetType, post.TargetID, post.TargetPublicID)
	item.ReferenceType, item.ReferenceID, item.ActionID, item.ParentID = content.ReferencePost, n.ID, n.OtherID, post.ParentID
	return toEach(notice{item: item, actorID: n.ActorID, postID: n.ID}, []string{post.AuthorID})
}

// aboutCommentReaction returns the notice of the author of a comment.
func (r *rows) aboutCommentReaction(n service.Notice) []notice {
	c := r.comments[n.ID]
	if c == nil || c.DeletedAt != nil {
		return nil
	}
	base := notice{item: commentItem(*c), actorID: n.ActorID, commentID: n.ID}
	base.item.ActionID = n.OtherID
	return toEach(base.of(pickKind(c, commentReaction, replyReaction), content.ReferenceComment, n.ID), []string{c.AuthorID})
}

// aboutFollow returns the notice of a user about a follow by or of another one.
func (r *rows) aboutFollow(kind, userID, actorID string) []notice {
	followerID, followeeID := actorID, userID
	if kind == followAccepted {
		followerID, followeeID = userID, actorID
	}
	follow := *r.follow(followerID, followeeID)
	if !follow.Active() {
		return nil
	}
	publicID := follow.FolloweePublicID
	if kind == followAccepted {
		publicID = follow.FollowerPublicID
	}
	item := itemOf(kind, "user", userID, publicID)
	item.ReferenceType, item.ReferenceID, item.ActionID = "user", userID, actorID
	return toEach(notice{item: item, actorID: actorID}, []string{userID})
}

// aboutJoinRequest returns the notices of the moderators of a community.
func (r *rows) aboutJoinRequest(n service.Notice) []notice {
	j := r.joinRequest(n)
	if j.pending == nil {
		return nil
	}
	ids := service.Map(j.moderators, func(m communities.MemberRow) string { return m.UserID })
	return toEach(inCommunity(joinRequest, n.ID, "", n.OtherID)[0], ids)
}

// aboutInvitation returns the notice of an invited user.
func (r *rows) aboutInvitation(id string) []notice {
	i := *r.invitation(id)
	if i == nil || i.Status != communities.JoinPending {
		return nil
	}
	kind := communityInvitation
	if i.TargetType == communities.InviteToRoom {
		kind = coHostInvitation
	}
	item := itemOf(kind, i.TargetType, i.TargetID, i.TargetID)
	item.ReferenceType, item.ReferenceID, item.ActionID = i.TargetType, i.TargetID, id
	return toEach(notice{item: item, actorID: i.InviterID}, []string{i.InvitedID})
}

// inCommunity returns the notice of a user about a join request.
func inCommunity(kind, communityID, userID, actorID string) []notice {
	item := itemOf(kind, "community", communityID, communityID)
	item.ReferenceType, item.ReferenceID, item.ActionID = "community", communityID, communityID
	return toEach(notice{item: item, actorID: actorID}, []string{userID})
}

func itemOf(kind, targetType, targetID, targetPublicID string) notify.TrayItem {
	return notify.TrayItem{Kind: kind, TargetType: targetType, TargetID: targetID, TargetPublicID: targetPublicID}
}

// commentItem returns what the items about a comment have in common.
func commentItem(c content.Comment) notify.TrayItem {
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
func pickKind(c *content.Comment, comment, reply string) string {
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
