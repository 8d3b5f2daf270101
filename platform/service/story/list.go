package story

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// listOf returns the query for the stories of a target, and its cursor.
func (s *Service) listOf(ctx context.Context, o *plazav1.StoryListOptions) (page.Cursor, content.StoryList, error) {
	cursor, err := page.Parse(page.Options(o), page.DefaultLimit)
	if err != nil {
		return cursor, content.StoryList{}, err
	}
	list := content.StoryList{
		ViewerID: auth.CallerFrom(ctx).UserID, Now: s.Now(), Desc: (o.GetOrderBy() != "asc") != cursor.Back,
		Limit: cursor.Limit + 1,
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	return cursor, list, nil
}

func at(s content.Story) (t time.Time, key, id string) { return s.CreatedAt, "", s.ID }

// ListStories lists the stories of one community or user.
func (s *Service) ListStories(ctx context.Context, req *plazav1.ListStoriesRequest) (*plazav1.ListStoriesResponse, error) {
	cursor, list, err := s.listOf(ctx, req.GetOptions())
	if err != nil {
		return nil, err
	}
	targets, err := s.resolve(ctx, []string{req.GetTargetId()}, []string{req.GetTargetType()})
	if err != nil {
		return nil, err
	}
	list.DataType, list.Ended = req.GetDataType(), req.GetIsExpired()
	var rows []content.Story
	p := s.places(ctx, targets)
	list.TargetID = targets[0].id
	p.ListStories(list, &rows)
	p.Check(func() error { return p.requireSee(0) })
	if list.Ended {
		p.Check(func() error { return auth.Require(p.Caller, auth.ViewStory, auth.Scope{}) })
	}
	if err := p.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, at, p.Stops()...)
	return s.listAnswer(ctx, p, rows, paging)
}

// ListStoriesByTargets lists the stories of several communities and users as one list.
func (s *Service) ListStoriesByTargets(
	ctx context.Context, req *plazav1.ListStoriesByTargetsRequest,
) (*plazav1.ListStoriesResponse, error) {
	cursor, list, err := s.listOf(ctx, req.GetOptions())
	if err != nil {
		return nil, err
	}
	targets, err := s.resolveAll(ctx, req.GetTargets())
	if err != nil {
		return nil, err
	}
	parts := make([][]content.Story, len(targets))
	p := s.places(ctx, targets)
	for i, t := range targets {
		list.TargetID = t.id
		p.ListStories(list, &parts[i])
	}
	if err := p.Run(ctx); err != nil {
		return nil, err
	}
	var rows []content.Story
	for i := range targets {
		if p.requireSee(i) == nil {
			rows = append(rows, parts[i]...)
		}
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, at, p.Stops()...)
	return s.listAnswer(ctx, p, rows, paging)
}

// listAnswer returns a page of stories with the targets that were read.
func (s *Service) listAnswer(
	ctx context.Context, p *places, rows []content.Story, paging *plazav1.Paging,
) (*plazav1.ListStoriesResponse, error) {
	k := view.Rows{Stories: rows, Users: append(p.UserRows(), p.owners...)}
	for i := range p.targets {
		if p.requireSee(i) == nil {
			known := p.targets[i].target.Known(nil)
			k.Communities, k.Members = append(k.Communities, known.Communities...), append(k.Members, known.Members...)
		}
	}
	a, err := s.View.Load(ctx, s.Store, p.Caller.UserID, k)
	return view.Fill(a, &plazav1.ListStoriesResponse{StoryTargets: s.View.StoryTargets(p.seen()), Paging: paging}), err
}

// GetStoryTargets returns, for several communities and users, which of their stories the caller has seen.
func (s *Service) GetStoryTargets(ctx context.Context, req *plazav1.GetStoryTargetsRequest) (*plazav1.GetStoryTargetsResponse, error) {
	targets, err := s.resolveAll(ctx, req.GetTargets())
	if err != nil {
		return nil, err
	}
	p := s.places(ctx, targets)
	err = p.Run(ctx)
	return &plazav1.GetStoryTargetsResponse{StoryTargets: s.View.StoryTargets(p.seen())}, err
}

// CountStories counts the stories of one community or user.
func (s *Service) CountStories(ctx context.Context, req *plazav1.CountStoriesRequest) (*plazav1.CountStoriesResponse, error) {
	targets, err := s.resolve(ctx, []string{req.GetTargetId()}, []string{req.GetTargetType()})
	if err != nil {
		return nil, err
	}
	counts := core.Counts{}
	p := s.places(ctx, targets)
	p.CountsOf([]string{targets[0].id}, counts)
	p.Check(func() error { return p.requireSee(0) })
	if err := p.Run(ctx); err != nil {
		return nil, err
	}
	n := counts.Of(targets[0].id, content.CountStories)
	return &plazav1.CountStoriesResponse{Count: narrow.To[int32](n)}, nil
}

var errTargets = fail.Validation("targets: targetId and targetType must have the same number of elements")
