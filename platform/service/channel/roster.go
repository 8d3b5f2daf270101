package channel

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/roster"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// change is a request to change the users of a channel.
type change struct {
	channelID  string
	permission auth.Permission // that it requires in the channel; empty if it is of the caller's own membership
	userIDs    []string        // internal ids of the users it names, without repetitions
	unknown    bool            // it names users who do not exist
	readUsers  bool            // read the rows of these users
	acts       bool            // it is done to these users, over whom the caller must have authority
	decide     func(*rosterState) ([]messaging.ChannelUserChange, error)
}

// rosterState is what a change reads.
type rosterState struct {
	*state
	roster.Roster[messaging.ChannelUser, messaging.ChannelUserChange]
	counts core.Counts
	blocks *contact.Blocks
	now    time.Time
}

// updateRoster carries out a change and returns the channel with the changed users.
func (s *Service) updateRoster(ctx context.Context, c change) (*plazav1.ChannelResponse, error) {
	var found *rosterState
	changes, err := service.RetryOnConflict(ctx, func() (changes []messaging.ChannelUserChange, err error) {
		if found, err = s.loadRoster(ctx, c); err != nil {
			return nil, err
		}
		if changes, err = c.decide(found); err != nil {
			return nil, err
		}
		return changes, s.apply(ctx, found, changes)
	})
	if err != nil {
		return nil, err
	}
	return s.respondWith(ctx, found.Request, found.settings, *found.Access.Channel, found.Roster.Users, changes)
}

// moderate is updateRoster for a change of the users with publicIDs that requires the permission p in the channel.
// The users of a conversation do not change.
func (s *Service) moderate(ctx context.Context, p auth.Permission, publicIDs []string, c change) (*plazav1.ChannelResponse, error) {
	ids, all, err := s.ResolveUsers(ctx, publicIDs)
	if err != nil {
		return nil, err
	}
	c.permission, c.userIDs, c.unknown = p, ids, !all
	return s.updateRoster(ctx, c)
}

var errConversation = fail.Forbidden("The users of a conversation cannot be changed")

// loadRoster reads the state. A deleted channel is 400400.
func (s *Service) loadRoster(ctx context.Context, c change) (*rosterState, error) {
	id := chat.ChannelID(s.Deps, c.channelID)
	found := &rosterState{state: s.newExisting(ctx, c.channelID), counts: core.Counts{}, now: s.Now()}
	found.CallerID, found.UserIDs, found.Rules = found.Caller.UserID, c.userIDs, rules(id, found.now)
	found.ChannelUsers(id, c.userIDs, &found.Entries)
	found.CountsOf([]string{id}, found.counts)
	found.blocks = contact.Read(found.Request, c.userIDs)
	if c.readUsers || c.acts {
		found.ReadBatch.Users(c.userIDs, &found.Roster.Users)
	}
	if c.permission != "" {
		found.Check(func() error { return found.requireModerate(c) })
	}
	if c.acts {
		found.Check(func() error {
			return found.RequireAuthority(found.Request, found.Access.User, found.Access.AuthorityOf)
		})
	}
	return found, found.Run(ctx)
}

// requireModerate returns an error unless the caller may change the users that a change names.
func (s *rosterState) requireModerate(c change) error {
	if err := s.RequireModerate(s.Caller, c.permission); err != nil {
		return err
	}
	switch {
	case c.unknown:
		return fail.NotFound()
	case s.Access.Channel.Type == messaging.ChannelConversation && c.permission != auth.MuteChannelUser:
		return errConversation
	}
	return nil
}

// rules are the rules of the roster of a channel.
func rules(channelID string, now time.Time) roster.Rules[messaging.ChannelUser, messaging.ChannelUserChange] {
	return roster.Rules[messaging.ChannelUser, messaging.ChannelUserChange]{
		UserID:    func(u messaging.ChannelUser) string { return u.UserID },
		IsMember:  (*messaging.ChannelUser).IsMember,
		IsBanned:  (*messaging.ChannelUser).IsBanned,
		ErrBanned: fail.ChannelBanned(),
		Join: func(u people.User, old *messaging.ChannelUser) messaging.ChannelUserChange {
			return chat.Join(channelID, u.ID, u.PublicID, old, chat.MemberRoles(), now)
		},
		Ban: func(u people.User, old *messaging.ChannelUser) messaging.ChannelUserChange {
			return chat.Ban(channelID, u.ID, u.PublicID, old, now)
		},
		Remove: func(old messaging.ChannelUser) messaging.ChannelUserChange { return chat.Leave(old, now) },
	}
}

