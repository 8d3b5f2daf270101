package messaging

import "github.com/plaza-social/plaza/platform/store/db"

// Lookups for access checks in the same round trip that reads the message.
var (
	sqlChannelOfFeed = db.Register("channels.ofFeed", `SELECT `+db.Prefixed("c", channelColumns)+` FROM message_feeds AS f
		JOIN channels AS c ON c.home = $1 AND c.id = f.entity_id WHERE f.home = $1 AND f.id = $2`)
	sqlChannelOfMessage = db.Register("channels.ofMessage", `SELECT `+db.Prefixed("c", channelColumns)+` FROM messages AS m
		JOIN channels AS c ON c.home = $1 AND c.id = m.channel_id WHERE m.home = $1 AND m.id = $2`)
	sqlChannelUserOfFeed = db.Register("channelUsers.ofFeed", `SELECT `+db.Prefixed("u", channelUserColumns)+` FROM message_feeds AS f
		JOIN channel_users AS u ON u.home = $1 AND u.channel_id = f.entity_id AND u.user_id = $3 WHERE f.home = $1 AND f.id = $2`)
	sqlChannelUserOfMessage = db.Register("channelUsers.ofMessage", `SELECT `+db.Prefixed("u", channelUserColumns)+` FROM messages AS m
		JOIN channel_users AS u ON u.home = $1 AND u.channel_id = m.channel_id AND u.user_id = $3 WHERE m.home = $1 AND m.id = $2`)
)

// ChannelOfFeed reads the channel of a subchannel; nil if there is none.
func (r ReadBatch) ChannelOfFeed(feedID string, into **Channel) {
	r.AddAt(feedID, sqlChannelOfFeed, db.Row(into), feedID)
}

// ChannelOfMessage reads the channel of a message; nil if there is none.
func (r ReadBatch) ChannelOfMessage(messageID string, into **Channel) {
	r.AddAt(messageID, sqlChannelOfMessage, db.Row(into), messageID)
}

// ChannelUserOfFeed reads the row of a user in the channel of a subchannel; nil if there is none.
func (r ReadBatch) ChannelUserOfFeed(feedID, userID string, into **ChannelUser) {
	r.AddAt(feedID, sqlChannelUserOfFeed, db.Row(into), feedID, userID)
}

// ChannelUserOfMessage reads the row of a user in the channel of a message; nil if there is none.
func (r ReadBatch) ChannelUserOfMessage(messageID, userID string, into **ChannelUser) {
	r.AddAt(messageID, sqlChannelUserOfMessage, db.Row(into), messageID, userID)
}
