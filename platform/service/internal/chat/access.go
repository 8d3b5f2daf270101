// Package chat decides what callers may do in channels and their subchannels, and creates channels.
package chat

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// Access decides what a caller may do in a channel and in all of its subchannels:
//
//	caller                                   sees      reads     writes
//	member                                   visible   allowed   see below
//	non-member of a public channel           visible   400301    400301
//	non-member of a live channel             as of a public one if they see its room, stream or post, else 400400
//	non-member of another channel            400400    400400    400400
//	banned from a public channel             visible   400304    400304
//	banned from another channel              400304    400304    400304
//	administrator, or holder of VIEW_CHANNEL visible   allowed   with MANAGE_CHANNEL
//
// A member of a live channel who no longer sees its room, stream or post gets 400400 for everything. In a broadcast
// channel only moderators write (400301). Members who are muted get 400302 when they write, and in a muted channel
// all but moderators get 400303. A deleted channel can be seen, but neither read nor written (400400).
//
// The functions of this package that read a channel return its Access. The zero Access, which is also what such a
// function holds until its request has run, denies everything.
type Access struct {
	Channel *messaging.Channel     // nil if the channel does not exist
	User    *messaging.ChannelUser // the caller's; nil if the caller never was a member

	resolved     bool // set by resolve
	seesAttached bool // the caller sees the room, stream or post of a live channel
	hiddenMember bool // the caller is a member of a live channel, but does not see its room, stream or post
}

// SeesAllChannels reports whether a network role of the caller allows to see all channels and to read them.
func SeesAllChannels(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ViewChannel, auth.Scope{})
}

func (a Access) scope() auth.Scope {
	if a.User == nil {
		return auth.Scope{Membership: &auth.Membership{}}
	}
	return auth.Scope{Membership: &auth.Membership{Member: a.User.IsMember(), Banned: a.User.IsBanned(), Roles: a.User.Roles}}
}

// CanSee returns an error unless the caller may know that the channel exists, or existed.
func (a Access) CanSee(caller *auth.Caller) error {
	switch {
	case !a.resolved || a.Channel == nil:
		return fail.NotFound()
	case SeesAllChannels(caller):
		return nil
	case a.hiddenMember:
		return fail.NotFound()
	case a.User.IsMember(), a.Channel.IsPublic, a.seesAttached:
		return nil
	case a.User.IsBanned():
		return fail.ChannelBanned()
	}
	return fail.NotFound()
}

// CanJoin reports whether a caller who sees the channel may join it without being added by a moderator.
func (a Access) CanJoin() bool { return a.resolved && (a.Channel.IsPublic || a.seesAttached) }

// CanRead returns an error unless the caller may read the messages of the channel.
func (a Access) CanRead(caller *auth.Caller) error {
	return a.canEnter(caller, auth.ViewChannel)
}

// CanHear returns an error unless the caller may receive events of the channel: its deletion is one of them.
func (a Access) CanHear(caller *auth.Caller) error {
	if a.Channel != nil && a.Channel.DeletedAt != nil {
		kept := *a.Channel
		kept.DeletedAt = nil
		a.Channel = &kept
	}
	return a.CanRead(caller)
}

// canEnter returns an error unless the caller is a member or a network role of the caller grants p.
func (a Access) canEnter(caller *auth.Caller, p auth.Permission) error {
	if err := a.CanSee(caller); err != nil {
		return err
	}
	switch {
	case a.Channel.DeletedAt != nil:
		return fail.NotFound()
	case a.User.IsMember(), auth.Permits(caller, p, auth.Scope{}):
		return nil
	case a.User.IsBanned():
		return fail.ChannelBanned()
	}
	return fail.NotChannelMember()
}

// CanWrite returns an error unless the caller may write in the channel now.
func (a Access) CanWrite(caller *auth.Caller, now time.Time) error {
	if err := a.canEnter(caller, auth.ManageChannel); err != nil {
		return err
	}
	switch {
	case auth.Permits(caller, auth.MuteChannel, a.scope()):
		return nil
	case a.Channel.Type == messaging.ChannelBroadcast:
		return fail.PermissionDenied()
	case a.User.IsMuted(now):
		return fail.UserMuted()
	case a.Channel.IsMuted(now):
		return fail.ChannelMuted()
	}
	return nil
}

// CanModerate reports whether a role in the channel or a network role grants the caller p.
func (a Access) CanModerate(caller *auth.Caller, p auth.Permission) bool {
	return a.resolved && auth.Permits(caller, p, a.scope())
}

// Shows reports whether a caller who can read the channel sees a message that is not deleted: flags may hide it from all but
// its author and the moderators.
func (a Access) Shows(caller *auth.Caller, m messaging.Message) bool {
	return !m.HiddenFrom(caller.UserID, a.CanModerate(caller, auth.DeleteMessage))
}

// AuthorityOf returns the authority that a user has in the channel; u is the user's row.
func (a Access) AuthorityOf(userID string, u *messaging.ChannelUser) auth.Authority {
	return auth.AuthorityIn(a.Channel.CreatorID == userID && a.Channel.Type != messaging.ChannelConversation, u.IsModerator())
}

// RequireOverAuthor returns an error if the authority of the caller is below that of the author of a message. It takes
// a round trip unless the caller is the author or an administrator.
func (a Access) RequireOverAuthor(ctx context.Context, d *service.Deps, caller *auth.Caller, authorID string) error {
	if caller.Kind == auth.Admin || caller.UserID == authorID {
		return nil
	}
	author, err := d.AuthorityOf(ctx, authorID, a.ReadAuthority)
	if err != nil {
		return err
	}
	return caller.Authority(a.AuthorityOf(caller.UserID, a.User)).RequireOverContentOf(author)
}

// ReadAuthority queues the read of the row of a user, and returns the function that then returns AuthorityOf.
func (a Access) ReadAuthority(reads *store.ReadBatch, userID string) func() auth.Authority {
	var row *messaging.ChannelUser
	reads.ChannelUser(a.Channel.ID, userID, &row)
	return func() auth.Authority { return a.AuthorityOf(userID, row) }
}

// RequireModerate returns nil if CanModerate does and the channel is not deleted. Otherwise it returns the error of
// CanSee, 400304 for a caller whom only a ban keeps from it, or 400300.
func (a Access) RequireModerate(caller *auth.Caller, p auth.Permission) error {
	if err := a.CanSee(caller); err != nil {
		return err
	}
	if a.Channel.DeletedAt != nil {
		return fail.NotFound()
	}
	err := auth.Require(caller, p, a.scope())
	if errors.Is(err, fail.Banned()) {
		return fail.ChannelBanned()
	}
	return err
}
