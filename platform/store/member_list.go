package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// MemberList is a page of the members of one community.
type MemberList struct {
	CommunityID string
	State       string
	// Roles keeps those that have any of the roles, Without those that have none of them; empty keeps all.
	Roles, Without []string
	// ByName orders by public id, else by when the user was first concerned with the community.
	ByName bool
	Desc   bool
	// Prefix is the beginning of the public id; it goes with ByName.
	Prefix string
	// The position after which the page starts.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// MemberRow is a membership with its place in lists by name.
type MemberRow struct {
	Member
	NameKey string
}

func scanMemberRow(rows pgx.Rows) (MemberRow, error) {
	var m MemberRow
	err := rows.Scan(append(m.fields(), &m.NameKey)...)
	return m, err
}

// memberLists holds the statements of ListMembers by what they walk and in which order.
var memberLists = makeMemberLists()

func makeMemberLists() map[string]*Statement {
	lists := map[string]*Statement{}
	const head = `SELECT ` + memberColumns + `, name_key FROM community_members WHERE home = $1 AND community_id = $2`
	const filter = ` AND state = $3 AND (array_length($4::text[], 1) IS NULL OR roles && $4::text[]) AND NOT (roles && $5::text[])`
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		page := ` AND ` + o.after("created_at", "user_id", "$6::timestamptz", "$7") + ` ORDER BY ` + o.by("created_at", "user_id") + ` LIMIT $8::bigint`
		lists["all"+o.name] = stmt("members.list.all"+o.name, head+filter+page)
		lists["moderators"+o.name] = stmt("members.list.moderators"+o.name, head+` AND is_moderator`+filter+page)
	}
	for _, o := range []listOrder{orderNameDesc, orderNameAsc} {
		lists["all"+o.name] = stmt("members.list.all"+o.name, head+filter+` AND `+o.after("name_key", "user_id", "$6::text", "$7")+
			` AND name_key >= $9::text AND name_key < $10::text AND lower(user_public_id) LIKE $11::text
			ORDER BY `+o.by("name_key", "user_id")+` LIMIT $8::bigint`)
	}
	return lists
}

// ListMembers reads up to Limit members.
func (r *ReadBatch) ListMembers(l MemberList, into *[]MemberRow) {
	home, err := region.HomeOf(l.CommunityID)
	if err != nil {
		return
	}
	args := []any{l.CommunityID, l.State, texts(l.Roles), texts(l.Without)}
	if l.ByName {
		low, high := prefixRange(NameKey(l.Prefix, userNameKeyRunes))
		args = append(args, l.AfterKey, l.AfterID, l.Limit, low, high, likePrefix(l.Prefix))
		r.add(home, memberLists["all"+pick(l.Desc, orderNameDesc, orderNameAsc).name], scanAll(into, scanMemberRow), args...)
		return
	}
	source := "all"
	if len(l.Roles) == 1 && l.Roles[0] == roleModerator && l.State == StateMember {
		source = "moderators" // few among many
	}
	args = append(args, l.AfterTime, l.AfterID, l.Limit)
	r.add(home, memberLists[source+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name], scanAll(into, scanMemberRow), args...)
}
