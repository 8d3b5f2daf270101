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
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// maxMembers is how many members a channel may have, by type. A message is told to each of them, but for those of live channels. Many
// who join at once may pass it by a few.
var maxMembers = map[string]int{
	store.ChannelCommunity: 10_000, store.ChannelBroadcast: 10_000, store.ChannelConversation: maxOthers + 1, store.ChannelLive: 100_000,
}

// gathering is what an operation on users of a channel finds in the database.
type gathering struct {
	*situation
	users  []store.ChannelUser // the concerned, as far as they have a row
	rows   []store.User
	counts store.Counts
	now    time.Time
}

func (g *gathering) user(userID string) *store.ChannelUser {
	i := slices.IndexFunc(g.users, func(u store.ChannelUser) bool { return u.UserID == userID })
	if i < 0 {
		return nil
	}
	return &g.users[i]
}

func (g *gathering) row(userID string) *store.User {
	i := slices.IndexFunc(g.rows, func(u store.User) bool { return u.ID == userID })
	if i < 0 {
		return nil
	}
	return &g.rows[i]
}

// operation is one way to change who belongs to a channel, and what they are in it.
type operation struct {
	channelID string
	userIDs   []string // internal ids of the concerned, each once
	readRows  bool     // the concerned users themselves
	decide    func(*gathering) ([]store.ChannelUserChange, error)
}

// change reads, decides and writes, again where somebody else got ahead, and answers with the channel as it is then.
func (s *Service) change(ctx context.Context, o operation) (*answer, error) {
	var found *gathering
	var done []store.ChannelUserChange
	err := store.UntilUnchanged(func() error {
		var err error
		if found, err = s.look(ctx, o); err != nil {
			return err
		}
		if done, err = o.decide(found); err != nil {
			return err
		}
		return s.carryOut(ctx, found, done)
	})
	if err != nil {
		return nil, err
	}
	a := view.ChannelAnswer{Channels: []store.Channel{*found.Access.Channel}, Users: found.rows}
	for _, c := range done {
		a.ChannelUsers = append(a.ChannelUsers, c.New)
	}
	return s.respond(ctx, found.situation, a)
}

// look reads what the operation has to know.
func (s *Service) look(ctx context.Context, o operation) (*gathering, error) {
	found := &gathering{situation: s.begin(ctx, o.channelID), now: s.Now(), counts: store.Counts{}}
	id := chat.ChannelID(s.Deps, o.channelID)
	found.ChannelUsers(id, o.userIDs, &found.users)
	found.CountsOf([]string{id}, found.counts)
	if o.readRows {
		found.Users(o.userIDs, &found.rows)
	}
	return found, s.runLive(ctx, found.situation)
}

// carryOut writes the changes in one transaction at the channel's home.
func (s *Service) carryOut(ctx context.Context, found *gathering, changes []store.ChannelUserChange) error {
	if !slices.ContainsFunc(changes, store.ChannelUserChange.Needed) {
		return nil
	}
	channel := found.Access.Channel
	if more := moreMembers(changes); more > 0 && int(found.counts.Of(channel.ID, store.CountMembers))+more > maxMembers[channel.Type] {
		return fail.TooManyMembers()
	}
	tx := s.Store.NewTx(service.HomeOf(channel.ID))
	tx.GuardChannel(channel.ID, fail.NotFound())
	tx.ChangeChannelUsers(channel.ID, changes, found.now)
	outboxRows := tellMarkers(tx, channel.ID, changes, found.now)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), outboxRows...)
	return nil
}

// moreMembers is how many members more there are after changes than before.
func moreMembers(changes []store.ChannelUserChange) int {
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

// tellMarkers has the markers of those follow who join the channel or leave it: who joins has read what came before, and who leaves
// has nothing unread there.
func tellMarkers(tx *store.Tx, channelID string, changes []store.ChannelUserChange, now time.Time) []store.OutboxRow {
	var ids []string
	for _, c := range changes {
		if c.Old.IsMember() != c.New.IsMember() {
			ids = append(ids, c.New.UserID)
		}
	}
	return events.ChannelMembersChanged(tx, channelID, ids, now)
}

var errConversation = fail.Forbidden("A conversation has the users that it was made with")

// moderate is change for who needs a permission, on users who all have to be known, and never on those of a conversation.
func (s *Service) moderate(ctx context.Context, channelID string, publicIDs []string, p auth.Permission, readRows bool,
	decide func(g *gathering, ids []string) ([]store.ChannelUserChange, error),
) (*answer, error) {
	ids, all, err := s.resolve(ctx, publicIDs)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, operation{channelID: channelID, userIDs: ids, readRows: readRows, decide: func(g *gathering) ([]store.ChannelUserChange, error) {
		if err := g.RequireModerate(g.Caller, p); err != nil {
			return nil, err
		}
		switch {
		case !all:
			return nil, fail.NotFound()
		case g.Access.Channel.Type == store.ChannelConversation && p != auth.MuteChannelUser:
			return nil, errConversation
		}
		return decide(g, ids)
	}})
}

// endings take those of the concerned who stand to the channel in one way to another; the others stay as they are, and in the answer.
func (g *gathering) endings(from, to string) []store.ChannelUserChange {
	var changes []store.ChannelUserChange
	for _, u := range g.users {
		if u.Membership == from {
			changes = append(changes, end(u, to, g.now))
		} else {
			changes = append(changes, store.ChannelUserChange{Old: &u, New: u})
		}
	}
	return changes
}

// end is the change that takes somebody out of a channel, and their roles with it.
func end(old store.ChannelUser, membership string, now time.Time) store.ChannelUserChange {
	ended := old
	ended.Membership, ended.Roles = membership, nil
	if old.Membership != membership {
		ended.UpdatedAt = now
	}
	return store.ChannelUserChange{Old: &old, New: ended}
}
