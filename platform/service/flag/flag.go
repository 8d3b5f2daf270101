// Package flag implements FlagService: moderators read flags with their reasons, and work through them as a queue. The
// services of posts, comments, stories, messages and users set and remove the flags of their objects.
package flag

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements FlagService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// ListFlags lists the flags of all regions. Homes that do not answer are left out.
func (s *Service) ListFlags(ctx context.Context, req *plazav1.ListFlagsRequest) (*plazav1.ListFlagsResponse, error) {
	r := s.NewPrivilegedRequest(ctx, auth.ViewModerationFeed)
	cursor := r.Page(req.GetOptions())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging, err := s.readPage(ctx, cursor, listOf(req, cursor))
	if err != nil {
		return nil, err
	}
	users, err := s.ReadUsers(ctx, service.Distinct(service.Map(rows, func(f content.Flag) string { return f.UserID })))
	return &plazav1.ListFlagsResponse{
		Flags:  service.Map(rows, func(f content.Flag) *plazav1.Flag { return view.Flag(f, s.HomeOf(f.TargetID), users) }),
		Users:  s.View.Users(ctx, users),
		Paging: paging,
	}, err
}

// readPage reads the page from all homes.
func (s *Service) readPage(ctx context.Context, cursor page.Cursor, list content.FlagList) ([]content.Flag, *plazav1.Paging, error) {
	at := func(f content.Flag) (time.Time, string, string) { return f.CreatedAt, "", f.ID }
	return service.Merged[content.Flag]{
		Cursor: cursor, Desc: list.Desc, At: at,
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.Flag) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListFlags(list, into)
			reads.Then(func() { *into = service.After(*into, from, false, list.Desc, at) })
		},
	}.Page(ctx, s.Deps)
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListFlagsRequest, cursor page.Cursor) content.FlagList {
	return content.FlagList{
		Homes: homesOf(req.GetRegion()), TargetID: req.GetTargetId(), TargetType: content.FlagTarget(req.GetTargetType()),
		Reason: req.GetReason(),
		Desc:   !cursor.Back, Limit: cursor.Limit + 1,
	}
}

// homesOf returns the home that a request names, or all homes.
func homesOf(code string) []region.Code {
	if code == "" {
		return region.All()
	}
	return []region.Code{region.Code(code)}
}
