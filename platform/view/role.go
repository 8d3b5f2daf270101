package view

import (
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// builtInSince is the creation time of the built-in roles: the day of the first version of the interface that Plaza
// serves.
var builtInSince = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// Role converts a role.
func (b *Builder) Role(r auth.Role) *plazav1.Role {
	m := &plazav1.Role{
		RoleId: r.ID, DisplayName: r.DisplayName, Permissions: make([]string, len(r.Permissions)),
		CreatedAt: ts(builtInSince), UpdatedAt: ts(builtInSince),
	}
	for i, p := range r.Permissions {
		m.Permissions[i] = string(p)
	}
	if !r.CreatedAt.IsZero() {
		m.CreatedAt, m.UpdatedAt = ts(r.CreatedAt), ts(r.UpdatedAt)
	}
	return m
}

// Roles converts the roles with the given ids, each once; unknown ids are left out.
func (b *Builder) Roles(ids []string) []*plazav1.Role {
	var out []*plazav1.Role
	for _, id := range newIDSet(ids...).list() {
		if role, ok := b.Catalog.Find(id); ok {
			out = append(out, b.Role(role))
		}
	}
	return out
}

// CustomRole converts a role that an administrator created.
func (b *Builder) CustomRole(r network.Role) *plazav1.Role {
	m := b.Role(b.AuthRole(r))
	m.IsDeleted = r.DeletedAt != nil
	return m
}

// AuthRole returns the role as package auth evaluates it. Permissions that this version does not know are left out.
func (b *Builder) AuthRole(r network.Role) auth.Role {
	role := auth.Role{ID: r.ID, DisplayName: r.DisplayName, Scope: auth.NetworkRole, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	for _, name := range r.Permissions {
		if p := auth.Permission(name); p.Known() {
			role.Permissions = append(role.Permissions, p)
		}
	}
	return role
}
