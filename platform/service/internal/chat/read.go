package chat

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// ChannelID returns the internal id of the channel with the id, which may be its public or its internal one. Clients
// cannot choose public ids of the form of internal ones.
func ChannelID(d *service.Deps, id string) string {
	if region.ValidID(id) {
		return id
	}
	return d.Directory.ChannelID(id)
}

// rows are the rows that decide about access to a channel.
type rows struct {
	channel *messaging.Channel
	user    *messaging.ChannelUser // the caller's
}

// resolveAfterRun sets *access once the request has run.
func (found *rows) resolveAfterRun(r *service.Request, access *Access) {
	r.AfterRun(func(ctx context.Context) (err error) {
		*access, err = found.resolve(ctx, r.Deps, r.Caller)
		return err
	})
}

// resolve returns the caller's access to a channel. For live channels it may take a round trip to read the room,
// stream or post.
func (found *rows) resolve(ctx context.Context, d *service.Deps, caller *auth.Caller) (Access, error) {
	a := Access{Channel: found.channel, User: found.user, resolved: true}
	if c := found.channel; c == nil || c.Type != messaging.ChannelLive || SeesAllChannels(caller) || c.DeletedAt != nil && a.User.IsMember() {
		return a, nil
	}
	sees, err := seesAttached(ctx, d, caller, found.channel)
	if err != nil {
		return Access{}, err
	}
	a.seesAttached, a.hiddenMember = sees, !sees && a.User.IsMember()
	return a, nil
}

// seesAttached reports whether the caller sees the room, stream or post of a live channel. A live channel without any
// is visible to all who know its id.
func seesAttached(ctx context.Context, d *service.Deps, caller *auth.Caller, c *messaging.Channel) (bool, error) {
	var room *media.Room
	var stream *media.VideoStream
	reads := d.Store.NewReadBatch()
	reads.Room(c.RoomID, &room)
	reads.VideoStream(c.VideoStreamID, &stream)
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	var err error
	switch {
	case c.RoomID != "":
		err = live.RequireSee(ctx, d, caller, live.OfRoom(room))
	case c.VideoStreamID != "":
		err = live.RequireSee(ctx, d, caller, live.OfStream(stream))
	case c.PostID != "":
		_, err = visibility.LoadPost(ctx, d, caller, c.PostID)
	}
	if err != nil && fail.From(err).Code == fail.CodeUnexpected {
		return false, err
	}
	return err == nil, nil
}

// ReadChannel adds to a request the reads of a channel, by its public or internal id, and sets *access when the
// request runs.
func ReadChannel(r *service.Request, id string, access *Access) {
	var found rows
	internalID := ChannelID(r.Deps, id)
	r.Channel(internalID, &found.channel)
	r.ChannelUser(internalID, r.Caller.UserID, &found.user)
	found.resolveAfterRun(r, access)
}

// LoadAccess returns the caller's access to channels by internal id. Channels that do not exist and those whose home
// does not answer are missing from the map, which gives them the zero Access.
func LoadAccess(ctx context.Context, d *service.Deps, caller *auth.Caller, ids []string) (map[string]Access, error) {
	var channels []messaging.Channel
	var users []messaging.ChannelUser
	reads := d.Store.NewBestEffortBatch()
	reads.Channels(ids, &channels)
	reads.ChannelUsersOf(caller.UserID, ids, &users)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	access := make(map[string]Access, len(channels))
	for i, c := range channels {
		found := rows{&channels[i], service.Find(users, func(u messaging.ChannelUser) bool { return u.ChannelID == c.ID })}
		a, err := found.resolve(ctx, d, caller)
		if err != nil {
			return nil, err
		}
		access[c.ID] = a
	}
	return access, nil
}

// ReadableChannels returns which of the channels, by internal id, the caller may read.
func ReadableChannels(ctx context.Context, d *service.Deps, caller *auth.Caller, ids []string) (map[string]bool, error) {
	access, err := LoadAccess(ctx, d, caller, ids)
	readable := make(map[string]bool, len(access))
	for id, a := range access {
		readable[id] = a.CanRead(caller) == nil
	}
	return readable, err
}
