package analytics

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListViewers lists the users who viewed a post or story, the first viewer first. The caller must be its author or
// moderate it.
func (s *Service) ListViewers(ctx context.Context, m *plazav1.ListViewersRequest) (*plazav1.ListViewersResponse, error) {
	kind := content.ReferencePost
	if m.GetReferenceType() == "stories" {
		kind = content.ReferenceStory
	}
	r := visibility.NewRequest(s.NewRequest(ctx), kind, m.GetReferenceId())
	cursor := r.Page(page.Merge(m.GetOptions(), m.Limit, m.GetToken()))
	list := content.ViewList{ReferenceID: m.GetReferenceId(), Desc: cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var rows []content.View
	r.ListViews(list, &rows)
	r.Check(func() error { return requireOwn(r) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(v content.View) (time.Time, string, string) { return v.FirstAt, "", v.UserID })
	users, err := s.ReadUsers(ctx, service.Map(rows, func(v content.View) string { return v.UserID }))
	return &plazav1.ListViewersResponse{Users: s.View.Users(ctx, users), Paging: paging}, err
}

// requireOwn returns nil for the author, and for callers who moderate posts and comments, or manage stories, there.
func requireOwn(r *visibility.Request) error {
	right := auth.ModeratePostAndComment
	if r.Story != nil {
		right = auth.ManageCommunityStory
	}
	if r.AuthorID() == r.Caller.UserID {
		return nil
	}
	return auth.Require(r.Caller, right, r.Target.Scope(""))
}
