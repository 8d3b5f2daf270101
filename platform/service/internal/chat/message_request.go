package chat

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// MessageRequest is a request about a subchannel or a message. Run fails unless the caller may read the subchannel. A
// deleted subchannel and its messages are 400400.
type MessageRequest struct {
	*service.Request
	Feed    *messaging.MessageFeed
	Message *messaging.Message // only set by NewMessageRequest
	Access  Access             // to the channel
}

// NewFeedRequest starts the first round trip of a request about a subchannel.
func NewFeedRequest(ctx context.Context, d *service.Deps, feedID string) *MessageRequest {
	r := &MessageRequest{Request: d.NewRequest(ctx)}
	r.MessageFeed(feedID, &r.Feed)
	var found rows
	r.ChannelOfFeed(feedID, &found.channel)
	r.ChannelUserOfFeed(feedID, r.Caller.UserID, &found.user)
	found.resolveAfterRun(r.Request, &r.Access)
	r.Check(r.requireRead)
	return r
}

// NewMessageRequest starts the first round trip of a request about a message, which may be deleted.
func NewMessageRequest(ctx context.Context, d *service.Deps, messageID string) *MessageRequest {
	r := &MessageRequest{Request: d.NewRequest(ctx)}
	r.Request.ReadBatch.Message(messageID, &r.Message)
	r.MessageFeedOf(messageID, &r.Feed)
	var found rows
	r.ChannelOfMessage(messageID, &found.channel)
	r.ChannelUserOfMessage(messageID, r.Caller.UserID, &found.user)
	found.resolveAfterRun(r.Request, &r.Access)
	r.Check(r.requireRead)
	return r
}

// NewExistingMessageRequest is NewMessageRequest for operations that fail with 400400 if the message is deleted.
func NewExistingMessageRequest(ctx context.Context, d *service.Deps, messageID string) *MessageRequest {
	r := NewMessageRequest(ctx, d, messageID)
	r.CheckFound(func() bool { return r.Message.DeletedAt == nil })
	return r
}

func (r *MessageRequest) requireRead() error {
	if r.Feed == nil || !r.Feed.IsOwn || r.Feed.DeletedAt != nil {
		return fail.NotFound()
	}
	return r.Access.CanRead(r.Caller)
}
