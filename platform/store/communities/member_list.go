package communities

import (
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/store/core"
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

// The statements of ListMembers, and those of their windows. Moderators need none: they are few. moderatorState ends with IS TRUE,
// because PostgreSQL would otherwise prefer the index of all members when it does not know the community.
var (
	membersByCreation    = core.OrderedBy(core.CreatedOrders, "created_at", members("all", memberState, "", 8).List)
	moderatorsByCreation = core.OrderedBy(core.CreatedOrders, "created_at", members("moderators", ` AND is_moderator AND (state = $3) IS TRUE`, "", 8).List)
	membersByName        = core.OrderedBy(core.NameOrders, "name_key", namedMembers.List)

	memberWindowsByCreation = core.OrderedBy(core.CreatedOrders, "created_at", members("all", memberState, "", 8).Window)
	memberWindowsByName     = core.OrderedBy(core.NameOrders, "name_key", namedMembers.Window)

	namedMembers = members("all", memberState+` AND name_key >= $9::text AND name_key < $10::text`,
		` AND lower(user_public_id) LIKE $11::text`, 11)
)

const memberState = ` AND state = $3`

// members returns a list of members with a condition that has an index, a filter that has none, and a number of arguments.
func members(name, condition, filter string, args int) core.Source {
	return core.Source{
		Name: "members.list." + name, Columns: MemberColumns + `, name_key`,
		From:   `community_members WHERE home = $1 AND community_id = $2` + condition,
		Filter: ` AND (array_length($4::text[], 1) IS NULL OR roles && $4::text[]) AND NOT (roles && $5::text[])` + filter,
		ID:     "user_id", After: 6, Args: args,
	}
}

// ListMembers reads up to Limit members.
func (r ReadBatch) ListMembers(l MemberList, into *[]MemberRow) {
	*into = nil
	home := r.HomeOrNone(l.CommunityID)
	after := core.Position{Time: l.AfterTime, Key: l.AfterKey, ID: l.AfterID}
	lists, windowed := l.statements()
	if !l.isFiltered() {
		r.Add(home, lists.In(l.Desc), db.Rows(into), l.args(after, l.Limit)...)
		return
	}
	core.ReadWindows(r.ReadBatch, core.Windows[MemberRow]{
		Home: home, After: after, Limit: l.Limit, Statement: windowed.In(l.Desc), Args: l.args,
		Rows: core.RowsAt(r.ReadBatch, func(ids []string, into *[]Member) { r.Members(l.CommunityID, ids, into) },
			func(m Member, at map[string]core.Position) (MemberRow, bool) {
				return MemberRow{m, at[m.UserID].Key}, true
			}),
	}, into)
}

// statements returns the statements of the list and of its windows.
func (l MemberList) statements() (lists, windowed core.Directions) {
	switch {
	case l.ByName:
		return membersByName, memberWindowsByName
	case l.ofModerators():
		return moderatorsByCreation, memberWindowsByCreation
	}
	return membersByCreation, memberWindowsByCreation
}

func (l MemberList) args(after core.Position, limit int) []any {
	args := []any{l.CommunityID, l.State, core.EmptyIfNil(l.Roles), core.EmptyIfNil(l.Without)}
	if l.ByName {
		low, high := core.PrefixRange(core.NameKey(l.Prefix, core.PersonNameKeyRunes))
		return append(args, after.Key, db.Other(after.ID), limit, low, high, core.LikePrefix(l.Prefix))
	}
	return append(args, after.Time, db.Other(after.ID), limit)
}

// ofModerators reports whether the list is one of moderators, who are few and have an index of their own.
func (l MemberList) ofModerators() bool {
	return !l.ByName && len(l.Roles) == 1 && l.Roles[0] == roleModerator && l.State == StateMember
}

// isFiltered reports whether the list has a filter without an index.
func (l MemberList) isFiltered() bool {
	return len(l.Roles)+len(l.Without) > 0 && !l.ofModerators() || utf8.RuneCountInString(l.Prefix) > core.PersonNameKeyRunes
}
