package store

import "github.com/plaza-social/plaza/platform/region"

// What stands between a caller and a message, in the round trip that reads the message.
var (
	sqlChannelOfFeed = stmt("channels.ofFeed", `SELECT `+prefixed("c", channelColumns)+` FROM message_feeds AS f
		JOIN channels AS c ON c.home = $1 AND c.id = f.entity_id WHERE f.home = $1 AND f.id = $2`)
	sqlChannelOfMessage = stmt("channels.ofMessage", `SELECT `+prefixed("c", channelColumns)+` FROM messages AS m
		JOIN channels AS c ON c.home = $1 AND c.id = m.channel_id WHERE m.home = $1 AND m.id = $2`)
	sqlChannelUserOfFeed = stmt("channelUsers.ofFeed", `SELECT `+prefixed("u", channelUserColumns)+` FROM message_feeds AS f
		JOIN channel_users AS u ON u.home = $1 AND u.channel_id = f.entity_id AND u.user_id = $3 WHERE f.home = $1 AND f.id = $2`)
	sqlChannelUserOfMessage = stmt("channelUsers.ofMessage", `SELECT `+prefixed("u", channelUserColumns)+` FROM messages AS m
		JOIN channel_users AS u ON u.home = $1 AND u.channel_id = m.channel_id AND u.user_id = $3 WHERE m.home = $1 AND m.id = $2`)
)

// ChannelOfFeed reads the channel of a subchannel; nil where there is none.
func (r *ReadBatch) ChannelOfFeed(feedID string, into **Channel) {
	if home, err := region.HomeOf(feedID); err == nil {
		r.add(home, sqlChannelOfFeed, scanOne(into, scanChannel), feedID)
	}
}

// ChannelOfMessage reads the channel of a message; nil where there is none.
func (r *ReadBatch) ChannelOfMessage(messageID string, into **Channel) {
	if home, err := region.HomeOf(messageID); err == nil {
		r.add(home, sqlChannelOfMessage, scanOne(into, scanChannel), messageID)
	}
}

// ChannelUserOfFeed reads how a user stands to the channel of a subchannel.
func (r *ReadBatch) ChannelUserOfFeed(feedID, userID string, into **ChannelUser) {
	if home, err := region.HomeOf(feedID); err == nil {
		r.add(home, sqlChannelUserOfFeed, scanOne(into, scanChannelUser), feedID, userID)
	}
}

// ChannelUserOfMessage reads how a user stands to the channel of a message.
func (r *ReadBatch) ChannelUserOfMessage(messageID, userID string, into **ChannelUser) {
	if home, err := region.HomeOf(messageID); err == nil {
		r.add(home, sqlChannelUserOfMessage, scanOne(into, scanChannelUser), messageID, userID)
	}
}
