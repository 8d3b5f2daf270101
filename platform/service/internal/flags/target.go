package flags

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Target is something that can have flags.
type Target struct {
	ID      string
	PlaceID string // its community or channel; empty if it has none
	Removed bool   // whether it is deleted or declined, or does not exist

	recompute func(tx *store.Tx) // recomputes what depends on the flags
	raise     func(tx *store.Tx) // is recompute after an addition
	hide      func(tx *store.Tx, limit int, now time.Time)
}

// Missing returns a target that does not exist.
func Missing(id string) Target {
	nothing := func(*store.Tx) {}
	return Target{ID: id, Removed: true, recompute: nothing, raise: nothing, hide: func(*store.Tx, int, time.Time) {}}
}

// Recompute adds to a transaction that changes the flags of a target the changes of what depends on them. A limit above 0
// hides the target if as many users flag it.
func (t Target) Recompute(tx *store.Tx, limit int, now time.Time) {
	t.recompute(tx)
	t.hide(tx, limit, now)
}

// OfPost returns a post as a target.
func OfPost(p content.Post) Target {
	return Target{
		ID: p.ID, PlaceID: communityOf(p.TargetType, p.TargetID), Removed: p.DeletedAt != nil || p.FeedType == "declined",
		recompute: func(tx *store.Tx) { tx.RecomputePostFlags(p) },
		raise:     func(tx *store.Tx) { tx.RaisePostFlags(p) },
		hide:      func(tx *store.Tx, limit int, now time.Time) { tx.ApplyFlagsToPost(p, limit, now) },
	}
}

// OfComment returns a comment as a target.
func OfComment(c content.Comment) Target {
	return Target{
		ID: c.ID, PlaceID: communityOf(c.TargetType, c.TargetID), Removed: c.DeletedAt != nil || c.ApprovalStatus == content.Declined,
		recompute: func(tx *store.Tx) { tx.RecomputeCommentFlags(c) },
		raise:     func(tx *store.Tx) { tx.RaiseCommentFlags(c) },
		hide:      func(tx *store.Tx, limit int, now time.Time) { tx.ApplyFlagsToComment(c, limit, now) },
	}
}

// OfStory returns a story as a target.
func OfStory(s content.Story) Target {
	recompute := func(tx *store.Tx) { tx.RecomputeStoryFlags(s.ID) }
	return Target{
		ID: s.ID, PlaceID: communityOf(s.TargetType, s.TargetID), Removed: s.DeletedAt != nil, recompute: recompute, raise: recompute,
		hide: func(tx *store.Tx, limit int, now time.Time) { tx.ApplyFlagsToStory(s, limit, now) },
	}
}

// OfMessage returns a message as a target.
func OfMessage(m messaging.Message) Target {
	recompute := func(tx *store.Tx) { tx.RecomputeMessageFlags(m.ID) }
	return Target{
		ID: m.ID, PlaceID: m.ChannelID, Removed: m.DeletedAt != nil, recompute: recompute, raise: recompute,
		hide: func(tx *store.Tx, limit int, now time.Time) { tx.ApplyFlagsToMessage(m.ID, limit, now) },
	}
}

// OfUser returns a user as a target. Flags do not hide users, but escalate their items.
func OfUser(u people.User) Target {
	recompute := func(tx *store.Tx) { tx.RecomputeUserFlags(u.ID) }
	return Target{
		ID: u.ID, Removed: u.DeletedAt != nil, recompute: recompute, raise: recompute,
		hide: func(tx *store.Tx, limit int, _ time.Time) { tx.EscalateUser(u.ID, limit) },
	}
}

// communityOf returns the place of content that was posted somewhere.
func communityOf(targetType, targetID string) string {
	if targetType == "community" {
		return targetID
	}
	return ""
}
