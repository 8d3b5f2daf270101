// Package analytics records which posts and stories users viewed, from which impressions, reach and seen stories are
// derived.
//
// The views of one post or story by one user are one row, at the home of what was viewed. A view that is not later
// than the last one that was counted is ignored, so a client can repeat a batch whose response was lost.
package analytics

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements AnalyticsService.
type Service struct{ *service.Deps }

// New returns the service of analytics.
func New(d *service.Deps) *Service { return &Service{d} }

// viewed is a post or story that the caller viewed, and when.
type viewed struct {
	content.View

	times []time.Time // in order, each once
	ref   *visibility.Reference
}

// ReportActivities records what the caller viewed.
func (s *Service) ReportActivities(ctx context.Context, req *plazav1.ReportActivitiesRequest) (*plazav1.ReportActivitiesResponse, error) {
	now := s.Now()
	posts, stories, err := timesOf(req.GetActivities(), now)
	if err != nil {
		return nil, err
	}
	views, err := s.visible(ctx, posts, stories, now)
	if err != nil {
		return nil, err
	}
	for home, part := range views {
		if err := s.count(ctx, home, part, now); err != nil {
			return nil, err
		}
	}
	return &plazav1.ReportActivitiesResponse{Success: true}, nil
}

// timesOf returns the times at which posts and stories were viewed, by id. A time in the future counts as now.
func timesOf(activities []*plazav1.Activity, now time.Time) (posts, stories map[string][]time.Time, err error) {
	posts, stories = map[string][]time.Time{}, map[string][]time.Time{}
	for _, a := range activities {
		at := now
		if stamp := a.GetTimestamp(); stamp != nil {
			if stamp.CheckValid() != nil {
				return nil, nil, fail.Validation("activities.timestamp: must be a time of the years 1 to 9999")
			}
			at = stamp.AsTime().Truncate(time.Millisecond)
		}
		if at.After(now) {
			at = now
		}
		switch {
		case a.GetActivityType() != "view":
		case a.GetContentType() == content.ReferencePost:
			posts[a.GetContentId()] = append(posts[a.GetContentId()], at)
		case a.GetContentType() == content.ReferenceStory:
			stories[a.GetContentId()] = append(stories[a.GetContentId()], at)
		}
	}
	return posts, stories, nil
}

// visible returns, by home, the views of posts and stories that exist and that the caller may see.
func (s *Service) visible(
	ctx context.Context, postTimes, storyTimes map[string][]time.Time, now time.Time,
) (map[region.Code][]viewed, error) {
	var posts []content.Post
	var stories []content.Story
	f := s.NewUserRequest(ctx)
	f.PostHeads(slices.Sorted(maps.Keys(postTimes)), &posts)
	f.StoryHeads(slices.Sorted(maps.Keys(storyTimes)), &stories)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	targets := map[string]string{}
	for _, p := range posts {
		targets[p.TargetID] = p.TargetType
	}
	for _, st := range stories {
		targets[st.TargetID] = st.TargetType
	}
	read, err := visibility.LoadTargets(ctx, s.Deps, f.Caller, targets)
	if err != nil {
		return nil, err
	}
	views := map[region.Code][]viewed{}
	add := func(kind, id string, times []time.Time, row *visibility.Pending) {
		ref, err := row.Resolve(f.Caller, now)
		if err != nil {
			return
		}
		slices.SortFunc(times, time.Time.Compare)
		v := viewed{View: content.View{ReferenceType: kind, ReferenceID: id, UserID: f.Caller.UserID}, times: times, ref: ref}
		views[s.HomeOf(id)] = append(views[s.HomeOf(id)], v)
	}
	for i := range posts {
		add(content.ReferencePost, posts[i].ID, postTimes[posts[i].ID], read.Post(&posts[i]))
	}
	for i := range stories {
		add(content.ReferenceStory, stories[i].ID, storyTimes[stories[i].ID], read.Story(&stories[i]))
	}
	return views, nil
}

// perTransaction is the maximum number of views that are stored in one transaction.
const perTransaction = 50

// count stores the views of one home. Views of what was deleted in the meantime are skipped.
func (s *Service) count(ctx context.Context, home region.Code, views []viewed, now time.Time) error {
	for part := range slices.Chunk(views, perTransaction) {
		err := s.put(ctx, home, now, part...)
		if !errors.Is(err, fail.NotFound()) {
			if err != nil {
				return err
			}
			continue
		}
		for _, v := range part {
			if err := s.put(ctx, home, now, v); err != nil && !errors.Is(err, fail.NotFound()) {
				return err
			}
		}
	}
	return nil
}

// put stores views in one transaction. It is 400400 if one of the posts or stories does not exist.
func (s *Service) put(ctx context.Context, home region.Code, now time.Time, views ...viewed) error {
	tx := s.Store.NewTx(home)
	for _, v := range views {
		v.ref.Guard(tx, now)
		tx.InsertViews(v.View, v.times)
		if story := v.ref.Story; story != nil {
			tx.UpsertStorySeen(v.UserID, story.TargetID, story.ExpiresAt)
		}
	}
	return tx.Commit(ctx)
}
