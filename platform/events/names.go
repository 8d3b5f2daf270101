package events

import "slices"

// names are the names of all events, by which clients and webhooks know them, sorted.
var names = []string{
	"channel.banned", "channel.created", "channel.deleted", "channel.joined", "channel.left", "channel.membersAdded",
	"channel.membersRemoved", "channel.setMuted", "channel.setMutedUsers", "channel.unbanned", "channel.updated", "comment.addReaction",
	"comment.created", "comment.deleted", "comment.flagged", "comment.flagsCleared", "comment.removeReaction", "comment.unflagged",
	"comment.updated", "community.created", "community.deleted", "community.joined", "community.left", "community.roleAdded",
	"community.roleRemoved", "community.updated", "community.userAdded", "community.userBanned", "community.userChanged",
	"community.userRemoved", "community.userUnbanned", "event.created", "event.deleted", "event.rsvp.created", "event.rsvp.updated",
	"event.updated", "follow.accepted", "follow.created", "follow.followerDeleted",
	"follow.requestCanceled", "follow.requestDeclined", "follow.requested", "follow.unfollowed", "liveReaction.created", "marker.user-sync",
	"message-feed.created", "message-feed.deleted", "message-feed.updated", "message.created", "message.deleted", "message.flagCleared",
	"message.flagged", "message.reactionAdded", "message.reactionRemoved", "message.unflagged", "message.updated", "post.addReaction",
	"post.approved", "post.created", "post.declined", "post.deleted", "post.flagged", "post.flagsCleared", "post.removeReaction",
	"post.unflagged", "post.updated", "room.didCohostInvite", "room.didCohostInviteAccept", "room.didCohostInviteCancel",
	"room.didCohostInviteReject", "room.didUpdate", "room.endBroadcasting", "room.participantJoined", "room.participantLeft",
	"room.participantRemoved", "room.participantStageJoined", "room.participantStageLeft", "room.recordedAvailable",
	"room.startBroadcasting", "room.terminated", "room.waitingReconnect",
	"story.created", "story.deleted", "story.flagged", "story.flagsCleared", "story.reactionAdded", "story.reactionRemoved",
	"story.unflagged", "user.deleted", "user.didGlobalBan", "user.flagCleared", "user.flagged", "user.unflagged", "user.updated",
	"video-streaming.didFlag", "video-streaming.didRecord", "video-streaming.didStart", "video-streaming.didStop",
	"video-streaming.didTerminate", "video-streaming.viewerDidBan", "video-streaming.viewerDidUnban",
}

// Names returns the names of all events, sorted.
func Names() []string { return slices.Clone(names) }

// Known reports whether an event has the name.
func Known(name string) bool {
	_, found := slices.BinarySearch(names, name)
	return found
}
