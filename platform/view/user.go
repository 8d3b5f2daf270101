package view

import (
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// deletedUserName stands in for the name of a deleted user.
const deletedUserName = "Deleted user"

// UserPath is where a user's realtime events are told.
func (b *Builder) UserPath(internalID string) string { return b.NetworkID + "/user/" + internalID }

// User makes the message of a user.
func (b *Builder) User(u store.User) *plazav1.User {
	m := &plazav1.User{
		UserId:          u.PublicID,
		CreatedAt:       ts(u.CreatedAt),
		UpdatedAt:       ts(u.UpdatedAt),
		PrivateId:       u.ID,
		Path:            b.UserPath(u.ID),
		UserInternalId:  u.ID,
		UserPublicId:    u.PublicID,
		Roles:           u.Roles,
		Permissions:     b.Catalog.PermissionsOf(u.Roles),
		DisplayName:     u.DisplayName,
		ProfileHandle:   u.ProfileHandle,
		Description:     u.Description,
		AvatarFileId:    u.AvatarFileID,
		AvatarCustomUrl: u.AvatarCustomURL,
		FlagCount:       count(u.FlagCount),
		HashFlag:        HashFlag(u.Flaggers),
		Metadata:        object(u.Metadata),
		IsGlobalBan:     u.IsGlobalBan,
		IsGlobalBanned:  u.IsGlobalBan,
		IsBrand:         u.IsBrand,
		IsDeleted:       u.DeletedAt != nil,
	}
	if m.GetIsDeleted() {
		m.DisplayName, m.Metadata = deletedUserName, object(nil)
	}
	return m
}

// Users makes the messages of users, each once.
func (b *Builder) Users(rows []store.User) []*plazav1.User {
	seen := make(map[string]bool, len(rows))
	out := make([]*plazav1.User, 0, len(rows))
	for _, u := range rows {
		if !seen[u.ID] {
			seen[u.ID] = true
			out = append(out, b.User(u))
		}
	}
	return out
}

// Role makes the message of a role.
func (b *Builder) Role(r auth.Role) *plazav1.Role {
	permissions := make([]string, len(r.Permissions))
	for i, p := range r.Permissions {
		permissions[i] = string(p)
	}
	m := &plazav1.Role{RoleId: r.ID, DisplayName: r.DisplayName, Permissions: permissions, CreatedAt: ts(roleEpoch), UpdatedAt: ts(roleEpoch)}
	if !r.CreatedAt.IsZero() {
		m.CreatedAt, m.UpdatedAt = ts(r.CreatedAt), ts(r.UpdatedAt)
	}
	return m
}

// Roles makes the messages of the roles named by ids, each once; unknown ids are left out.
func (b *Builder) Roles(ids []string) []*plazav1.Role {
	seen := map[string]bool{}
	var out []*plazav1.Role
	for _, id := range ids {
		role, ok := b.Catalog.Find(id)
		if ok && !seen[id] {
			seen[id] = true
			out = append(out, b.Role(role))
		}
	}
	return out
}
