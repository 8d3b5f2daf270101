package store

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// The states of a membership; whoever never belonged to a community has no row and the empty state.
const (
	StateMember  = "member"
	StateLeft    = "left"
	StateRemoved = "removed"
	StateBanned  = "banned"
)

// roleModerator is the community role that makes a member count as a moderator; package auth knows what it grants.
const roleModerator = "community-moderator"

// Member is a row of community_members.
type Member struct {
	CommunityID  string
	UserID       string // internal id
	UserPublicID string
	State        string
	Roles        []string
	Version      int64 // counts the changes of the row, from 1
	JoinedAt     time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// IsMember reports whether the user belongs to the community now. A nil Member does not.
func (m *Member) IsMember() bool { return m != nil && m.State == StateMember }

// IsBanned reports whether the user is banned from the community. A nil Member is not.
func (m *Member) IsBanned() bool { return m != nil && m.State == StateBanned }

// IsModerator reports whether the user is a member who moderates. A nil Member is not.
func (m *Member) IsModerator() bool { return m.IsMember() && slices.Contains(m.Roles, roleModerator) }

const memberColumns = `community_id, user_id, user_public_id, state, roles, version, joined_at, created_at, updated_at`

func (m *Member) fields() []any {
	return []any{&m.CommunityID, &m.UserID, &m.UserPublicID, &m.State, &m.Roles, &m.Version, &m.JoinedAt, &m.CreatedAt, &m.UpdatedAt}
}

func scanMember(rows pgx.Rows) (Member, error) {
	var m Member
	err := rows.Scan(m.fields()...)
	return m, err
}

var (
	// One look for each user: PostgreSQL would rather read through a community whole, which is right for most and wrong for
	// the great ones.
	sqlMembersByUser = stmt("members.byUser", `SELECT `+prefixed("m", memberColumns)+` FROM unnest($3::text[]) AS u (id) CROSS JOIN LATERAL (
		SELECT `+memberColumns+` FROM community_members WHERE home = $1 AND community_id = $2 AND user_id = u.id LIMIT 1) AS m`)
	sqlMemberships = stmt("members.byCommunity", `SELECT `+memberColumns+` FROM community_members
		WHERE home = $1 AND community_id = ANY($2::text[]) AND user_id = $3`)
	sqlMemberOfPost = stmt("members.ofPost", `SELECT `+memberColumns+` FROM community_members
		WHERE home = $1 AND community_id = `+communityOfPost+` AND user_id = $3`)
	sqlMemberOfComment = stmt("members.ofComment", `SELECT `+memberColumns+` FROM community_members
		WHERE home = $1 AND community_id = `+communityOfComment+` AND user_id = $3`)
	sqlMemberInsert = stmt("members.insert", `INSERT INTO community_members (home, community_id, user_id, user_public_id, name_key,
		state, roles, is_moderator, version, joined_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8, 1, $9, $9, $9)`)
	sqlMemberUpdate = stmt("members.update", `WITH changed AS (UPDATE community_members SET state = $5, roles = $6::text[],
		is_moderator = $7, version = version + 1, joined_at = $8, updated_at = $9
		WHERE home = $1 AND community_id = $2 AND user_id = $3 AND version = $4::bigint RETURNING user_id)
		SELECT 1 / count(*) FROM changed`)
	sqlKeepsModerator = stmt("members.keepsModerator", `SELECT 1 / CASE
		WHEN EXISTS (SELECT 1 FROM community_members WHERE home = $1 AND community_id = $2 AND is_moderator) THEN 1
		WHEN (SELECT user_id FROM community_members WHERE home = $1 AND community_id = $2 AND state = 'member'
			ORDER BY created_at, user_id LIMIT 1) IS NULL THEN 1
		ELSE 0 END`)  // an EXISTS would look for the one member through the whole table
	sqlMirror = stmt("members.mirror", `INSERT INTO user_communities (home, user_id, community_id, state, version, changed_at)
		VALUES ($1, $2, $3, $4, $5::bigint, $6) ON CONFLICT (home, user_id, community_id)
		DO UPDATE SET state = excluded.state, version = excluded.version, changed_at = excluded.changed_at
		WHERE user_communities.version < excluded.version`)
	sqlCommunitiesOfUser = stmt("members.communitiesOfUser", `SELECT community_id FROM user_communities
		WHERE home = $1 AND user_id = $2 AND state = 'member'`)
)

// Member reads one membership; nil where there never was one.
func (r *ReadBatch) Member(communityID, userID string, into **Member) {
	if home, err := region.HomeOf(communityID); err == nil {
		r.add(home, sqlMembersByUser, scanOne(into, scanMember), communityID, []string{userID})
	}
}

// Members reads the memberships of users in one community, those that ended too; their order is not defined.
func (r *ReadBatch) Members(communityID string, userIDs []string, into *[]Member) {
	*into = nil
	if home, err := region.HomeOf(communityID); err == nil && len(userIDs) > 0 {
		once := slices.Compact(slices.Sorted(slices.Values(userIDs)))
		r.add(home, sqlMembersByUser, scanAll(into, scanMember), communityID, once)
	}
}

// Memberships reads the memberships of one user in communities of any homes; their order is not defined.
func (r *ReadBatch) Memberships(userID string, communityIDs []string, into *[]Member) {
	*into = nil
	for home, ids := range byHome(communityIDs) {
		part := new([]Member)
		r.add(home, sqlMemberships, scanAll(part, scanMember), ids, userID)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// MemberOfPost reads a user's membership of the community that a post is in; nil where there is none.
func (r *ReadBatch) MemberOfPost(postID, userID string, into **Member) {
	r.ofContent(postID, sqlMemberOfPost, scanOne(into, scanMember), userID)
}

// MemberOfComment reads a user's membership of the community that a comment is in; nil where there is none.
func (r *ReadBatch) MemberOfComment(commentID, userID string, into **Member) {
	r.ofContent(commentID, sqlMemberOfComment, scanOne(into, scanMember), userID)
}

// CommunitiesOfUser reads the ids of the communities that a user belongs to, from the mirror at the user's home.
func (r *ReadBatch) CommunitiesOfUser(userID string, into *[]string) {
	if home, err := region.HomeOf(userID); err == nil {
		r.add(home, sqlCommunitiesOfUser, scanAll(into, scanText), userID)
	}
}

// ErrChanged refuses a transaction that was decided on a row which somebody else has changed meanwhile. Whoever gets it
// reads and decides again.
var ErrChanged = errors.New("the row changed after it was read")

// triesOfChange bounds how often a decision is taken anew; each round means that somebody else got ahead.
const triesOfChange = 20

// UntilUnchanged runs decide, which reads, decides and writes, again for as long as it ends with ErrChanged. It gives up
// with 400900.
func UntilUnchanged(decide func() error) error {
	for range triesOfChange {
		if err := decide(); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return fail.Conflict().Because(ErrChanged)
}

// MemberChange takes one membership from what was read to what it shall be.
type MemberChange struct {
	Old *Member // nil where there was no row
	New Member
}

// Needed reports whether the change changes anything.
func (c MemberChange) Needed() bool {
	return c.Old == nil || c.Old.State != c.New.State || !slices.Equal(c.Old.Roles, c.New.Roles)
}

// ChangeMembers changes memberships of one community, and with them its counts of members and moderators and the mirrors
// at the users' homes. Where a row is not what was read any more the transaction fails with ErrChanged, and nothing
// happens: so the counts follow the rows, however many change them at once. Changes that change nothing are left out.
//
// The returned outbox rows carry the mirrors of other homes; firstTry is when a worker may take them.
func (w *Tx) ChangeMembers(communityID string, changes []MemberChange, now, firstTry time.Time) []OutboxRow {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c MemberChange) bool { return !c.Needed() })
	// Everybody takes the rows in the same order, so that two changes of the same members do not lock each other out.
	slices.SortFunc(changes, func(a, b MemberChange) int { return cmp.Compare(a.New.UserID, b.New.UserID) })
	var members, moderators int64
	mirrors := map[region.Code][]MirroredMember{}
	for _, c := range changes {
		version := w.changeMember(communityID, c, now)
		w.settleInvite(communityID, c, now)
		members += one(c.New.IsMember()) - one(c.Old.IsMember())
		moderators += one(c.New.IsModerator()) - one(c.Old.IsModerator())
		if home, err := region.HomeOf(c.New.UserID); err == nil {
			mirrors[home] = append(mirrors[home], MirroredMember{c.New.UserID, communityID, c.New.State, version, now})
		}
	}
	w.countUnlessZero(communityID, CountMembers, members)
	w.countUnlessZero(communityID, CountModerators, moderators)
	return w.mirror(mirrors, now, firstTry)
}

// settleInvite ends the pending invitation of a user who is a member or banned by now.
func (w *Tx) settleInvite(communityID string, c MemberChange, now time.Time) {
	switch {
	case c.New.IsMember() && !c.Old.IsMember():
		w.settleInvitation(communityID, c.New.UserID, JoinApproved, now)
	case c.New.IsBanned():
		w.settleInvitation(communityID, c.New.UserID, JoinCancelled, now)
	}
}

// changeMember returns the version that the row has then.
func (w *Tx) changeMember(communityID string, c MemberChange, now time.Time) int64 {
	m := c.New
	if c.Old == nil {
		w.exec(sqlMemberInsert, communityID, m.UserID, m.UserPublicID, NameKey(m.UserPublicID, userNameKeyRunes), m.State,
			texts(m.Roles), m.IsModerator(), now).conflict("community_members_pkey", ErrChanged)
		return 1
	}
	w.guard(sqlMemberUpdate, ErrChanged, communityID, m.UserID, c.Old.Version, m.State, texts(m.Roles), m.IsModerator(), m.JoinedAt, now)
	return c.Old.Version + 1
}

func (w *Tx) countUnlessZero(ref string, kind CounterKind, delta int64) {
	if delta != 0 {
		w.Count(ref, kind, delta)
	}
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// KeepModerator makes the transaction fail with refusal where a community that still has members has no moderator once
// the statements before it have run.
func (w *Tx) KeepModerator(communityID string, refusal error) {
	w.guard(sqlKeepsModerator, refusal, communityID)
}

// TopicMembership is the outbox topic of memberships to mirror; the payload is a list of MirroredMember of one home.
const TopicMembership = "membership"

// MirroredMember is what a user's home knows of a membership.
type MirroredMember struct {
	UserID      string    `json:"userId"`
	CommunityID string    `json:"communityId"`
	State       string    `json:"state"`
	Version     int64     `json:"version"`
	ChangedAt   time.Time `json:"changedAt"`
}

// mirror keeps the mirrors of this home in the transaction and sends the others' out.
func (w *Tx) mirror(mirrors map[region.Code][]MirroredMember, now, firstTry time.Time) []OutboxRow {
	w.MirrorMembers(mirrors[w.home])
	var out []OutboxRow
	for _, home := range region.All() {
		if home != w.home && len(mirrors[home]) > 0 {
			out = append(out, w.Emit(TopicMembership, mirrors[home], now, firstTry))
		}
	}
	return out
}

// MirrorMembers keeps what this home knows of its users' memberships, unless it knows newer already: any order and any
// number of times gives the same.
func (w *Tx) MirrorMembers(mirrored []MirroredMember) {
	for _, m := range mirrored {
		w.exec(sqlMirror, m.UserID, m.CommunityID, m.State, m.Version, m.ChangedAt)
	}
}
