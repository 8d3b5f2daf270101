package messaging

import (
	"cmp"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The memberships in channels. A user who never belonged to a channel has no row.
const (
	ChannelMember = "member"
	ChannelBanned = "banned"
	ChannelNone   = "none" // left, was removed, or the ban was lifted
)

// roleChannelModerator is the role of a channel's moderators. Package auth defines its permissions.
const roleChannelModerator = "channel-moderator"

// ChannelUser is a row of channel_users. How far the user has read is stored in the user's marker of the default
// subchannel, see FeedMarker.
type ChannelUser struct {
	ChannelID    string
	UserID       string // internal id
	UserPublicID string
	Membership   string // member, banned or none
	Roles        []string
	MutedUntil   *time.Time // nil if not muted
	Version      int64      // starts at 1 and is incremented by each change
	JoinedAt     time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// IsMember reports whether the user is a member of the channel. It is false for a nil ChannelUser.
func (u *ChannelUser) IsMember() bool { return u != nil && u.Membership == ChannelMember }

// IsBanned reports whether the user is banned from the channel. It is false for a nil ChannelUser.
func (u *ChannelUser) IsBanned() bool { return u != nil && u.Membership == ChannelBanned }

// IsModerator reports whether the user is a member and a moderator. It is false for a nil ChannelUser.
func (u *ChannelUser) IsModerator() bool {
	return u.IsMember() && slices.Contains(u.Roles, roleChannelModerator)
}

// IsMuted reports whether the user is muted. It is false for a nil ChannelUser.
func (u *ChannelUser) IsMuted(now time.Time) bool {
	return u != nil && u.MutedUntil != nil && now.Before(*u.MutedUntil)
}

var channelUserColumns = db.Columns[ChannelUser]()

var (
	// One lookup per id, see members.byUser.
	sqlChannelUsersByUser = db.Register("channelUsers.byUser", `SELECT `+db.Prefixed("m", channelUserColumns)+` FROM unnest($3::text[]) AS u (id)
		CROSS JOIN LATERAL (
		SELECT `+channelUserColumns+` FROM channel_users WHERE home = $1 AND channel_id = $2 AND user_id = u.id LIMIT 1) AS m`)
	sqlChannelUsersByChannel = db.Register("channelUsers.byChannel", `SELECT `+db.Prefixed("m", channelUserColumns)+` FROM unnest($2::text[]) AS c
		(id) CROSS JOIN LATERAL (
		SELECT `+channelUserColumns+` FROM channel_users WHERE home = $1 AND channel_id = c.id AND user_id = $3 LIMIT 1) AS m`)
	sqlChannelUsersAfter = db.Register("channelUsers.after", `SELECT `+channelUserColumns+` FROM channel_users WHERE home = $1 AND channel_id = $2
		AND user_id > $3 AND membership = 'member' ORDER BY user_id LIMIT $4::bigint`)
	sqlChannelUserInsert = db.Register("channelUsers.insert", `INSERT INTO channel_users (home, channel_id, user_id, user_public_id, name_key,
		membership, roles,
		is_moderator, muted_until, version, joined_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8::boolean, $9::timestamptz, 1, $10, $10, $10)`)
	sqlChannelUserUpdate = db.Register("channelUsers.update", `WITH changed AS (UPDATE channel_users SET membership = $5, roles = $6::text[],
		is_moderator = $7::boolean, muted_until = $8::timestamptz, version = version + 1, joined_at = $9, updated_at = $10
		WHERE home = $1 AND channel_id = $2 AND user_id = $3 AND version = $4::bigint RETURNING user_id)
		SELECT 1 / count(*) FROM changed`)
	sqlChannelUserGuardMember = db.Register("channelUsers.guardMember", `SELECT 1 / count(*) FROM channel_users
		WHERE home = $1 AND channel_id = $2 AND user_id = $3 AND membership = 'member'`)
)

// ChannelUser reads the row of one user of a channel; nil if the user never belonged to it.
func (r ReadBatch) ChannelUser(channelID, userID string, into **ChannelUser) {
	r.AddAt(channelID, sqlChannelUsersByUser, db.Row(into), channelID, []string{userID})
}

// ChannelUsers reads the rows of users of one channel, including former members, in no particular order.
func (r ReadBatch) ChannelUsers(channelID string, userIDs []string, into *[]ChannelUser) {
	*into = nil
	if len(userIDs) > 0 {
		r.AddAt(channelID, sqlChannelUsersByUser, db.Rows(into), channelID, slices.Compact(slices.Sorted(slices.Values(userIDs))))
	}
}

// ChannelUsersOf reads the rows of one user in channels of any homes, in no particular order.
func (r ReadBatch) ChannelUsersOf(userID string, channelIDs []string, into *[]ChannelUser) {
	core.ReadMany(r.ReadBatch, slices.Compact(slices.Sorted(slices.Values(channelIDs))), sqlChannelUsersByChannel, into, userID)
}

// ChannelUsersAfter reads up to limit members of a channel after a user, ordered by internal id. It pages through all
// members, for events that every member receives.
func (r ReadBatch) ChannelUsersAfter(channelID, afterUserID string, limit int, into *[]ChannelUser) {
	r.AddAt(channelID, sqlChannelUsersAfter, db.Rows(into), channelID, afterUserID, limit)
}

// GuardChannelMember makes the transaction fail with refusal if the user is not a member of the channel.
func (w Tx) GuardChannelMember(channelID, userID string, refusal error) {
	w.Guard(sqlChannelUserGuardMember, refusal, channelID, userID)
}

// ChannelUserChange is the change of a user of a channel from the row that was read.
type ChannelUserChange struct {
	Old *ChannelUser // nil if there was no row
	New ChannelUser
}

// Needed reports whether Old and New differ.
func (c ChannelUserChange) Needed() bool {
	return c.Old == nil || c.Old.Membership != c.New.Membership || !slices.Equal(c.Old.Roles, c.New.Roles) || c.ChangesMute()
}

// ChangesMute reports whether the change mutes or unmutes the user, or sets another end.
func (c ChannelUserChange) ChangesMute() bool {
	var before *time.Time
	if c.Old != nil {
		before = c.Old.MutedUntil
	}
	after := c.New.MutedUntil
	return before != after && (before == nil || after == nil || !before.Equal(*after))
}

// ChangeChannelUsers changes users of one channel and its counts of members and moderators. Changes without a
// difference are skipped. If a row is not the one that was read, the transaction fails with ErrConflict, so that the
// counts stay consistent with concurrent changes.
func (w Tx) ChangeChannelUsers(channelID string, changes []ChannelUserChange, now time.Time) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c ChannelUserChange) bool { return !c.Needed() })
	// Rows are locked in the same order by all transactions, so that concurrent changes do not deadlock.
	slices.SortFunc(changes, func(a, b ChannelUserChange) int { return cmp.Compare(a.New.UserID, b.New.UserID) })
	var members, moderators int64
	for _, c := range changes {
		w.changeChannelUser(channelID, c, now)
		members += core.CountIf(c.New.IsMember()) - core.CountIf(c.Old.IsMember())
		moderators += core.CountIf(c.New.IsModerator()) - core.CountIf(c.Old.IsModerator())
	}
	w.CountUnlessZero(channelID, core.CountMembers, members)
	w.CountUnlessZero(channelID, core.CountModerators, moderators)
}

func (w Tx) changeChannelUser(channelID string, c ChannelUserChange, now time.Time) {
	u := c.New
	if c.Old == nil {
		w.Exec(sqlChannelUserInsert, channelID, u.UserID, u.UserPublicID, core.NameKey(u.UserPublicID, core.PersonNameKeyRunes), u.Membership,
			core.EmptyIfNil(u.Roles), u.IsModerator(), u.MutedUntil, now).OnConflict("channel_users_pkey", core.ErrConflict)
		return
	}
	w.Guard(sqlChannelUserUpdate, core.ErrConflict, channelID, u.UserID, c.Old.Version, u.Membership, core.EmptyIfNil(u.Roles),
		u.IsModerator(),
		u.MutedUntil,
		u.JoinedAt, now)
}
