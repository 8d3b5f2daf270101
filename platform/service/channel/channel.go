// Package channel holds the chat channels, and who belongs to them. What is said in them is in the packages messagefeed and message.
//
// # Where a channel lives
//
// A channel lives where its id says, with all that is in it. One that gets an id of ours lives at the region that made it. One whose
// id the client chose, and the one conversation of its users, have an internal id that is derived (see package directory), so that
// there can be no second one and every server finds it at once. The live channel of a room or a stream has the id of that, and its
// home.
//
// # Who
//
// A community channel is made by any user. A public one is found and joined by everybody; to a private one its moderators add users. It
// has 10,000 members at most.
//
// A broadcast channel is made by those with MANAGE_CHANNEL, and found and joined by everybody. It has 10,000 members at most.
//
// A conversation is made by any user with up to 10 others, who alone find it. Nobody joins it.
//
// A live channel is made with the room or stream that it is the chat of, or by who wrote the post. Whoever sees that finds and joins it;
// one that is the chat of nothing is for whoever knows its id. Who joined stays a member, and finds it as long as they see that. It has
// 100,000 members at most.
//
// What the caller may do in a channel is in service.Access.
package channel

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements ChannelService and ChannelUserService.
type Service struct {
	*service.Deps
	markers Markers
}

// Markers is what channels ask of the markers.
type Markers interface {
	// SeeFeeds moves a user on in feeds, to the segments that readTo has by feed.
	SeeFeeds(ctx context.Context, userID string, readTo map[string]int64) error
	// DeleteFeed tells that a feed is deleted; one that is not there or deleted already is 400400.
	DeleteFeed(ctx context.Context, feedID string) (*store.MessageFeed, error)
}

// New makes the service.
func New(d *service.Deps, markers Markers) *Service { return &Service{Deps: d, markers: markers} }

type answer = plazav1.ChannelAggregate

// situation is what an operation on one channel finds in the database.
type situation struct {
	*service.Request
	chat.Access
	settings store.Settings
}

// begin starts the first round trip of an operation on one channel.
func (s *Service) begin(ctx context.Context, id string) *situation {
	found := &situation{Request: s.NewRequest(ctx)}
	chat.ReadChannel(s.Deps, found.Request, id, &found.Access)
	found.Settings(s.Region, &found.settings)
	return found
}

// run sends the reads; a channel that the caller may not know of is 400400.
func (s *Service) run(ctx context.Context, found *situation) error {
	if err := found.Run(ctx); err != nil {
		return err
	}
	if err := chat.ResolveLiveAccess(ctx, s.Deps, found.Caller, &found.Access); err != nil {
		return err
	}
	return found.CanSee(found.Caller)
}

// runLive is run, and refuses a deleted channel.
func (s *Service) runLive(ctx context.Context, found *situation) error {
	if err := s.run(ctx, found); err != nil {
		return err
	}
	if found.Access.Channel.DeletedAt != nil {
		return fail.NotFound()
	}
	return nil
}

// known is how the caller stands to the channel, for the answer.
func (s *situation) known() []store.ChannelUser {
	if s.Access.User == nil {
		return nil
	}
	return []store.ChannelUser{*s.Access.User}
}

// answer makes the answer about channels.
func (s *Service) answer(ctx context.Context, r *service.Request, settings store.Settings, a view.ChannelAnswer) (*plazav1.ChannelAggregate, error) {
	a.Viewer, a.ViewerReads, a.Settings = r.User(), chat.SeesEveryChannel(r.Caller), settings
	return s.View.Channels(ctx, s.Store, a)
}

// respond is answer about one channel.
func (s *Service) respond(ctx context.Context, found *situation, a view.ChannelAnswer) (*answer, error) {
	aggregate, err := s.answer(ctx, found.Request, found.settings, a)
	if err != nil {
		return nil, err
	}
	return aggregate, nil
}

// GetChannel gets one channel. A deleted one says so; one that the caller may not know of is 400400.
func (s *Service) GetChannel(ctx context.Context, req *plazav1.GetChannelRequest) (*answer, error) {
	found := s.begin(ctx, req.GetChannelId())
	if err := s.run(ctx, found); err != nil {
		return nil, err
	}
	return s.respond(ctx, found, view.ChannelAnswer{Channels: []store.Channel{*found.Access.Channel}, ChannelUsers: found.known()})
}

// BatchGetChannels gets several channels in the order of the request. Those that are unknown, that the caller may not know of, or
// whose region is away are left out.
func (s *Service) BatchGetChannels(ctx context.Context, req *plazav1.BatchGetChannelsRequest) (*answer, error) {
	r := s.NewRequest(ctx)
	var settings store.Settings
	r.Settings(s.Region, &settings)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range req.GetChannelIds() {
		if internal := chat.ChannelID(s.Deps, id); !slices.Contains(ids, internal) {
			ids = append(ids, internal)
		}
	}
	rows, mine, err := s.seen(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	aggregate, err := s.answer(ctx, r, settings, view.ChannelAnswer{Channels: rows, ChannelUsers: mine})
	if err != nil {
		return nil, err
	}
	return aggregate, nil
}

// seen reads channels by internal id, in that order, and keeps those that the caller may know of; and how the caller stands to those.
func (s *Service) seen(ctx context.Context, r *service.Request, ids []string) ([]store.Channel, []store.ChannelUser, error) {
	var read []store.Channel
	var users []store.ChannelUser
	reads := s.Store.NewBestEffortBatch()
	reads.Channels(ids, &read)
	if r.Caller.UserID != "" {
		reads.ChannelUsersOf(r.Caller.UserID, ids, &users)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	var rows []store.Channel
	var mine []store.ChannelUser
	for _, id := range ids {
		at := slices.IndexFunc(read, func(c store.Channel) bool { return c.ID == id })
		if at < 0 {
			continue
		}
		a := chat.Access{Channel: &read[at]}
		if i := slices.IndexFunc(users, func(u store.ChannelUser) bool { return u.ChannelID == id }); i >= 0 {
			a.User = &users[i]
		}
		if err := chat.ResolveLiveAccess(ctx, s.Deps, r.Caller, &a); err != nil {
			return nil, nil, err
		}
		if a.CanSee(r.Caller) != nil {
			continue
		}
		rows = append(rows, read[at])
		if a.User != nil {
			mine = append(mine, *a.User)
		}
	}
	return rows, mine, nil
}

// unique returns the texts of a request, each once; nil where there are none.
func unique(list []string) []string {
	var out []string
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
