package auth

import (
	"slices"
	"sync/atomic"
)

// Catalog holds the roles of one network: the built-in roles and the custom roles that administrators created. Custom
// roles are network roles. A nil Catalog has the built-in roles only. Its methods are safe for concurrent use.
type Catalog struct {
	custom atomic.Pointer[map[string]Role]
}

// Set replaces the custom roles. It retains custom.
func (c *Catalog) Set(custom []Role) {
	byID := make(map[string]Role, len(custom))
	for _, role := range custom {
		byID[role.ID] = role
	}
	c.custom.Store(&byID)
}

// Find returns the role with id, and false if it does not exist.
func (c *Catalog) Find(id string) (Role, bool) {
	if role, ok := RoleByID(id); ok {
		return role, true
	}
	role, ok := c.byID()[id]
	return role, ok
}

// PermissionsOf returns the names of all permissions that roles grant, custom roles included, sorted and without
// duplicates. Unknown roles grant nothing.
func (c *Catalog) PermissionsOf(roles []string) []string {
	names := PermissionsOf(roles)
	for _, p := range c.Granted(roles) {
		names = append(names, string(p))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Granted returns the permissions that the custom roles among a user's roles grant, for Facts.
func (c *Catalog) Granted(roles []string) []Permission {
	custom := c.byID()
	var all []Permission
	for _, id := range roles {
		all = append(all, custom[id].Permissions...)
	}
	return all
}

func (c *Catalog) byID() map[string]Role {
	if c == nil {
		return nil
	}
	if custom := c.custom.Load(); custom != nil {
		return *custom
	}
	return nil
}
