package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// MemberList is a page of the members of one community.
type MemberList struct {
	CommunityID string
	State       string
	// Roles selects members with any of the roles, Without members with none of them; empty means all.
	Roles, Without []string
	// ByName orders by public id, otherwise by the creation of the row.
	ByName bool
	Desc   bool
	// Prefix is the prefix of the public id; it requires ByName.
	Prefix string
	// The position that the page starts after.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// MemberRow is a membership with the key of lists by name.
type MemberRow struct {
	Member
	NameKey string
}

// The statements of ListMembers.
var (
	membersByCreation    = membersByTime("all", memberFilter)
	moderatorsByCreation = membersByTime("moderators", moderatorFilter)
	membersByName        = inBoth(nameOrders, func(o db.Order) *db.Statement {
		return stmt("members.list.all"+o.Name, selectMembers+memberFilter+` AND `+o.After("name_key", "user_id", "$6::text", "$7")+
			` AND name_key >= $9::text AND name_key < $10::text AND lower(user_public_id) LIKE $11::text
			ORDER BY `+o.By("name_key", "user_id")+` LIMIT $8::bigint`)
	})

	selectMembers = `SELECT ` + memberColumns + `, name_key FROM community_members WHERE home = $1 AND community_id = $2`
)

// moderatorFilter ends with IS TRUE, because PostgreSQL would otherwise prefer the index of all members when it does not
// know the community.
const (
	memberFilter    = ` AND state = $3` + memberRoles
	moderatorFilter = ` AND is_moderator AND (state = $3) IS TRUE` + memberRoles
	memberRoles     = ` AND (array_length($4::text[], 1) IS NULL OR roles && $4::text[]) AND NOT (roles && $5::text[])`
)

func membersByTime(name, condition string) directions {
	return inBoth(createdOrders, func(o db.Order) *db.Statement {
		return stmt("members.list."+name+o.Name, selectMembers+condition+
			` AND `+o.After("created_at", "user_id", "$6::timestamptz", "$7")+` ORDER BY `+o.By("created_at", "user_id")+` LIMIT $8::bigint`)
	})
}

// ListMembers reads up to Limit members.
func (r *ReadBatch) ListMembers(l MemberList, into *[]MemberRow) {
	args := []any{l.CommunityID, l.State, emptyIfNil(l.Roles), emptyIfNil(l.Without)}
	if l.ByName {
		low, high := prefixRange(NameKey(l.Prefix, userNameKeyRunes))
		args = append(args, l.AfterKey, l.AfterID, l.Limit, low, high, likePrefix(l.Prefix))
		r.addAt(l.CommunityID, membersByName.in(l.Desc), db.Rows(into), args...)
		return
	}
	list := membersByCreation
	if len(l.Roles) == 1 && l.Roles[0] == roleModerator && l.State == StateMember {
		list = moderatorsByCreation // moderators are few and have an index of their own
	}
	args = append(args, l.AfterTime, l.AfterID, l.Limit)
	r.addAt(l.CommunityID, list.in(l.Desc), db.Rows(into), args...)
}
