package feed

import (
	"context"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// CountUserFeed counts the published posts of a user's wall.
func (s *Service) CountUserFeed(ctx context.Context, m *plazav1.CountUserFeedRequest) (*plazav1.CountUserFeedResponse, error) {
	var target visibility.Target
	var owners []people.User
	counts := core.Counts{}
	r := s.NewRequest(ctx)
	userID := r.Resolve(ctx, m.GetUserId())
	r.Users([]string{userID}, &owners)
	r.CountsOf([]string{userID}, counts)
	visibility.ReadTarget(r, "user", userID, &target)
	r.CheckFound(func() bool { return len(owners) > 0 && owners[0].DeletedAt == nil })
	r.Check(func() error { return target.RequireSee(r.Caller) })
	err := r.Run(ctx)
	return &plazav1.CountUserFeedResponse{PostsCount: narrow.To[int32](counts.Of(userID, core.CountPublished))}, err
}
