package communities

import (
	"cmp"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The states of a membership. A user who never belonged to a community has no row.
const (
	StateMember  = "member"
	StateLeft    = "left"
	StateRemoved = "removed"
	StateBanned  = "banned"
)

// roleModerator is the role of a community's moderators. Package auth defines its permissions.
const roleModerator = "community-moderator"

// Member is a row of community_members.
type Member struct {
	CommunityID  string
	UserID       string // internal id
	UserPublicID string
	State        string
	Roles        []string
	Version      int64 // starts at 1 and is incremented by each change
	JoinedAt     time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// IsMember reports whether the user is a member of the community. It is false for a nil Member.
func (m *Member) IsMember() bool { return m != nil && m.State == StateMember }

// IsBanned reports whether the user is banned from the community. It is false for a nil Member.
func (m *Member) IsBanned() bool { return m != nil && m.State == StateBanned }

// IsModerator reports whether the user is a member and a moderator. It is false for a nil Member.
func (m *Member) IsModerator() bool { return m.IsMember() && slices.Contains(m.Roles, roleModerator) }

// MemberColumns are the columns of Member.
var MemberColumns = db.Columns[Member]()

var (
	// One lookup per user: PostgreSQL would otherwise read all members of a community, which is slow for large ones.
	sqlMembersByUser = db.Register("members.byUser", `SELECT `+db.Prefixed("m", MemberColumns)+` FROM unnest($3::text[]) AS u (id) CROSS JOIN LATERAL
		(
		SELECT `+MemberColumns+` FROM community_members WHERE home = $1 AND community_id = $2 AND user_id = u.id LIMIT 1) AS m`)
	sqlMemberships = db.Register("members.byCommunity", `SELECT `+MemberColumns+` FROM community_members
		WHERE home = $1 AND community_id = ANY($2::text[]) AND user_id = $3`)
	sqlMembersAfter = db.Register("members.after", `SELECT `+MemberColumns+` FROM community_members WHERE home = $1 AND community_id = $2
		AND user_id > $3 AND state = 'member' ORDER BY user_id LIMIT $4::bigint`)
	sqlMemberInsert = db.Register("members.insert", `INSERT INTO community_members (home, community_id, user_id, user_public_id, name_key,
		state, roles, is_moderator, version, joined_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8, 1, $9, $9, $9)`)
	sqlMemberUpdate = db.Register("members.update", `WITH changed AS (UPDATE community_members SET state = $5, roles = $6::text[],
		is_moderator = $7, version = version + 1, joined_at = $8, updated_at = $9
		WHERE home = $1 AND community_id = $2 AND user_id = $3 AND version = $4::bigint RETURNING user_id)
		SELECT 1 / count(*) FROM changed`)
	sqlMemberGuardModerator = db.Register("members.keepsModerator", `SELECT 1 / CASE
		WHEN EXISTS (SELECT 1 FROM community_members WHERE home = $1 AND community_id = $2 AND is_moderator) THEN 1
		WHEN (SELECT user_id FROM community_members WHERE home = $1 AND community_id = $2 AND state = 'member'
			ORDER BY created_at, user_id LIMIT 1) IS NULL THEN 1
		ELSE 0 END`)  // EXISTS would scan the table for the one member
	sqlMemberMirror = db.Register("members.mirror", `INSERT INTO user_communities (home, user_id, community_id, state, version, changed_at)
		VALUES ($1, $2, $3, $4, $5::bigint, $6) ON CONFLICT (home, user_id, community_id)
		DO UPDATE SET state = excluded.state, version = excluded.version, changed_at = excluded.changed_at
		WHERE user_communities.version < excluded.version`)
	sqlCommunitiesOfUser = db.Register("members.communitiesOfUser", `SELECT community_id FROM user_communities
		WHERE home = $1 AND user_id = $2 AND state = 'member'`)
)

// Member reads one membership; nil if there never was one.
func (r ReadBatch) Member(communityID, userID string, into **Member) {
	r.AddAt(communityID, sqlMembersByUser, db.Row(into), communityID, []string{userID})
}

// Members reads the memberships of users in one community, including ended ones, in no particular order.
func (r ReadBatch) Members(communityID string, userIDs []string, into *[]Member) {
	*into = nil
	if len(userIDs) > 0 {
		r.AddAt(communityID, sqlMembersByUser, db.Rows(into), communityID, slices.Compact(slices.Sorted(slices.Values(userIDs))))
	}
}

// MembersAfter reads up to limit members of a community after a user, ordered by internal id. It pages through all members.
func (r ReadBatch) MembersAfter(communityID, afterUserID string, limit int, into *[]Member) {
	r.AddAt(communityID, sqlMembersAfter, db.Rows(into), communityID, afterUserID, limit)
}

// Memberships reads the memberships of one user in communities of any homes, in no particular order.
func (r ReadBatch) Memberships(userID string, communityIDs []string, into *[]Member) {
	core.ReadMany(r.ReadBatch, communityIDs, sqlMemberships, into, userID)
}

// CommunitiesOfUser reads the ids of a user's communities from the mirror in the user's home.
func (r ReadBatch) CommunitiesOfUser(userID string, into *[]string) {
	r.AddAt(userID, sqlCommunitiesOfUser, db.Values(into), userID)
}

// MemberChange is the change of a membership from the row that was read.
type MemberChange struct {
	Old *Member // nil if there was no row
	New Member
}

// Needed reports whether Old and New differ.
func (c MemberChange) Needed() bool {
	return c.Old == nil || c.Old.State != c.New.State || !slices.Equal(c.Old.Roles, c.New.Roles)
}

// ChangeMembers changes memberships of one community, its counts of members and moderators, and the mirrors in the
// users' homes. Changes without a difference are skipped. If a row is not the one that was read, the transaction fails
// with ErrConflict, so that the counts stay consistent with concurrent changes. The returned outbox rows update the
// mirrors of other homes; workers deliver them from firstTry on.
func (w Tx) ChangeMembers(communityID string, changes []MemberChange, now, firstTry time.Time) []core.OutboxRow {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c MemberChange) bool { return !c.Needed() })
	// Rows are locked in the same order by all transactions, so that concurrent changes do not deadlock.
	slices.SortFunc(changes, func(a, b MemberChange) int { return cmp.Compare(a.New.UserID, b.New.UserID) })
	var members, moderators int64
	mirrors := map[region.Code][]MirroredMember{}
	for _, c := range changes {
		version := w.changeMember(communityID, c, now)
		w.resolveInvitationOf(communityID, c, now)
		members += core.CountIf(c.New.IsMember()) - core.CountIf(c.Old.IsMember())
		moderators += core.CountIf(c.New.IsModerator()) - core.CountIf(c.Old.IsModerator())
		if home, err := w.HomeOf(c.New.UserID); err == nil {
			mirrors[home] = append(mirrors[home], MirroredMember{c.New.UserID, communityID, c.New.State, version, now})
		}
	}
	w.CountUnlessZero(communityID, core.CountMembers, members)
	w.CountUnlessZero(communityID, core.CountModerators, moderators)
	return w.mirror(mirrors, now, firstTry)
}

