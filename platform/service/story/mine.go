package story

import (
	"cmp"
	"context"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// unseen is the seen state where a request names none.
const unseen = "unseen"

// ListMyStoryTargets lists those of the caller's targets that have stories now, in four round trips: what the targets can be,
// the page, what they are, and what that refers to. Each asks the homes concerned in parallel, and from the second on a home
// that is away leaves its part out.
func (s *Service) ListMyStoryTargets(ctx context.Context, req *connect.Request[plazav1.ListMyStoryTargetsRequest]) (*connect.Response[plazav1.ListMyStoryTargetsResponse], error) {
	m := req.Msg
	cursor, err := page.Parse(page.Merge(m.GetOptions(), m.Limit, m.GetToken()), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := store.StoryTargetList{SeenState: cmp.Or(m.GetSeenState(), unseen), Now: s.Now(), Desc: !cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	f := s.Begin(ctx)
	if f.Caller.UserID != "" {
		f.CommunitiesOfUser(f.Caller.UserID, &list.Communities)
		f.HiddenFrom(f.Caller.UserID, &list.Hidden)
	}
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if err := f.RequireUser(); err != nil {
		return nil, err
	}
	list.ReaderID = f.Caller.UserID
	var rows []store.StoryTarget
	reads := s.Store.Related()
	reads.ListStoryTargets(list, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	place := func(t store.StoryTarget) (time.Time, string, string) { return t.LastExpiresAt, "", t.TargetID }
	rows, paging := service.Page(cursor, rows, false, list.Desc, place)
	return s.targetsAnswer(ctx, f, rows, paging)
}

// targetsAnswer reads what targets are, and leaves out those that the caller may not see any more: whoever was put out of a
// private community a moment ago may still have it among theirs.
func (s *Service) targetsAnswer(ctx context.Context, f *service.First, rows []store.StoryTarget, paging *plazav1.Paging) (*connect.Response[plazav1.ListMyStoryTargetsResponse], error) {
	var communities, walls []string
	for _, t := range rows {
		if t.TargetType == inCommunity {
			communities = append(communities, t.TargetID)
		} else {
			walls = append(walls, t.TargetID)
		}
	}
	k := view.Rows{Users: f.UserRows()}
	var owners []store.User
	reads := s.Store.Related()
	reads.Communities(communities, &k.Communities)
	reads.Memberships(f.Caller.UserID, communities, &k.Members)
	reads.Users(walls, &owners)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	k.Users = append(k.Users, owners...)
	rows = standing(f, rows, &k)
	a, err := s.View.Load(ctx, s.Store, f.Caller.UserID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.ListMyStoryTargetsResponse{
		StoryTargets: s.View.StoryTargets(rows), Files: a.Files, Users: a.Users, Communities: a.Communities,
		CommunityUsers: a.CommunityUsers, Categories: a.Categories, Paging: paging,
	}), nil
}

// standing keeps the targets that the caller may see, and what the answer says of them.
func standing(f *service.First, rows []store.StoryTarget, k *view.Rows) []store.StoryTarget {
	rows = slices.DeleteFunc(rows, func(t store.StoryTarget) bool { return placeOf(t, k).RequireSee(f.Caller) != nil })
	shown := map[string]bool{}
	for _, t := range rows {
		shown[t.TargetID] = true
		if t.TargetType == onWall {
			k.UserIDs = append(k.UserIDs, t.TargetID)
		}
	}
	k.Communities = slices.DeleteFunc(k.Communities, func(c store.Community) bool { return !shown[c.ID] })
	k.Members = slices.DeleteFunc(k.Members, func(m store.Member) bool { return !shown[m.CommunityID] })
	return rows
}

// placeOf is where a target's stories stand, of what was read; nowhere where it is gone. Whom the caller follows does not
// block the caller, and shows them the wall.
func placeOf(t store.StoryTarget, k *view.Rows) service.Place {
	var place service.Place
	for i := range k.Communities {
		if k.Communities[i].ID == t.TargetID {
			place.Community = &k.Communities[i]
		}
	}
	for i := range k.Members {
		if k.Members[i].CommunityID == t.TargetID {
			place.Member = &k.Members[i]
		}
	}
	for _, u := range k.Users {
		if u.ID == t.TargetID && u.DeletedAt == nil {
			place.WallOwnerID = u.ID
		}
	}
	return place
}
