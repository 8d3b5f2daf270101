package user

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListUsers lists the users of all regions, or those whose name starts with the keyword. Homes that do not answer
// are left out.
//
// The order by name only considers the first three letters: index keys may leave the region, but names must not.
func (s *Service) ListUsers(ctx context.Context, req *plazav1.ListUsersRequest) (*plazav1.ListUsersResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	list := listOf(req, cursor)
	blockers := contact.ReadBlockers(r)
	if list.Flagged {
		r.Check(func() error { return auth.Require(r.Caller, auth.ModerateUser, auth.Scope{}) })
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	matches, err := s.exactMatches(ctx, req, cursor)
	if err != nil {
		return nil, err
	}
	rows, paging := []people.UserListRow(nil), &plazav1.Paging{}
	if searches(req, "displayName") {
		if rows, paging, err = s.readPage(ctx, cursor, list); err != nil {
			return nil, err
		}
	}
	for _, row := range rows {
		matches = append(matches, row.User)
	}
	if matches, err = withoutBlockers(ctx, r.Caller, matches, blockers); err != nil {
		return nil, err
	}
	return &plazav1.ListUsersResponse{Users: s.View.Users(ctx, matches), Paging: paging}, nil
}

// searches reports whether the request searches a field. The default is displayName.
func searches(req *plazav1.ListUsersRequest, field string) bool {
	if keyword(req) == "" || len(req.GetSearchBy()) == 0 {
		return field == "displayName"
	}
	return slices.Contains(req.GetSearchBy(), field)
}

// exactMatches returns the users whose profile handle or id is the keyword, for requests that search these fields.
// They precede the first page. Prefixes of handles and ids cannot be searched, because their indexes only contain
// three letters or a keyed hash.
func (s *Service) exactMatches(ctx context.Context, req *plazav1.ListUsersRequest, cursor page.Cursor) ([]people.User, error) {
	if !cursor.First() {
		return nil, nil
	}
	var byHandle, byID []people.User
	reads := s.Store.NewBestEffortBatch()
	if searches(req, "profileHandle") {
		reads.UsersByHandle(keyword(req), &byHandle)
	}
	if searches(req, "userId") {
		userID, err := s.Directory.Lookup(ctx, keyword(req))
		if err != nil {
			return nil, err
		}
		reads.Users([]string{userID}, &byID)
	}
	err := reads.Run(ctx)
	found := slices.Concat(byHandle, byID)
	return slices.DeleteFunc(found, func(u people.User) bool { return (u.DeletedAt != nil) != req.GetIsDeleted() }), err
}

// readPage reads the page from all homes.
func (s *Service) readPage(ctx context.Context, cursor page.Cursor, list people.UserList) ([]people.UserListRow, *plazav1.Paging, error) {
	return service.Merged[people.UserListRow]{
		Cursor: cursor, ByName: list.ByName, Desc: list.Desc,
		At: func(u people.UserListRow) (time.Time, string, string) { return u.CreatedAt, u.Key, u.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]people.UserListRow) {
			list.AfterTime, list.AfterKey, list.AfterID = from.Start(list.Desc)
			reads.ListUsers(list, into)
		},
	}.Page(ctx, s.Deps)
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListUsersRequest, cursor page.Cursor) people.UserList {
	byName := req.GetSortBy() == "" || req.GetSortBy() == "displayName" || keyword(req) != ""
	l := people.UserList{
		Flagged: req.GetFilter() == "flagged",
		Deleted: req.GetIsDeleted(),
		ByName:  byName && req.GetFilter() != "flagged",
		Desc:    req.GetSortBy() == "lastCreated" && keyword(req) == "",
		Prefix:  keyword(req),
		Exact:   req.GetExactMatchKeyword() || req.GetMatchType() == "exact",
		Limit:   cursor.Limit + 1,
	}
	if l.Flagged && req.GetSortBy() != "firstCreated" {
		l.Desc = true
	}
	l.Desc = l.Desc != cursor.Back
	return l
}

func keyword(req *plazav1.ListUsersRequest) string {
	return cmp.Or(req.GetKeyword(), req.GetDisplayName())
}
