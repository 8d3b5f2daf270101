package notification

// The kinds of items, which are stored.
const (
	postMention         = "postMention"
	pollMention         = "pollMention"
	commentMention      = "commentMention"
	replyMention        = "replyMention"
	postReaction        = "postReaction"
	commentReaction     = "commentReaction"
	replyReaction       = "replyReaction"
	postComment         = "postComment"
	storyComment        = "storyComment"
	commentReply        = "commentReply"
	newFollower         = "newFollower"
	followRequest       = "followRequest"
	followAccepted      = "followAccepted"
	joinRequest         = "joinRequest"
	joinApproved        = "joinApproved"
	joinRejected        = "joinRejected"
	communityInvitation = "communityInvitation"
	coHostInvitation    = "coHostInvitation"
)

// kind is how clients see items of a kind.
type kind struct {
	category   string // trayItemCategory; empty where clients have none
	action     string // actionType
	actionType string // actionReferenceType
	text       string // follows the names of the actors
	event      string // name of the event in settings; empty if public clients have none
}

var kinds = map[string]kind{
	postMention:         {"mention_in_post", "mention", "post", "mentioned you in a post", "text-mention-post.created"},
	pollMention:         {"mention_in_poll", "mention", "post", "mentioned you in a poll", "text-mention-post.created"},
	commentMention:      {"mention_in_comment", "mention", "comment", "mentioned you in a comment", "text-mention-comment.created"},
	replyMention:        {"mention_in_reply", "mention", "comment", "mentioned you in a reply", "text-mention-comment.replied"},
	postReaction:        {"reaction_on_post", "reaction", "reaction", "reacted to your post", "post.reacted"},
	commentReaction:     {"reaction_on_comment", "reaction", "reaction", "reacted to your comment", "comment.reacted"},
	replyReaction:       {"reaction_on_reply", "reaction", "reaction", "reacted to your reply", "comment.reacted"},
	postComment:         {"", "comment", "comment", "commented on your post", "comment.created"},
	storyComment:        {"", "comment", "comment", "commented on your story", "story-comment.created"},
	commentReply:        {"", "reply", "comment", "replied to your comment", "comment.replied"},
	newFollower:         {"follow", "user", "user", "started following you", "follow.created"},
	followRequest:       {"", "user", "user", "requested to follow you", "follow.requested"},
	followAccepted:      {"", "user", "user", "accepted your follow request", "follow.accepted"},
	joinRequest:         {"", "join_request", "community", "requested to join your community", ""},
	joinApproved:        {"respond_on_join_request", "join_request", "community", "approved your request to join a community", ""},
	joinRejected:        {"respond_on_join_request", "join_request", "community", "declined your request to join a community", ""},
	communityInvitation: {"", "user", "invitation", "invited you to a community", ""},
	coHostInvitation:    {"room_cohost_invite", "user", "invitation", "invited you to host a room together", ""},
}
