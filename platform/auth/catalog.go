package auth

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
)

// Catalog is the roles of one network: the built-in ones, and those that administrators made, as they were last told to it.
// The latter are network roles. A nil catalog has the built-in ones alone. Its methods may be called by many goroutines.
type Catalog struct {
	made atomic.Pointer[map[string]Role]
}

// Set replaces the roles that administrators made; it keeps what it gets.
func (c *Catalog) Set(made []Role) {
	byID := make(map[string]Role, len(made))
	for _, role := range made {
		byID[role.ID] = role
	}
	c.made.Store(&byID)
}

// Made returns the roles that administrators made, by id in alphabetical order.
func (c *Catalog) Made() []Role {
	return slices.SortedFunc(maps.Values(c.byID()), func(a, b Role) int { return cmp.Compare(a.ID, b.ID) })
}

// Find returns the role with id, and false where there is none.
func (c *Catalog) Find(id string) (Role, bool) {
	if role, ok := RoleByID(id); ok {
		return role, true
	}
	role, ok := c.byID()[id]
	return role, ok
}

// PermissionsOf returns the names of all permissions that the roles list, as the function of that name does, with those of the
// roles that administrators made.
func (c *Catalog) PermissionsOf(roles []string) []string {
	names := PermissionsOf(roles)
	more := c.Granted(roles)
	if len(more) == 0 {
		return names
	}
	for _, p := range more {
		names = append(names, string(p))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Granted returns what those of a user's roles grant everywhere that administrators made: what Facts says of it.
func (c *Catalog) Granted(roles []string) []Permission {
	made := c.byID()
	if len(made) == 0 {
		return nil
	}
	var all []Permission
	for _, id := range roles {
		all = append(all, made[id].Permissions...)
	}
	return all
}

func (c *Catalog) byID() map[string]Role {
	if c == nil {
		return nil
	}
	if made := c.made.Load(); made != nil {
		return *made
	}
	return nil
}
