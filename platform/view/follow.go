package view

import (
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Follow converts a follow.
func (b *Builder) Follow(f people.Follow) *plazav1.Follow {
	return &plazav1.Follow{
		From: f.FollowerPublicID, FromUserPublicId: f.FollowerPublicID, FromUserInternalId: f.FollowerID,
		To: f.FolloweePublicID, ToUserPublicId: f.FolloweePublicID, ToUserInternalId: f.FolloweeID,
		Status: f.Status, CreatedAt: ts(f.CreatedAt), UpdatedAt: ts(f.UpdatedAt),
	}
}

// Block converts a block to a follow record whose status is `blocked`, or `none` after the block has ended.
func (b *Builder) Block(row people.Block) *plazav1.Follow {
	return &plazav1.Follow{
		From: row.BlockerPublicID, FromUserPublicId: row.BlockerPublicID, FromUserInternalId: row.BlockerID,
		To: row.BlockedPublicID, ToUserPublicId: row.BlockedPublicID, ToUserInternalId: row.BlockedID,
		Status: row.Status, CreatedAt: ts(row.CreatedAt), UpdatedAt: ts(row.UpdatedAt),
	}
}

// FollowCount returns a user's follow counts.
func (b *Builder) FollowCount(u people.User, counts core.Counts) *plazav1.FollowCount {
	return &plazav1.FollowCount{
		UserId:         u.PublicID,
		FollowerCount:  count(counts.Of(u.ID, people.CountFollowers)),
		FollowingCount: count(counts.Following(u.ID)),
		PendingCount:   count(counts.Of(u.ID, people.CountFollowRequests)),
	}
}

// FollowPath returns the topic of events about a follow.
func (b *Builder) FollowPath(f people.Follow) string {
	return b.NetworkID + "/membership/" + f.FolloweeID + "/" + f.FollowerID + "/" + f.Status
}
