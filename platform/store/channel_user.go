package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// The memberships of channels; whoever never belonged to a channel has no row.
const (
	ChannelMember = "member"
	ChannelBanned = "banned"
	ChannelNone   = "none" // belonged to it once, or a ban was lifted
)

// roleChannelModerator is the role that makes a user of a channel count as a moderator; package auth knows what it grants.
const roleChannelModerator = "channel-moderator"

// ChannelUser is a row of channel_users. How far the user has read is in their marker of the first subchannel, see FeedMark.
type ChannelUser struct {
	ChannelID    string
	UserID       string // internal id
	UserPublicID string
	Membership   string // member, banned or none
	Roles        []string
	MutedUntil   *time.Time // nil for a user who may write
	Version      int64      // counts the changes of the row, from 1
	JoinedAt     time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// IsMember reports whether the user belongs to the channel now. A nil ChannelUser does not.
func (u *ChannelUser) IsMember() bool { return u != nil && u.Membership == ChannelMember }

// IsBanned reports whether the user is banned from the channel. A nil ChannelUser is not.
func (u *ChannelUser) IsBanned() bool { return u != nil && u.Membership == ChannelBanned }

// IsModerator reports whether the user is a member who moderates. A nil ChannelUser is not.
func (u *ChannelUser) IsModerator() bool {
	return u.IsMember() && slices.Contains(u.Roles, roleChannelModerator)
}

// IsMuted reports whether the user may not write now. A nil ChannelUser is not muted.
func (u *ChannelUser) IsMuted(now time.Time) bool {
	return u != nil && u.MutedUntil != nil && now.Before(*u.MutedUntil)
}

const channelUserColumns = `channel_id, user_id, user_public_id, membership, roles, muted_until, version, joined_at, created_at, updated_at`

func (u *ChannelUser) fields() []any {
	return []any{
		&u.ChannelID, &u.UserID, &u.UserPublicID, &u.Membership, &u.Roles, &u.MutedUntil, &u.Version, &u.JoinedAt, &u.CreatedAt, &u.UpdatedAt,
	}
}

func scanChannelUser(rows pgx.Rows) (ChannelUser, error) {
	var u ChannelUser
	err := rows.Scan(u.fields()...)
	return u, err
}

var (
	// One look for each: see members.byUser.
	sqlChannelUsersByUser = stmt("channelUsers.byUser", `SELECT `+prefixed("m", channelUserColumns)+` FROM unnest($3::text[]) AS u (id) CROSS JOIN LATERAL (
		SELECT `+channelUserColumns+` FROM channel_users WHERE home = $1 AND channel_id = $2 AND user_id = u.id LIMIT 1) AS m`)
	sqlChannelUsersByChannel = stmt("channelUsers.byChannel", `SELECT `+prefixed("m", channelUserColumns)+` FROM unnest($2::text[]) AS c (id) CROSS JOIN LATERAL (
		SELECT `+channelUserColumns+` FROM channel_users WHERE home = $1 AND channel_id = c.id AND user_id = $3 LIMIT 1) AS m`)
	sqlChannelUsersAfter = stmt("channelUsers.after", `SELECT `+channelUserColumns+` FROM channel_users WHERE home = $1 AND channel_id = $2
		AND user_id > $3 AND membership = 'member' ORDER BY user_id LIMIT $4::bigint`)
	sqlChannelUserInsert = stmt("channelUsers.insert", `INSERT INTO channel_users (home, channel_id, user_id, user_public_id, name_key, membership, roles,
		is_moderator, muted_until, version, joined_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8::boolean, $9::timestamptz, 1, $10, $10, $10)`)
	sqlChannelUserUpdate = stmt("channelUsers.update", `WITH changed AS (UPDATE channel_users SET membership = $5, roles = $6::text[],
		is_moderator = $7::boolean, muted_until = $8::timestamptz, version = version + 1, joined_at = $9, updated_at = $10
		WHERE home = $1 AND channel_id = $2 AND user_id = $3 AND version = $4::bigint RETURNING user_id)
		SELECT 1 / count(*) FROM changed`)
	sqlChannelUserIsMember = stmt("channelUsers.guardMember", `SELECT 1 / count(*) FROM channel_users
		WHERE home = $1 AND channel_id = $2 AND user_id = $3 AND membership = 'member'`)
)

// ChannelUser reads how one user stands to a channel; nil where they never belonged to it.
func (r *ReadBatch) ChannelUser(channelID, userID string, into **ChannelUser) {
	if home, err := region.HomeOf(channelID); err == nil {
		r.add(home, sqlChannelUsersByUser, scanOne(into, scanChannelUser), channelID, []string{userID})
	}
}

// ChannelUsers reads how users stand to one channel, those who left it too; their order is not defined.
func (r *ReadBatch) ChannelUsers(channelID string, userIDs []string, into *[]ChannelUser) {
	*into = nil
	if home, err := region.HomeOf(channelID); err == nil && len(userIDs) > 0 {
		once := slices.Compact(slices.Sorted(slices.Values(userIDs)))
		r.add(home, sqlChannelUsersByUser, scanAll(into, scanChannelUser), channelID, once)
	}
}

// ChannelUsersOf reads how one user stands to channels of any homes; their order is not defined.
func (r *ReadBatch) ChannelUsersOf(userID string, channelIDs []string, into *[]ChannelUser) {
	*into = nil
	for home, ids := range byHome(slices.Compact(slices.Sorted(slices.Values(channelIDs)))) {
		part := new([]ChannelUser)
		r.add(home, sqlChannelUsersByChannel, scanAll(part, scanChannelUser), ids, userID)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// ChannelUsersAfter reads up to limit members of a channel in the order of their internal ids, those after one: what is told to all
// members is told in such pages.
func (r *ReadBatch) ChannelUsersAfter(channelID, afterUserID string, limit int, into *[]ChannelUser) {
	if home, err := region.HomeOf(channelID); err == nil {
		r.add(home, sqlChannelUsersAfter, scanAll(into, scanChannelUser), channelID, afterUserID, limit)
	}
}

// GuardChannelMember makes the transaction fail with refusal where the user is no member of the channel.
func (w *Tx) GuardChannelMember(channelID, userID string, refusal error) {
	w.guard(sqlChannelUserIsMember, refusal, channelID, userID)
}

// ChannelUserChange takes one user of a channel from what was read to what it shall be.
type ChannelUserChange struct {
	Old *ChannelUser // nil where there was no row
	New ChannelUser
}

// Needed reports whether the change changes anything.
func (c ChannelUserChange) Needed() bool {
	return c.Old == nil || c.Old.Membership != c.New.Membership || !slices.Equal(c.Old.Roles, c.New.Roles) || !sameTime(c.Old.MutedUntil, c.New.MutedUntil)
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// ChangeChannelUsers changes users of one channel, and with them its counts of members and moderators. Where a row is not what was
// read any more the transaction fails with ErrChanged, and nothing happens: so the counts follow the rows, however many change
// them at once. Changes that change nothing are left out.
func (w *Tx) ChangeChannelUsers(channelID string, changes []ChannelUserChange, now time.Time) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c ChannelUserChange) bool { return !c.Needed() })
	// Everybody takes the rows in the same order, so that two changes of the same users do not lock each other out.
	slices.SortFunc(changes, func(a, b ChannelUserChange) int { return cmp.Compare(a.New.UserID, b.New.UserID) })
	var members, moderators int64
	for _, c := range changes {
		w.changeChannelUser(channelID, c, now)
		members += one(c.New.IsMember()) - one(c.Old.IsMember())
		moderators += one(c.New.IsModerator()) - one(c.Old.IsModerator())
	}
	w.countUnlessZero(channelID, CountMembers, members)
	w.countUnlessZero(channelID, CountModerators, moderators)
}

func (w *Tx) changeChannelUser(channelID string, c ChannelUserChange, now time.Time) {
	u := c.New
	if c.Old == nil {
		w.exec(sqlChannelUserInsert, channelID, u.UserID, u.UserPublicID, NameKey(u.UserPublicID, userNameKeyRunes), u.Membership,
			texts(u.Roles), u.IsModerator(), u.MutedUntil, now).conflict("channel_users_pkey", ErrChanged)
		return
	}
	w.guard(sqlChannelUserUpdate, ErrChanged, channelID, u.UserID, c.Old.Version, u.Membership, texts(u.Roles), u.IsModerator(), u.MutedUntil,
		u.JoinedAt, now)
}
