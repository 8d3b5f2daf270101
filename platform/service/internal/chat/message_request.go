package chat

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// MessageRequest is a request about a subchannel or a message. Call RequireRead instead of Run.
type MessageRequest struct {
	*service.Request
	Feed    *store.MessageFeed
	Message *store.Message // only set by NewMessageRequest
	Access  Access         // to the channel
}

// NewFeedRequest starts the first round trip of a request about a subchannel.
func NewFeedRequest(ctx context.Context, d *service.Deps, feedID string) *MessageRequest {
	r := &MessageRequest{Request: d.NewRequest(ctx)}
	r.MessageFeed(feedID, &r.Feed)
	var found rows
	r.ChannelOfFeed(feedID, &found.channel)
	if r.Caller.UserID != "" {
		r.ChannelUserOfFeed(feedID, r.Caller.UserID, &found.user)
	}
	found.resolveAfterRun(d, r.Request, &r.Access)
	return r
}

// NewMessageRequest starts the first round trip of a request about a message.
func NewMessageRequest(ctx context.Context, d *service.Deps, messageID string) *MessageRequest {
	r := &MessageRequest{Request: d.NewRequest(ctx)}
	r.Request.ReadBatch.Message(messageID, &r.Message)
	r.MessageFeedOf(messageID, &r.Feed)
	var found rows
	r.ChannelOfMessage(messageID, &found.channel)
	if r.Caller.UserID != "" {
		r.ChannelUserOfMessage(messageID, r.Caller.UserID, &found.user)
	}
	found.resolveAfterRun(d, r.Request, &r.Access)
	return r
}

// RequireRead runs the request and returns an error unless the caller may read the subchannel. A deleted subchannel
// and its messages are 400400.
func (r *MessageRequest) RequireRead(ctx context.Context) error {
	if err := r.Run(ctx); err != nil {
		return err
	}
	if r.Feed == nil || !r.Feed.IsOwn || r.Feed.DeletedAt != nil {
		return fail.NotFound()
	}
	return r.Access.CanRead(r.Caller)
}