// resolveInvitationOf ends the pending invitation of a user who becomes a member or is banned.
func (w Tx) resolveInvitationOf(communityID string, c MemberChange, now time.Time) {
	switch {
	case c.New.IsMember() && !c.Old.IsMember():
		w.resolveInvitation(communityID, c.New.UserID, JoinApproved, now)
	case c.New.IsBanned():
		w.resolveInvitation(communityID, c.New.UserID, JoinCancelled, now)
	}
}

// changeMember returns the new version of the row. A new row has the time of joining, which for imported members is past.
func (w Tx) changeMember(communityID string, c MemberChange, now time.Time) int64 {
	m := c.New
	if c.Old == nil {
		w.Exec(sqlMemberInsert, communityID, m.UserID, m.UserPublicID, core.NameKey(m.UserPublicID, core.PersonNameKeyRunes), m.State,
			core.EmptyIfNil(m.Roles), m.IsModerator(), m.JoinedAt).OnConflict("community_members_pkey", core.ErrConflict)
		return 1
	}
	w.Guard(sqlMemberUpdate, core.ErrConflict, communityID, m.UserID, c.Old.Version, m.State, core.EmptyIfNil(m.Roles), m.IsModerator(),
		m.JoinedAt, now)
	return c.Old.Version + 1
}

// GuardModerator makes the transaction fail with refusal if the community has members but no moderator after the
// preceding statements.
func (w Tx) GuardModerator(communityID string, refusal error) {
	w.Guard(sqlMemberGuardModerator, refusal, communityID)
}

// TopicMembership is the outbox topic of memberships to mirror; the payload is a list of MirroredMember of one home.
const TopicMembership = "membership"

// MirroredMember is a membership as stored in the user's home.
type MirroredMember struct {
	UserID      string    `json:"userId"`
	CommunityID string    `json:"communityId"`
	State       string    `json:"state"`
	Version     int64     `json:"version"`
	ChangedAt   time.Time `json:"changedAt"`
}

// mirror updates the mirrors of this home in the transaction and emits outbox rows for the others.
func (w Tx) mirror(mirrors map[region.Code][]MirroredMember, now, firstTry time.Time) []core.OutboxRow {
	w.MirrorMembers(mirrors[w.Home()])
	var out []core.OutboxRow
	for _, home := range region.All() {
		if home != w.Home() && len(mirrors[home]) > 0 {
			out = append(out, w.Emit(TopicMembership, mirrors[home], now, firstTry))
		}
	}
	return out
}

// MirrorMembers updates the mirrors of memberships in this home, unless they are newer. It is idempotent and
// independent of the order of calls.
func (w Tx) MirrorMembers(mirrored []MirroredMember) {
	for _, m := range mirrored {
		w.Exec(sqlMemberMirror, m.UserID, m.CommunityID, m.State, m.Version, m.ChangedAt)
	}
}
