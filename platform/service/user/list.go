package user

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListUsers lists the users of all three regions, or those whose name begins with the keyword. A region that is away is
// left out.
//
// The order by name goes by its first three letters: index keys may leave the region, names must not.
func (s *Service) ListUsers(ctx context.Context, req *connect.Request[plazav1.ListUsersRequest]) (*connect.Response[plazav1.ListUsersResponse], error) {
	cursor, err := page.Parse(req.Msg.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx).Run(ctx); err != nil {
		return nil, err
	}
	list := listOf(req.Msg, cursor)
	var rows []store.UserListRow
	reads := s.Store.Related()
	reads.ListUsers(list, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	rows = exact(req.Msg, merge(rows, list))
	rows, paging := page.Window(cursor, rows, func(u store.UserListRow) (time.Time, string, string) { return u.CreatedAt, u.Key, u.ID })
	users := make([]*plazav1.User, len(rows))
	for i, row := range rows {
		users[i] = s.View.User(row.User)
	}
	return connect.NewResponse(&plazav1.ListUsersResponse{Users: users, Paging: paging}), nil
}

func listOf(m *plazav1.ListUsersRequest, cursor page.Cursor) store.UserList {
	byName := m.GetSortBy() == "" || m.GetSortBy() == "displayName" || keyword(m) != ""
	l := store.UserList{
		Flagged: m.GetFilter() == "flagged",
		Deleted: m.GetIsDeleted(),
		ByName:  byName && m.GetFilter() != "flagged",
		Desc:    m.GetSortBy() == "lastCreated" && keyword(m) == "",
		Prefix:  keyword(m),
		Limit:   cursor.Limit + 1,
	}
	if l.Flagged && m.GetSortBy() != "firstCreated" {
		l.Desc = true
	}
	l.Desc = l.Desc != cursor.Back
	l.AfterTime, l.AfterKey, l.AfterID = cursor.Start(l.Desc)
	return l
}

func keyword(m *plazav1.ListUsersRequest) string { return cmp.Or(m.GetKeyword(), m.GetDisplayName()) }

// exact keeps the users whose whole name is the keyword, where the request asks for that.
func exact(m *plazav1.ListUsersRequest, rows []store.UserListRow) []store.UserListRow {
	if !m.GetExactMatchKeyword() && m.GetMatchType() != "exact" {
		return rows
	}
	return slices.DeleteFunc(rows, func(u store.UserListRow) bool { return !strings.EqualFold(u.DisplayName, keyword(m)) })
}

// merge puts the homes' rows in the order of the list and cuts them to its limit.
func merge(rows []store.UserListRow, l store.UserList) []store.UserListRow {
	slices.SortFunc(rows, func(a, b store.UserListRow) int {
		c := cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.ID, b.ID))
		if !l.ByName {
			c = cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
		}
		if l.Desc {
			return -c
		}
		return c
	})
	return rows[:min(len(rows), l.Limit)]
}
