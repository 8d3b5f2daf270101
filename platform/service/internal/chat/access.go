package chat

import (
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Access is a channel as a caller finds it, and says what they may do in it and in all of its subchannels:
//
//	                                     sees            reads           writes
//	member                               as all do       so              see below
//	no member of a public channel        as all do       400301          400301
//	no member of a live channel          as of a public one, where they see what it is the chat of; otherwise 400400
//	no member of another                 400400          400400          400400
//	banned, from a public channel        as all do       400304          400304
//	banned, from another                 400304          400304          400304
//	administrators and VIEW_CHANNEL      every one       every one       with MANAGE_CHANNEL
//
// A member of a live channel who does not see any more what it is the chat of finds 400400, as if it were not there.
// Members of a broadcast channel who do not moderate it write nothing (400301), those of a muted channel neither (400303), nor
// does who is muted (400302). A deleted channel is seen, and says so; it is neither read nor written (400400).
type Access struct {
	Channel *store.Channel     // nil where there is none
	User    *store.ChannelUser // the caller's; nil for a stranger
	// Attached is whether the caller sees what the live channel is the chat of.
	SeesAttached bool
	// Hidden is whether the caller is a member of a live channel who does not see any more what it is the chat of: as long as that is
	// so, it is not there for them.
	HiddenMember bool
}

// ChannelID is the internal id of a channel by either of its ids.
func ChannelID(d *service.Deps, id string) string {
	if region.ValidID(id) { // clients cannot choose such ids
		return id
	}
	return d.Directory.ChannelID(id)
}

// SeesEveryChannel reports whether a network role lets the caller see every channel and read what is in it.
func SeesEveryChannel(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ViewChannel, auth.Scope{})
}

func (a Access) scope() auth.Scope {
	if a.User == nil {
		return auth.Scope{Membership: &auth.Membership{}}
	}
	return auth.Scope{Membership: &auth.Membership{Member: a.User.IsMember(), Banned: a.User.IsBanned(), Roles: a.User.Roles}}
}

// CanSee returns nil where the caller may know of the channel, a deleted one too.
func (a Access) CanSee(caller *auth.Caller) error {
	switch {
	case a.Channel == nil:
		return fail.NotFound()
	case SeesEveryChannel(caller):
		return nil
	case a.HiddenMember:
		return fail.NotFound()
	case a.User.IsMember(), a.Channel.IsPublic, a.SeesAttached:
		return nil
	case a.User.IsBanned():
		return fail.ChannelBanned()
	}
	return fail.NotFound()
}

// CanRead returns nil where the caller may read what is in the channel.
func (a Access) CanRead(caller *auth.Caller) error {
	return a.canEnter(caller, auth.ViewChannel)
}

// canEnter lets members in, and those with a network role that grants p.
func (a Access) canEnter(caller *auth.Caller, p auth.Permission) error {
	if err := a.CanSee(caller); err != nil {
		return err
	}
	switch {
	case a.Channel.DeletedAt != nil:
		return fail.NotFound()
	case a.User.IsMember(), auth.Allowed(caller, p, auth.Scope{}):
		return nil
	case a.User.IsBanned():
		return fail.ChannelBanned()
	}
	return fail.NotChannelMember()
}

// CanWrite returns nil where the caller may write in the channel now.
func (a Access) CanWrite(caller *auth.Caller, now time.Time) error {
	if err := a.canEnter(caller, auth.ManageChannel); err != nil {
		return err
	}
	switch {
	case a.Moderates(caller):
		return nil
	case a.Channel.Type == store.ChannelBroadcast:
		return fail.PermissionDenied()
	case a.User.IsMuted(now):
		return fail.UserMuted()
	case a.Channel.IsMuted(now):
		return fail.ChannelMuted()
	}
	return nil
}

// Moderates reports whether the caller moderates the channel: no mute is for them.
func (a Access) Moderates(caller *auth.Caller) bool {
	return a.CanModerate(caller, auth.MuteChannel)
}

// CanModerate reports whether the caller may do what takes a permission in the channel: by a role in it, or by a network role.
func (a Access) CanModerate(caller *auth.Caller, p auth.Permission) bool {
	return auth.Allowed(caller, p, a.scope())
}

// RequireModerate returns nil where CanModerate says yes, for a channel that is there: 400300 otherwise, 400304 for the banned who
// could but for that, and what CanSee says to those who may not know of the channel.
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