// apply writes the changes in one transaction at the home of the channel.
func (s *Service) apply(ctx context.Context, found *rosterState, changes []messaging.ChannelUserChange) error {
	if !slices.ContainsFunc(changes, messaging.ChannelUserChange.Needed) {
		return nil
	}
	channel := found.Access.Channel
	if joined := memberDelta(changes); joined > 0 &&
		int(found.counts.Of(channel.ID, core.CountMembers))+joined > chat.MaxMembers[channel.Type] {
		return fail.TooManyMembers()
	}
	tx := s.Store.NewTx(s.HomeOf(channel.ID))
	tx.GuardChannel(channel.ID, fail.NotFound())
	tx.ChangeChannelUsers(channel.ID, changes, found.now)
	outboxRows := emitMembersChanged(tx, channel.ID, changes, found.now)
	for event, ids := range userEvents(found.Caller.UserID, changes) {
		outboxRows = append(outboxRows, s.EmitChange(ctx, tx, event, s.ChannelChange(channel.ID, ids...))...)
	}
	return s.CommitSoon(ctx, tx, outboxRows...)
}

// userEvents returns the internal ids of the changed users by the event that reports the change.
func userEvents(callerID string, changes []messaging.ChannelUserChange) map[string][]string {
	byEvent := map[string][]string{}
	for _, c := range changes {
		if event := userEvent(callerID, c); event != "" {
			byEvent[event] = append(byEvent[event], c.New.UserID)
		}
	}
	return byEvent
}

func userEvent(callerID string, c messaging.ChannelUserChange) string {
	own := c.New.UserID == callerID
	switch was, is := c.Old.IsMember(), c.New.IsMember(); {
	case !c.Old.IsBanned() && c.New.IsBanned():
		return "channel.banned"
	case c.Old.IsBanned() && !c.New.IsBanned() && !is:
		return "channel.unbanned"
	case is && !was && own:
		return "channel.joined"
	case is && !was:
		return "channel.membersAdded"
	case was && !is && own:
		return "channel.left"
	case was && !is:
		return "channel.membersRemoved"
	case c.ChangesMute():
		return "channel.setMutedUsers"
	}
	return ""
}

// memberDelta returns by how many members a channel grows with the changes.
func memberDelta(changes []messaging.ChannelUserChange) int {
	n := 0
	for _, c := range changes {
		if c.New.IsMember() && !c.Old.IsMember() {
			n++
		}
		if !c.New.IsMember() && c.Old.IsMember() {
			n--
		}
	}
	return n
}

// emitMembersChanged adds the event that updates the markers of users who join or leave the channel: a user who joins
// has read all earlier messages, and a user who leaves has no unread ones.
func emitMembersChanged(tx *store.Tx, channelID string, changes []messaging.ChannelUserChange, now time.Time) []core.OutboxRow {
	var ids []string
	for _, c := range changes {
		if c.Old.IsMember() != c.New.IsMember() {
			ids = append(ids, c.New.UserID)
		}
	}
	return events.EmitMembershipChanged(tx, channelID, ids, now)
}

// respondWith returns a channel with the users that were changed.
func (s *Service) respondWith(ctx context.Context, r *service.Request, settings network.Settings, c messaging.Channel, users []people.User,
	changes []messaging.ChannelUserChange,
) (*plazav1.ChannelResponse, error) {
	a := view.ChannelRows{Channels: []messaging.Channel{c}, Users: users}
	a.ChannelUsers = service.Map(changes, func(c messaging.ChannelUserChange) messaging.ChannelUser { return c.New })
	return s.respond(ctx, r, settings, a)
}
