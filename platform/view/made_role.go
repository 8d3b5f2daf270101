package view

import (
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// RoleOf is a role that an administrator made, as the policy knows it. Permissions that this version does not know are left out.
func (b *Builder) RoleOf(r store.Role) auth.Role {
	role := auth.Role{ID: r.ID, DisplayName: r.DisplayName, Scope: auth.NetworkRole, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	for _, name := range r.Permissions {
		if p := auth.Permission(name); p.Known() {
			role.Permissions = append(role.Permissions, p)
		}
	}
	return role
}

// MadeRole makes the message of a role that an administrator made.
func (b *Builder) MadeRole(r store.Role) *plazav1.Role {
	m := b.Role(b.RoleOf(r))
	m.IsDeleted = r.DeletedAt != nil
	return m
}
