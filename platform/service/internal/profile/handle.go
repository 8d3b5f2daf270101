// Package profile changes profile handles, which are unique in the network, for the operations that set one.
package profile

import (
	"context"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Handle is a change of a user's profile handle.
type Handle struct {
	deps    *service.Deps
	old     people.User
	wanted  *string // nil if the handle does not change
	claimID string
}

// ClaimHandle claims the handle that a request sets, for the user with the present row old. A nil handle, or that which
// the user has already, changes nothing; an empty one removes the handle. It returns fail.HandleTaken if another user
// has the handle.
func ClaimHandle(ctx context.Context, d *service.Deps, old people.User, wanted *string) (Handle, error) {
	h := Handle{deps: d, old: old}
	if wanted == nil || *wanted == old.ProfileHandle {
		return h, nil
	}
	h.wanted = wanted
	if *wanted == "" {
		return h, nil
	}
	if err := directory.CheckName("profileHandle", *wanted); err != nil {
		return h, err
	}
	var err error
	h.claimID, err = d.Directory.ClaimHandle(ctx, *wanted, old.ID)
	return h, err
}

// Set sets the changed handle and its claim in a change of the user's row.
func (h Handle) Set(c *people.UserChange) {
	c.ProfileHandle = h.wanted
	if h.wanted != nil {
		c.HandleClaim = &h.claimID
	}
}

// ReleaseOld releases the handle that the user had before. Call it when the user's row is stored. If it fails, the claim
// is stale, and the next user who wants the handle takes it over.
func (h Handle) ReleaseOld(ctx context.Context) {
	if h.wanted == nil || h.old.HandleClaim == "" {
		return
	}
	if err := h.deps.Directory.ReleaseHandle(ctx, h.old.ProfileHandle, h.old.HandleClaim); err != nil {
		h.deps.Log.WarnContext(ctx, "former profile handle not released", "userId", h.old.ID, "error", err)
	}
}
