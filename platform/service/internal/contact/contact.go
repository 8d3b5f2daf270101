// Package contact holds the rule by which a block ends contact between two users, in both directions and everywhere:
// neither adds the other to a community or channel, invites, mentions, answers or reacts to the other. Package follow
// applies it to follows, and package visibility to walls.
//
// Users whom a network role allows to moderate users are exempt, and so are administrators, who cannot be blocked.
package contact

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Blocks are the blocks by and of the caller.
type Blocks struct {
	caller *auth.Caller
	others []string // internal ids of the users whom the caller blocks or is blocked by
}

// Read adds the read of the caller's blocks to a request.
func Read(r *service.Request) *Blocks {
	b := &Blocks{caller: r.Caller}
	r.HiddenFrom(r.Caller.UserID, &b.others)
	return b
}

// New returns the blocks of a caller, given the users whom the caller blocks or is blocked by.
func New(caller *auth.Caller, others []string) *Blocks { return &Blocks{caller, others} }

// Load reads the caller's blocks in a round trip of its own.
func Load(ctx context.Context, d *service.Deps, caller *auth.Caller) (*Blocks, error) {
	others, err := service.Read(ctx, d, (*store.ReadBatch).HiddenFrom, caller.UserID)
	return &Blocks{caller, others}, err
}

// MayContact reports whether the caller may contact a user, by internal id.
func (b *Blocks) MayContact(userID string) bool {
	return !slices.Contains(b.others, userID) || auth.Permits(b.caller, auth.ModerateUser, auth.Scope{})
}

// RequireFound returns 400400, as for unknown users, unless the caller may contact all of the users.
func (b *Blocks) RequireFound(userIDs []string) error {
	for _, id := range userIDs {
		if !b.MayContact(id) {
			return fail.NotFound()
		}
	}
	return nil
}

// ErrBlocked refuses an answer or a reaction to what one of two users wrote who block each other.
var ErrBlocked = fail.Forbidden("One of the two users blocks the other")

// RequireAnswer returns ErrBlocked unless the caller may answer or react to what a user wrote.
func (b *Blocks) RequireAnswer(authorID string) error {
	if !b.MayContact(authorID) {
		return ErrBlocked
	}
	return nil
}
