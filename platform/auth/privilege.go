package auth

import (
	"context"
	"slices"
)

// Privilege is a permission that a user exercised because a role grants it, rather than as the owner of a resource.
type Privilege struct {
	Permission Permission
	Roles      []string // the user's, in the network and in the membership concerned
}

// unprivileged are the permissions whose exercise is no privilege: reading, and creating content.
var unprivileged = setOf(slices.Concat(consoleView, []Permission{CreatePrivilegedPost, CreateEvent, CreateEventWithLivestream}))

// Privilege returns the first privilege that the caller exercised, or nil.
func (c *Caller) Privilege() *Privilege { return c.privilege.Load() }

// exercise records that the caller has permission p in scope s, unless that is no privilege.
func (c *Caller) exercise(p Permission, s Scope) {
	if c.Kind != User || s.Creating || unprivileged[p] || c.privilege.Load() != nil || owns(c, p, s) {
		return
	}
	roles := c.Roles()
	if s.Membership != nil {
		roles = append(roles, s.Membership.Roles...)
	}
	c.privilege.CompareAndSwap(nil, &Privilege{Permission: p, Roles: roles})
}

// SignedIn records that a user with roles in the network signs in, which is a privilege that the caller, who is identified
// by an API key, exercises as that user.
func (c *Caller) SignedIn(userID, publicID string, roles []string) {
	if len(roles) > 0 {
		c.signIn.Store(&SignIn{UserID: userID, PublicID: publicID, Roles: slices.Clone(roles)})
	}
}

// SignIn is the beginning of a session of a user with roles in the network.
type SignIn struct {
	UserID, PublicID string
	Roles            []string
}

// SignIn returns what SignedIn recorded, or nil.
func (c *Caller) SignIn() *SignIn { return c.signIn.Load() }

// Object is an object that an operation concerns.
type Object struct{ Type, ID string }

// maxCreated bounds the objects that Created records for one request.
const maxCreated = 100

// Created records that the request of ctx creates an object, whose id the request does not contain.
func Created(ctx context.Context, kind, id string) {
	c := CallerFrom(ctx)
	c.createdMu.Lock()
	defer c.createdMu.Unlock()
	if len(c.created) < maxCreated {
		c.created = append(c.created, Object{kind, id})
	}
}

// Created returns the objects that the request has created.
func (c *Caller) Created() []Object {
	c.createdMu.Lock()
	defer c.createdMu.Unlock()
	return slices.Clone(c.created)
}
