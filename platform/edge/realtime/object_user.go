package realtime

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/subscription"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func (h *Hub) readCommunity(
	ctx context.Context, home region.Code, e eventlog.LoggedEvent, c events.Change,
) (proto.Message, audience, error) {
	rows := view.CommunityRows{OnlyMembers: true}
	reads := h.Store.NewBestEffortBatch()
	reads.Communities([]string{c.ID}, &rows.Communities)
	for _, m := range c.Members {
		rows.Members = append(rows.Members, communities.Member{
			CommunityID: c.ID, UserID: m.UserID, UserPublicID: m.PublicID, State: communities.StateMember,
			Roles: m.Roles, JoinedAt: m.JoinedAt, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		})
	}
	if len(c.Members) > 0 {
		reads.Users(c.UserIDs, &rows.Users)
	} else {
		reads.Members(c.ID, c.UserIDs, &rows.Members)
	}
	// The home of the community may not answer that of a member.
	if err := h.run(ctx, reads, home); err != nil || len(rows.Communities) == 0 && len(c.Members) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	a, err := h.View.LoadCommunities(ctx, h.Store, rows)
	if e.Name == "community.deleted" {
		return a, (*subscription.Access).Saw, err
	}
	return a, everyone, err
}

func (h *Hub) readUser(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	users, err := h.usersOf(ctx, home, []string{c.ID})
	if err != nil || len(users) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	return &plazav1.UserResponse{Users: h.View.Users(ctx, users)}, everyone, nil
}

func (h *Hub) usersOf(ctx context.Context, home region.Code, ids []string) ([]people.User, error) {
	var users []people.User
	reads := h.Store.NewBestEffortBatch()
	reads.Users(ids, &users)
	err := h.run(ctx, reads, home)
	return users, err
}

// readFollow reads a follow, by the ids of both users.
func (h *Hub) readFollow(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var follow *people.Follow
	var users []people.User
	reads := h.Store.NewBestEffortBatch()
	reads.Follow(c.ID, c.OtherID, &follow)
	reads.Users([]string{c.ID, c.OtherID}, &users)
	if err := h.run(ctx, reads, home); err != nil || follow == nil {
		return nil, nil, cmp.Or(err, errGone)
	}
	return &plazav1.ListFollowsResponse{Follows: []*plazav1.Follow{h.View.Follow(*follow)}, Users: h.View.Users(ctx, users)}, everyone, nil
}

// readMarkers reads the user's markers that changed.
func (h *Hub) readMarkers(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var users []people.User
	marks := view.Markers{}
	reads := h.Store.NewBestEffortBatch()
	reads.Users([]string{c.ID}, &users)
	reads.FeedMarkers(c.ID, c.FeedIDs, &marks.Feeds)
	reads.EntityMarkers(c.ID, c.EntityIDs, &marks.Entities)
	reads.UserMarker(c.ID, &marks.User)
	if err := h.run(ctx, reads, home); err != nil || len(users) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	a := h.View.Markers(users[0], marks)
	return &plazav1.MarkerUserSyncEvent{
		UserMarkers: a.GetUserMarkers(), UserFeedMarkers: a.GetUserFeedMarkers(), UserEntityMarkers: a.GetUserEntityMarkers(),
	}, everyone, nil
}
