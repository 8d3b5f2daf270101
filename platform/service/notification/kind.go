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
}

var kinds = map[string]kind{
	postMention:         {"mention_in_post", "mention", "post", "mentioned you in a post"},
	pollMention:         {"mention_in_poll", "mention", "post", "mentioned you in a poll"},
	commentMention:      {"mention_in_comment", "mention", "comment", "mentioned you in a comment"},
	replyMention:        {"mention_in_reply", "mention", "comment", "mentioned you in a reply"},
	postReaction:        {"reaction_on_post", "reaction", "reaction", "reacted to your post"},
	commentReaction:     {"reaction_on_comment", "reaction", "reaction", "reacted to your comment"},
	replyReaction:       {"reaction_on_reply", "reaction", "reaction", "reacted to your reply"},
	postComment:         {"", "comment", "comment", "commented on your post"},
	storyComment:        {"", "comment", "comment", "commented on your story"},
	commentReply:        {"", "reply", "comment", "replied to your comment"},
	newFollower:         {"follow", "user", "user", "started following you"},
	followRequest:       {"", "user", "user", "requested to follow you"},
	followAccepted:      {"", "user", "user", "accepted your follow request"},
	joinRequest:         {"", "join_request", "community", "requested to join your community"},
	joinApproved:        {"respond_on_join_request", "join_request", "community", "approved your request to join a community"},
	joinRejected:        {"respond_on_join_request", "join_request", "community", "declined your request to join a community"},
	communityInvitation: {"", "user", "invitation", "invited you to a community"},
	coHostInvitation:    {"room_cohost_invite", "user", "invitation", "invited you to host a room together"},
}
