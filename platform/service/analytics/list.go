package analytics

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListViewers lists the users who viewed a post or story, the first viewer first. The caller must be its author or
// moderate it.
func (s *Service) ListViewers(ctx context.Context, m *plazav1.ListViewersRequest) (*plazav1.ListViewersResponse, error) {
	cursor, err := page.Parse(page.Merge(m.GetOptions(), m.Limit, m.GetToken()), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := store.ViewList{ReferenceID: m.GetReferenceId(), Desc: cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	kind := store.ReferencePost
	if m.GetReferenceType() == "stories" {
		kind = store.ReferenceStory
	}
	var rows []store.View
	f := s.NewRequest(ctx)
	pending := visibility.ReadReference(f, kind, m.GetReferenceId())
	f.ListViews(list, &rows)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	ref, err := pending.Resolve(f.Caller, s.Now())
	if err != nil {
		return nil, err
	}
	if err := requireOwn(f.Caller, ref); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(v store.View) (time.Time, string, string) { return v.FirstAt, "", v.UserID })
	users, err := s.viewers(ctx, rows)
	if err != nil {
		return nil, err
	}
	return &plazav1.ListViewersResponse{Users: s.View.Users(users), Paging: paging}, nil
}

// requireOwn returns nil for the author, and for callers who moderate posts and comments, or manage stories, there.
func requireOwn(caller *auth.Caller, ref *visibility.Reference) error {
	right := auth.ModeratePostAndComment
	if ref.Story != nil {
		right = auth.ManageCommunityStory
	}
	if ref.AuthorID() == caller.UserID {
		return nil
	}
	return auth.Require(caller, right, ref.Target.Scope(""))
}

// viewers reads the users of views, in the order of the views. Users whose home does not answer are left out.
func (s *Service) viewers(ctx context.Context, rows []store.View) ([]store.User, error) {
	ids := make([]string, len(rows))
	for i, v := range rows {
		ids[i] = v.UserID
	}
	var users []store.User
	reads := s.Store.NewBestEffortBatch()
	reads.Users(ids, &users)
	err := reads.Run(ctx)
	slices.SortFunc(users, func(a, b store.User) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return users, err
}
