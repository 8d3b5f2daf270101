package chat

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Chat is a subchannel, or a message of one, as a request finds it, and how the caller stands to its channel.
type MessageRequest struct {
	*service.Request
	deps    *service.Deps
	Feed    *store.MessageFeed
	Message *store.Message // where the request names one
	Access  Access
}

// NewFeedRequest starts the first round trip of a request about a subchannel.
func NewFeedRequest(ctx context.Context, d *service.Deps, feedID string) *MessageRequest {
	c := &MessageRequest{Request: d.NewRequest(ctx), deps: d}
	c.MessageFeed(feedID, &c.Feed)
	c.ChannelOfFeed(feedID, &c.Access.Channel)
	if caller := c.Caller.UserID; caller != "" {
		c.ChannelUserOfFeed(feedID, caller, &c.Access.User)
	}
	return c
}

// NewMessageRequest starts the first round trip of a request about a message.
func NewMessageRequest(ctx context.Context, d *service.Deps, messageID string) *MessageRequest {
	c := &MessageRequest{Request: d.NewRequest(ctx), deps: d}
	c.Request.ReadBatch.Message(messageID, &c.Message)
	c.MessageFeedOf(messageID, &c.Feed)
	c.ChannelOfMessage(messageID, &c.Access.Channel)
	if caller := c.Caller.UserID; caller != "" {
		c.ChannelUserOfMessage(messageID, caller, &c.Access.User)
	}
	return c
}

// RequireRead sends the reads and refuses those who may not read in the channel. A subchannel that is deleted is not there any
// more, and its messages with it.
func (c *MessageRequest) RequireRead(ctx context.Context) error {
	if err := c.Run(ctx); err != nil {
		return err
	}
	if c.Feed == nil || !c.Feed.IsOwn || c.Feed.DeletedAt != nil {
		return fail.NotFound()
	}
	if err := ResolveLiveAccess(ctx, c.deps, c.Caller, &c.Access); err != nil {
		return err
	}
	return c.Access.CanRead(c.Caller)
}

// ReadableChannels reads channels, and keeps those that the caller may read in, by internal id. A channel whose home does not answer
// is left out.
func ReadableChannels(ctx context.Context, d *service.Deps, r *service.Request, ids []string) (map[string]Access, error) {
	var channels []store.Channel
	var mine []store.ChannelUser
	reads := d.Store.NewBestEffortBatch()
	reads.Channels(ids, &channels)
	if caller := r.Caller.UserID; caller != "" {
		reads.ChannelUsersOf(caller, ids, &mine)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	found := make(map[string]Access, len(channels))
	for i := range channels {
		access := Access{Channel: &channels[i]}
		for j := range mine {
			if mine[j].ChannelID == channels[i].ID {
				access.User = &mine[j]
			}
		}
		if err := ResolveLiveAccess(ctx, d, r.Caller, &access); err != nil {
			return nil, err
		}
		if access.CanRead(r.Caller) == nil {
			found[channels[i].ID] = access
		}
	}
	return found, nil
}
