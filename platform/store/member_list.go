package store

import (
	"time"
	"unicode/utf8"

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
	membersByCreation    = membersByTime("all", memberState+memberRoles)
	moderatorsByCreation = membersByTime("moderators", moderatorState+memberRoles)
	membersByName        = inBoth(nameOrders, func(o db.Order) *db.Statement {
		return stmt("members.list.all"+o.Name, selectMembers+membersNamed(o)+memberRoles+memberHasName+` ORDER BY `+o.By("name_key", "user_id")+` LIMIT $8::bigint`)
	})

	selectMembers = `SELECT ` + memberColumns + `, name_key FROM `
)

// The statements of windows of these lists. Moderators need none: they are few.
var (
	memberWindowsByCreation = inBoth(createdOrders, func(o db.Order) *db.Statement {
		from := membersOf + memberState + ` AND ` + o.After("created_at", "user_id", "$6::timestamptz", "$7")
		return window("members.list.all", o, timeKey(o, "created_at", "user_id"), from, memberRoles, 8, 9)
	})
	memberWindowsByName = inBoth(nameOrders, func(o db.Order) *db.Statement {
		return window("members.list.all", o, nameKey(o, "name_key", "user_id"), membersNamed(o), memberRoles+memberHasName, 8, 12)
	})
)

// Parts of these statements. moderatorState ends with IS TRUE, because PostgreSQL would otherwise prefer the index of all
// members when it does not know the community. memberRoles and memberHasName have no index.
const (
	membersOf      = `community_members WHERE home = $1 AND community_id = $2`
	memberState    = ` AND state = $3`
	moderatorState = ` AND is_moderator AND (state = $3) IS TRUE`
	memberRoles    = ` AND (array_length($4::text[], 1) IS NULL OR roles && $4::text[]) AND NOT (roles && $5::text[])`
	memberHasName  = ` AND lower(user_public_id) LIKE $11::text`
)

func membersNamed(o db.Order) string {
	return membersOf + memberState + ` AND ` + o.After("name_key", "user_id", "$6::text", "$7") + ` AND name_key >= $9::text AND name_key < $10::text`
}

func membersByTime(name, condition string) directions {
	return inBoth(createdOrders, func(o db.Order) *db.Statement {
		return stmt("members.list."+name+o.Name, selectMembers+membersOf+condition+
			` AND `+o.After("created_at", "user_id", "$6::timestamptz", "$7")+` ORDER BY `+o.By("created_at", "user_id")+` LIMIT $8::bigint`)
	})
}

// ListMembers reads up to Limit members.
func (r *ReadBatch) ListMembers(l MemberList, into *[]MemberRow) {
	*into = nil
	home, err := r.HomeOf(l.CommunityID)
	if err != nil {
		return
	}
	after := Position{l.AfterTime, l.AfterKey, l.AfterID, 0}
	lists, windowed := l.statements()
	if !l.isFiltered() {
		r.Add(home, lists.in(l.Desc), db.Rows(into), l.args(after, l.Limit)...)
		return
	}
	readWindows(r, windows[MemberRow]{
		home: home, after: after, limit: l.Limit, statement: windowed.in(l.Desc), args: l.args,
		rows: func(found []Position, into *[]MemberRow) {
			var members []Member
			keys := keysAt(found)
			r.Members(l.CommunityID, idsAt(found), &members)
			r.Then(func() {
				for _, m := range members {
					*into = append(*into, MemberRow{m, keys[m.UserID]})
				}
			})
		},
	}, into)
}

// statements returns the statements of the list and of its windows.
func (l MemberList) statements() (lists, windowed directions) {
	switch {
	case l.ByName:
		return membersByName, memberWindowsByName
	case l.ofModerators():
		return moderatorsByCreation, memberWindowsByCreation
	}
	return membersByCreation, memberWindowsByCreation
}

func (l MemberList) args(after Position, limit int) []any {
	args := []any{l.CommunityID, l.State, emptyIfNil(l.Roles), emptyIfNil(l.Without)}
	if l.ByName {
		low, high := prefixRange(NameKey(l.Prefix, userNameKeyRunes))
		return append(args, after.Key, db.Other(after.ID), limit, low, high, likePrefix(l.Prefix))
	}
	return append(args, after.Time, db.Other(after.ID), limit)
}

// ofModerators reports whether the list is one of moderators, who are few and have an index of their own.
func (l MemberList) ofModerators() bool {
	return !l.ByName && len(l.Roles) == 1 && l.Roles[0] == roleModerator && l.State == StateMember
}

// isFiltered reports whether the list has a filter without an index.
func (l MemberList) isFiltered() bool {
	return len(l.Roles)+len(l.Without) > 0 && !l.ofModerators() || utf8.RuneCountInString(l.Prefix) > userNameKeyRunes
}
