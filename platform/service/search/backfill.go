package search

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
)

const (
	// wordsBackfill is the name of the stored progress.
	wordsBackfill = "search words"
	// backfillPage is the number of posts or communities that one transaction makes searchable.
	backfillPage = 50
)

// Job returns the background job that makes the posts and communities of earlier versions searchable.
func (s *Service) Job() jobs.Job {
	return jobs.Job{Name: wordsBackfill, Lanes: 1, Every: time.Minute, Log: s.Log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		return false, s.Backfill(ctx, home)
	}}
}

// Backfill takes the backfill of a home as far as it gets, if it is due.
func (s *Service) Backfill(ctx context.Context, home region.Code) error {
	return steps.Backfill{Store: s.Store, Now: s.Now, Name: wordsBackfill, Steps: func(home region.Code) []steps.Step {
		return []steps.Step{
			{Kind: "posts", Home: home, Page: func(ctx context.Context, after []string) (steps.Result, error) { return s.fillPosts(ctx, home, after) }},
			{Kind: "communities", Home: home, Page: func(ctx context.Context, after []string) (steps.Result, error) {
				return s.fillCommunities(ctx, home, after)
			}},
		}
	}}.Run(ctx, home)
}

// fillPosts makes a page of posts searchable. The position is the id of the last one. A post that changes at the same time makes
// the transaction fail, so that the job reads the page again.
func (s *Service) fillPosts(ctx context.Context, home region.Code, after []string) (steps.Result, error) {
	var rows []store.Post
	reads := s.Store.NewReadBatch()
	reads.PostsAfter(home, positionOf(after), backfillPage, &rows)
	if err := reads.Run(ctx); err != nil || len(rows) == 0 {
		return steps.Result{Last: true}, err
	}
	tx := s.Store.NewTx(home)
	for _, p := range rows {
		if p.IsParent && p.DeletedAt == nil {
			tx.GuardPostUnchanged(p, errChanged)
			tx.IndexPost(p)
		}
	}
	return steps.Result{Position: []string{rows[len(rows)-1].ID}, Last: len(rows) < backfillPage}, tx.Commit(ctx)
}

// fillCommunities is fillPosts for communities.
func (s *Service) fillCommunities(ctx context.Context, home region.Code, after []string) (steps.Result, error) {
	var rows []store.Community
	reads := s.Store.NewReadBatch()
	reads.CommunitiesAfter(home, positionOf(after), backfillPage, &rows)
	if err := reads.Run(ctx); err != nil || len(rows) == 0 {
		return steps.Result{Last: true}, err
	}
	tx := s.Store.NewTx(home)
	for _, c := range rows {
		if c.DeletedAt == nil {
			tx.GuardCommunityUnchanged(c, errChanged)
			tx.IndexCommunity(c)
		}
	}
	return steps.Result{Position: []string{rows[len(rows)-1].ID}, Last: len(rows) < backfillPage}, tx.Commit(ctx)
}

// errChanged reports that a post or community changed while its page was processed.
var errChanged = errors.New("the row changed after it was read")

func positionOf(after []string) string {
	if len(after) == 0 {
		return ""
	}
	return after[0]
}
