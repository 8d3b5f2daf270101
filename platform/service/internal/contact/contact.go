// Package contact holds the rule by which a block ends contact between two users, in both directions and everywhere:
// neither adds the other to a community or channel, invites, mentions, answers or reacts to the other. Package follow
// applies it to follows, and package visibility to walls.
//
// Users whom a network role allows to moderate users are exempt, and so are administrators, who cannot be blocked.
//
// Any number of users can block one, so no request reads all of them. A request that names users reads the blocks
// between the caller and these users (Blocks). Other requests read up to store.MaxHidden hidden users. If the caller has
// more, they also check each user whose content they have read (Hidden).
package contact

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Blocks are the blocks between the caller and the users whom a request names.
type Blocks struct {
	caller  *auth.Caller
	userIDs []string
	blocked []string // those of userIDs whom the caller blocks or is blocked by
}

// Read adds the read of the blocks between the caller and some users, by internal id, to a request.
func Read(r *service.Request, userIDs []string) *Blocks {
	b := &Blocks{caller: r.Caller, userIDs: userIDs}
	b.read(r.ReadBatch)
	return b
}

// Load is Read in a round trip of its own.
func Load(ctx context.Context, d *service.Deps, userIDs []string) (*Blocks, error) {
	b := &Blocks{caller: auth.CallerFrom(ctx), userIDs: userIDs}
	reads := d.Store.NewReadBatch()
	b.read(reads)
	return b, reads.Run(ctx)
}

func (b *Blocks) read(r *store.ReadBatch) {
	if len(b.userIDs) > 0 {
		r.HiddenAmong(b.caller.UserID, b.userIDs, &b.blocked)
	}
}

// MayContact reports whether the caller may contact one of the users.
func (b *Blocks) MayContact(userID string) bool { return mayContact(b.caller, b.blocked, userID) }

// RequireFound returns 400400, as for unknown users, unless the caller may contact all of the users.
func (b *Blocks) RequireFound() error {
	if slices.ContainsFunc(b.userIDs, func(id string) bool { return !b.MayContact(id) }) {
		return fail.NotFound()
	}
	return nil
}

// Any reports whether there is a block between the caller and one of the users, whatever the caller's roles are.
func (b *Blocks) Any() bool { return len(b.blocked) > 0 }

// mayContact is the rule.
func mayContact(caller *auth.Caller, blocked []string, userID string) bool {
	return !slices.Contains(blocked, userID) || auth.Permits(caller, auth.ModerateUser, auth.Scope{})
}
