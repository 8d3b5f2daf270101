package message

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The operations of older clients, which know channels instead of subchannels. The first subchannel of a channel has the
// id of the channel.

// CreateChannelMessage creates a message in the first subchannel of a channel.
func (s *Service) CreateChannelMessage(ctx context.Context, req *plazav1.CreateChannelMessageRequest) (*plazav1.MessageResponse, error) {
	return s.CreateMessage(ctx, &plazav1.CreateMessageRequest{
		MessageFeedId: chat.ChannelID(s.Deps, req.GetChannelId()), ReferenceId: req.GetMessageId(), DataType: req.GetType(), Data: req.GetData(),
		FileId: req.GetFileId(), ParentId: req.GetParentId(), Metadata: req.GetMetadata(), Tags: req.GetTags(),
		MentionedUsers: req.GetMentionees(),
	})
}

// ListChannelMessages lists the messages of the first subchannel of a channel.
func (s *Service) ListChannelMessages(ctx context.Context, req *plazav1.ListChannelMessagesRequest) (*plazav1.ListMessagesResponse, error) {
	options, start := segmentPage(req.GetOptions())
	list := &plazav1.ListMessagesRequest{
		MessageFeedId: chat.ChannelID(s.Deps, req.GetChannelId()), IsDeleted: req.IsDeleted, IncludeTags: req.GetTags(),
		ExcludeTags: req.GetExcludeTags(), HasFlags: req.HasFlag, DataType: req.GetType(), Options: options,
	}
	if parent := req.GetParentId(); parent != "" || req.GetFilterByParentId() {
		list.ParentId = &parent
	}
	return s.list(ctx, list, start)
}

// segmentPage returns the options of a list of messages, and the segment after which its first page begins; 0 for the
// first message of the list.
func segmentPage(o *plazav1.SegmentOptions) (*plazav1.MessageListOptions, int64) {
	if o == nil {
		return nil, 0
	}
	options := &plazav1.MessageListOptions{Token: o.GetToken(), SortBy: "segmentDesc"}
	start, limits := o.GetBefore(), []*int32{o.Limit, o.Last, o.First}
	if o.First != nil || o.After != nil {
		options.SortBy, start, limits = "segmentAsc", o.GetAfter(), []*int32{o.Limit, o.First, o.Last}
	}
	for _, limit := range limits {
		if options.Limit == nil && options.Token == "" {
			options.Limit = limit
		}
	}
	return options, int64(start)
}

// RemoveChannelMessage deletes a message.
func (s *Service) RemoveChannelMessage(ctx context.Context, req *plazav1.DeleteMessageRequest) (*plazav1.StatusSuccessResponse, error) {
	_, err := s.DeleteMessage(ctx, req)
	return service.StatusSuccess(), err
}

// IsChannelMessageFlaggedByMe reports whether the caller flags the message.
func (s *Service) IsChannelMessageFlaggedByMe(ctx context.Context,
	req *plazav1.IsMessageFlaggedByMeRequest,
) (*plazav1.StatusFlaggedByMeResponse, error) {
	mine, err := s.IsMessageFlaggedByMe(ctx, req)
	return &plazav1.StatusFlaggedByMeResponse{Status: "success", Data: mine}, err
}
