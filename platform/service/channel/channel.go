// Package channel implements ChannelService and ChannelUserService: channels and their users. Packages messagefeed
// and message hold their subchannels and messages.
//
// # Home
//
// A channel is stored, with all its content, at the home that its internal id names. A channel with a generated id
// lives in the region that created it. The internal id of a channel whose public id the client chose, and of the
// distinct conversation of some users, is derived (see package directory): there can be only one, and every server
// finds it without a search. The live channel of a room or stream has the id and the home of the room or stream.
//
// # Types
//
// Any user can create a community channel. If it is public, all users find and join it; otherwise its moderators add
// users. It has at most 10,000 members.
//
// A broadcast channel requires MANAGE_CHANNEL to be created. All users find and join it. It has at most 10,000 members.
//
// Any user can create a conversation with up to 10 others. Only they find it, and other users cannot join.
//
// A live channel is created together with its room or stream, or by the author of its post. Users who see the room,
// stream or post find and join it. A live channel without one is open to all who know its id. Members remain members,
// but find the channel only while they see the room, stream or post. It has at most 100,000 members.
//
// Package chat decides what a caller may do in a channel: see chat.Access.
package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements ChannelService and ChannelUserService.
type Service struct {
	*service.Deps
	markers Markers
}

// Markers is the part of the marker service that channels need.
type Markers interface {
	// SeeFeeds marks feeds as read by a user, up to the segments in readTo by feed.
	SeeFeeds(ctx context.Context, userID string, readTo map[string]int64) error
	// DeleteMessageFeed deletes the markers of a feed. A feed that does not exist or is deleted already is 400400.
	DeleteFeed(ctx context.Context, feedID string) (*messaging.MessageFeed, error)
}

// New returns the service.
func New(d *service.Deps, markers Markers) *Service { return &Service{Deps: d, markers: markers} }

// state is what an operation on a channel reads.
type state struct {
	*service.Request
	chat.Access
	settings network.Settings
}

// newState starts the first round trip of an operation on a channel. Its Run fails unless the caller may know of the
// channel, which may be deleted.
func (s *Service) newState(ctx context.Context, id string) *state {
	found := &state{Request: s.NewRequest(ctx)}
	chat.ReadChannel(found.Request, id, &found.Access)
	found.Settings(s.Region, &found.settings)
	found.Check(func() error { return found.CanSee(found.Caller) })
	return found
}

// newExisting is newState for operations that fail with 400400 if the channel is deleted.
func (s *Service) newExisting(ctx context.Context, id string) *state {
	found := s.newState(ctx, id)
	found.CheckFound(func() bool { return found.Access.Channel.DeletedAt == nil })
	return found
}

// newModerated is newExisting for operations that require the permission p in the channel.
func (s *Service) newModerated(ctx context.Context, id string, p auth.Permission) *state {
	found := s.newExisting(ctx, id)
	found.Check(func() error { return found.RequireModerate(found.Caller, p) })
	return found
}

// respond returns channels as the caller sees them.
func (s *Service) respond(
	ctx context.Context, r *service.Request, settings network.Settings, a view.ChannelRows,
) (*plazav1.ChannelResponse, error) {
	a.Viewer, a.ViewerReads, a.Settings = r.User(), chat.SeesAllChannels(r.Caller), settings
	return s.View.LoadChannels(ctx, s.Store, a)
}

// respondOne returns a channel with the caller's membership.
func (s *Service) respondOne(ctx context.Context, found *state, c messaging.Channel) (*plazav1.ChannelResponse, error) {
	a := view.ChannelRows{Channels: []messaging.Channel{c}}
	if found.Access.User != nil {
		a.ChannelUsers = []messaging.ChannelUser{*found.Access.User}
	}
	return s.respond(ctx, found.Request, found.settings, a)
}

// GetChannel gets one channel, which may be deleted. A channel that the caller may not know of is 400400.
func (s *Service) GetChannel(ctx context.Context, req *plazav1.GetChannelRequest) (*plazav1.ChannelResponse, error) {
	found := s.newState(ctx, req.GetChannelId())
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	return s.respondOne(ctx, found, *found.Access.Channel)
}

// BatchGetChannels gets several channels in the order of the request. Channels that do not exist, that the caller may
// not know of, or whose home is unavailable are left out.
func (s *Service) BatchGetChannels(ctx context.Context, req *plazav1.BatchGetChannelsRequest) (*plazav1.ChannelResponse, error) {
	r := s.NewRequest(ctx)
	var settings network.Settings
	r.Settings(s.Region, &settings)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	ids := service.Distinct(service.Map(req.GetChannelIds(), func(id string) string { return chat.ChannelID(s.Deps, id) }))
	access, err := chat.LoadAccess(ctx, s.Deps, r.Caller, ids)
	if err != nil {
		return nil, err
	}
	var a view.ChannelRows
	for _, id := range ids {
		found := access[id]
		if found.CanSee(r.Caller) != nil {
			continue
		}
		a.Channels = append(a.Channels, *found.Channel)
		if found.User != nil {
			a.ChannelUsers = append(a.ChannelUsers, *found.User)
		}
	}
	return s.respond(ctx, r, settings, a)
}
