package follow

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// listParams are the parameters of a request that lists follows.
type listParams struct {
	userID    string // public id; empty for the caller
	followers bool   // list the followers of the user rather than whom the user follows
	status    string
	isDeleted *bool // whether the other users are deleted; nil for all
	page      *plazav1.PageOptions
}

// ListMyFollowers lists the caller's followers and requests to follow the caller, newest first.
func (s *Service) ListMyFollowers(ctx context.Context, req *plazav1.ListMyFollowersRequest) (*plazav1.ListFollowsResponse, error) {
	return s.list(ctx, listParams{
		followers: true, status: req.GetStatus(), isDeleted: req.IsDeleted,
		page: page.Merge(req.GetOptions(), req.Limit, req.GetToken()),
	})
}

// ListMyFollowing lists the users that the caller follows or requested to follow, newest first.
func (s *Service) ListMyFollowing(ctx context.Context, req *plazav1.ListMyFollowingRequest) (*plazav1.ListFollowsResponse, error) {
	return s.list(ctx, listParams{
		status: req.GetStatus(), isDeleted: req.IsDeleted,
		page: page.Merge(req.GetOptions(), req.Limit, req.GetToken()),
	})
}

// ListFollowers lists the followers of a user, newest first.
func (s *Service) ListFollowers(ctx context.Context, req *plazav1.ListFollowersRequest) (*plazav1.ListFollowsResponse, error) {
	return s.list(ctx, listParams{
		userID: req.GetUserId(), followers: true, status: req.GetStatus(), isDeleted: req.IsDeleted,
		page: page.Merge(req.GetOptions(), req.Limit, req.GetToken()),
	})
}

// ListFollowing lists the users that a user follows, newest first.
func (s *Service) ListFollowing(ctx context.Context, req *plazav1.ListFollowingRequest) (*plazav1.ListFollowsResponse, error) {
	return s.list(ctx, listParams{
		userID: req.GetUserId(), status: req.GetStatus(), isDeleted: req.IsDeleted,
		page: page.Merge(req.GetOptions(), req.Limit, req.GetToken()),
	})
}

// list returns a page of follows. It takes two round trips.
func (s *Service) list(ctx context.Context, l listParams) (*plazav1.ListFollowsResponse, error) {
	r := s.NewRequest(ctx)
	cursor, owner := r.Page(l.page), r.Caller.UserID
	if l.userID != "" {
		owner = r.Resolve(ctx, l.userID)
	}
	q := people.FollowList{UserID: owner, Followers: l.followers, Statuses: statuses(l.status), Desc: !cursor.Back, Limit: cursor.Limit + 1}
	q.After, _, q.AfterID = cursor.Start(q.Desc)
	rows, err := l.rows(ctx, r, q)
	if err != nil {
		return nil, err
	}
	other := func(f people.Follow) string {
		if l.followers {
			return f.FollowerID
		}
		return f.FolloweeID
	}
	rows, paging := service.Page(cursor, rows, false, q.Desc,
		func(f people.Follow) (time.Time, string, string) { return f.CreatedAt, "", other(f) })
	rows, users, err := withUsers(ctx, s, rows, other, owner, l.isDeleted)
	return &plazav1.ListFollowsResponse{Follows: service.Map(rows, s.View.Follow), Users: s.View.Users(ctx, users), Paging: paging}, err
}

// rows reads the follows, and checks that the caller may see them. Only the owner of the list sees pending requests.
func (l listParams) rows(ctx context.Context, r *service.Request, q people.FollowList) ([]people.Follow, error) {
	own := l.userID == "" || q.UserID == r.Caller.UserID || r.Caller.Kind == auth.Admin
	if !own && l.status != people.FollowPending {
		q.Statuses = []string{people.FollowAccepted}
	}
	var owners []people.User
	var rows []people.Follow
	wall := visibility.Target{WallOwnerID: q.UserID}
	r.Users([]string{q.UserID}, &owners)
	r.ListFollows(q, &rows)
	if !own {
		r.Wall(q.UserID, r.Caller.UserID, &wall.Wall)
	}
	if l.userID == "" {
		r.Check(r.RequireUser)
	} else {
		r.Check(func() error { return l.requireSee(r.Caller, owners, wall, own) })
	}
	err := r.Run(ctx)
	return rows, err
}

// requireSee returns an error unless the caller may see the follows of the owner of a wall.
func (l listParams) requireSee(caller *auth.Caller, owners []people.User, wall visibility.Target, own bool) error {
	if len(owners) == 0 || owners[0].DeletedAt != nil {
		return fail.NotFound()
	}
	if err := wall.RequireSee(caller); err != nil {
		return err
	}
	if !own && l.status == people.FollowPending {
		return fail.NotAllowed()
	}
	return nil
}

// withUsers reads the owner of a list and the other user of each of its rows; none if the list is empty. It removes the
// rows whose other user's deletion is not as isDeleted selects.
func withUsers[T any](
	ctx context.Context, s *Service, rows []T, other func(T) string, owner string, isDeleted *bool,
) ([]T, []people.User, error) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	users, err := s.ReadUsers(ctx, append([]string{owner}, service.Map(rows, other)...))
	rows, users = filterDeleted(rows, users, other, owner, isDeleted)
	return rows, users, err
}

// filterDeleted removes the rows whose other user's deletion is not as isDeleted selects, and these users. Rows whose
// other user could not be read remain.
func filterDeleted[T any](rows []T, users []people.User, other func(T) string, owner string, isDeleted *bool) ([]T, []people.User) {
	if isDeleted == nil {
		return rows, users
	}
	out := map[string]bool{}
	for _, u := range users {
		out[u.ID] = (u.DeletedAt != nil) != *isDeleted
	}
	rows = slices.DeleteFunc(rows, func(row T) bool { return out[other(row)] })
	if len(rows) == 0 {
		return rows, nil
	}
	return rows, slices.DeleteFunc(users, func(u people.User) bool { return u.ID != owner && out[u.ID] })
}
