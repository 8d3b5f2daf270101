package view

import (
	"context"

	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// deletedUserName replaces the name of deleted users.
const deletedUserName = "Deleted user"

// UserPath returns a user's path.
func (b *Builder) UserPath(internalID string) string { return b.NetworkID + "/user/" + internalID }

// User converts a user as the caller sees it.
func (b *Builder) User(ctx context.Context, u people.User) *plazav1.User {
	return b.Users(ctx, []people.User{u})[0]
}

func (b *Builder) user(u people.User) *plazav1.User {
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

// Users converts users as the caller sees them, each once.
func (b *Builder) Users(ctx context.Context, rows []people.User) []*plazav1.User {
	return mapList(viewerOf(ctx).users(unique(rows, func(u people.User) string { return u.ID })), b.user)
}
