package story

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// unseen is the default seen state of a request.
const unseen = "unseen"

// ListMyStoryTargets lists the targets of the caller that have live stories. It takes four round trips: the possible
// targets, the page, the rows of these targets, and what those refer to. Each goes to the homes concerned in
// parallel, and from the second one on, homes that do not answer are left out.
func (s *Service) ListMyStoryTargets(
	ctx context.Context, m *plazav1.ListMyStoryTargetsRequest,
) (*plazav1.ListMyStoryTargetsResponse, error) {
	f := s.NewUserRequest(ctx)
	cursor := f.Page(page.Merge(m.GetOptions(), m.Limit, m.GetToken()))
	list := content.StoryTargetList{SeenState: cmp.Or(m.GetSeenState(), unseen), Now: s.Now(), Desc: !cursor.Back, Limit: cursor.Limit + 1}
	f.CommunitiesOfUser(f.Caller.UserID, &list.Communities)
	hidden := contact.ReadHidden(f)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	list.ReaderID, list.Hidden = f.Caller.UserID, hidden.Some()
	rows, paging, err := service.Merged[content.StoryTarget]{
		Cursor: cursor, Desc: list.Desc,
		At: func(t content.StoryTarget) (time.Time, string, string) { return t.LastExpiresAt, "", t.TargetID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.StoryTarget) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListStoryTargets(list, into)
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	if rows, err = contact.Without(ctx, hidden, rows, func(t content.StoryTarget) string { return t.TargetID }); err != nil {
		return nil, err
	}
	return s.targetsAnswer(ctx, f, rows, paging)
}

// targetsAnswer reads the rows of targets, without those that the caller may not see any more: a private community
// that the caller was just removed from can still be among them.
func (s *Service) targetsAnswer(ctx context.Context, f *service.Request, rows []content.StoryTarget,
	paging *plazav1.Paging,
) (*plazav1.ListMyStoryTargetsResponse, error) {
	var communities, walls []string
	for _, t := range rows {
		if t.TargetType == inCommunity {
			communities = append(communities, t.TargetID)
		} else {
			walls = append(walls, t.TargetID)
		}
	}
	k := view.Rows{Users: f.UserRows()}
	var owners []people.User
	reads := s.Store.NewBestEffortBatch()
	reads.Communities(communities, &k.Communities)
	reads.Memberships(f.Caller.UserID, communities, &k.Members)
	reads.Users(walls, &owners)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	k.Users = append(k.Users, owners...)
	rows = visibleTargets(f.Caller, rows, &k)
	a, err := s.View.Load(ctx, s.Store, f.Caller.UserID, k)
	return view.Fill(a, &plazav1.ListMyStoryTargetsResponse{StoryTargets: s.View.StoryTargets(rows), Paging: paging}), err
}

// visibleTargets returns the rows of targets that the caller may see, and removes the other targets from k.
func visibleTargets(caller *auth.Caller, rows []content.StoryTarget, k *view.Rows) []content.StoryTarget {
	targets := visibility.NewTargets(k.Communities, k.Members)
	targets.AddFollowedWalls(k.Users)
	rows = slices.DeleteFunc(rows, func(t content.StoryTarget) bool { return targets[t.TargetID].RequireSee(caller) != nil })
	visible := map[string]bool{}
	for _, t := range rows {
		visible[t.TargetID] = true
		if t.TargetType == onWall {
			k.UserIDs = append(k.UserIDs, t.TargetID)
		}
	}
	k.Communities = slices.DeleteFunc(k.Communities, func(c communities.Community) bool { return !visible[c.ID] })
	k.Members = slices.DeleteFunc(k.Members, func(m communities.Member) bool { return !visible[m.CommunityID] })
	return rows
}
