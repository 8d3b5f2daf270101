package marker

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListMessageMarkers returns how many users have read messages, and how many have received them.
func (s *Service) ListMessageMarkers(ctx context.Context, req *plazav1.ListMessageMarkersRequest) (*plazav1.MarkerResponse, error) {
	var messages []messaging.Message
	r := s.NewUserRequest(ctx)
	r.MessageHeads(service.SortedSet(req.GetMessageIds()), &messages)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	messages, err := s.readable(ctx, r, messages)
	if err != nil {
		return nil, err
	}
	var feeds, channels []string
	for _, m := range messages {
		feeds, channels = append(feeds, m.FeedID), append(channels, m.ChannelID)
	}
	a, err := s.respond(ctx, *r.User(), service.SortedSet(feeds), service.SortedSet(channels))
	if err != nil {
		return nil, err
	}
	a.ContentMarkers, err = s.contentMarkers(ctx, messages...)
	return a, err
}

// readable returns the messages that the caller may read.
func (s *Service) readable(ctx context.Context, r *service.Request, messages []messaging.Message) ([]messaging.Message, error) {
	channels := service.Map(messages, func(m messaging.Message) string { return m.ChannelID })
	readable, err := chat.ReadableChannels(ctx, s.Deps, r.Caller, service.SortedSet(channels))
	return slices.DeleteFunc(messages, func(m messaging.Message) bool { return !readable[m.ChannelID] }), err
}

// contentMarkers counts the users who have read or received messages. Users whose home is unavailable are left out.
func (s *Service) contentMarkers(ctx context.Context, messages ...messaging.Message) ([]*plazav1.ContentMarker, error) {
	marks, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).ContentMarkers, service.Map(messages, segmentOf))
	if err != nil {
		return nil, err
	}
	markers := make([]*plazav1.ContentMarker, len(messages))
	for i, m := range messages {
		markers[i] = s.View.ContentMarker(m, marks[i])
	}
	return markers, nil
}

func segmentOf(m messaging.Message) messaging.FeedSegment {
	return messaging.FeedSegment{FeedID: m.FeedID, EntityID: m.ChannelID, MessageID: m.ID, Segment: m.Segment, CreatorID: m.CreatorID}
}

// ListReadUsers lists the users who have read a message.
func (s *Service) ListReadUsers(ctx context.Context, req *plazav1.ListReadUsersRequest) (*plazav1.ListMarkerUsersResponse, error) {
	return s.markedUsers(ctx, req.GetMessageId(), req.GetOptions(), true)
}

// ListDeliveredUsers lists the users who have received a message.
func (s *Service) ListDeliveredUsers(
	ctx context.Context, req *plazav1.ListDeliveredUsersRequest,
) (*plazav1.ListMarkerUsersResponse, error) {
	return s.markedUsers(ctx, req.GetMessageId(), req.GetOptions(), false)
}

// markedUsers lists the users who have read a message or, if read is false, received it.
func (s *Service) markedUsers(ctx context.Context, messageID string, options *plazav1.MarkerPageOptions,
	read bool,
) (*plazav1.ListMarkerUsersResponse, error) {
	cursor, err := cursorOf(options)
	if err != nil {
		return nil, err
	}
	c := chat.NewMessageRequest(ctx, s.Deps, messageID)
	c.Check(c.RequireUser)
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	users, paging, err := s.pageOfUsers(ctx, cursor, segmentOf(*c.Message), read)
	if err != nil {
		return nil, err
	}
	mine, err := s.respond(ctx, *c.User(), []string{c.Message.FeedID}, []string{c.Message.ChannelID})
	if err != nil {
		return nil, err
	}
	markers, err := s.contentMarkers(ctx, *c.Message)
	return &plazav1.ListMarkerUsersResponse{
		UserMarkers: mine.GetUserMarkers(), UserFeedMarkers: mine.GetUserFeedMarkers(), FeedMarkers: mine.GetFeedMarkers(),
		UserEntityMarkers: mine.GetUserEntityMarkers(), ContentMarkers: markers, Paging: paging,
		PublicUserIds: service.Map(users, func(u people.User) string { return u.PublicID }),
	}, err
}

// pageOfUsers reads a page of the users who have a message, in the order of their ids. Users whose home is
// unavailable are left out.
func (s *Service) pageOfUsers(
	ctx context.Context, cursor page.Cursor, m messaging.FeedSegment, read bool,
) ([]people.User, *plazav1.Paging, error) {
	list := messaging.MessageReaderList{Message: m, Read: read, AfterUser: cursor.ID, Limit: cursor.Limit + 1}
	ids, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).ListMessageReaders, list)
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(ids)
	ids = ids[:min(len(ids), list.Limit)]
	ids, paging := page.Window(cursor, ids, func(id string) (time.Time, string, string) { return time.UnixMicro(0), "", id })
	paging.Previous, paging.Prev = "", "" // this list only supports forward paging
	users, err := s.ReadUsers(ctx, ids)
	return users, paging, err
}

// cursorOf parses the page of a request.
func cursorOf(o *plazav1.MarkerPageOptions) (page.Cursor, error) {
	var limit *int32
	if o != nil {
		limit = o.Limit
	}
	c, err := page.Parse(page.Merge(nil, limit, o.GetToken()), page.DefaultLimit)
	if err == nil && c.Back {
		err = fail.Validation("options.token: is not a token of this list")
	}
	return c, err
}
