package comment

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
)

const (
	// latestBackfill is the name of the stored progress.
	latestBackfill = "latest comments"
	// countsPerPage is the number of rows of counters that are read at a time, refillsPerTx that of references whose latest
	// comments a transaction stores.
	countsPerPage = 500
	refillsPerTx  = 50
)

// Job returns the background job that stores the latest comments of what servers of earlier versions counted. It reads the counts
// of each home once.
func (s *Service) Job() jobs.Job {
	return jobs.Job{Name: latestBackfill, Lanes: 1, Every: time.Minute, Log: s.Log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		return false, s.Backfill(ctx, home)
	}}
}

// Backfill takes the backfill of a home as far as it gets, if it is due.
func (s *Service) Backfill(ctx context.Context, home region.Code) error {
	return steps.Backfill{Store: s.Store, Now: s.Now, Name: latestBackfill, Steps: func(home region.Code) []steps.Step {
		return []steps.Step{{Kind: "counts", Home: home, Page: func(ctx context.Context, after []string) (steps.Result, error) {
			return s.refillPage(ctx, home, after)
		}}}
	}}.Run(ctx, home)
}

// refillPage stores the latest comments of a page of counts. The position is the key of the last one.
func (s *Service) refillPage(ctx context.Context, home region.Code, after []string) (steps.Result, error) {
	var start store.CounterShard
	if len(after) == 3 {
		shard, err := strconv.ParseInt(after[2], 10, 64)
		if err != nil {
			return steps.Result{}, err
		}
		start = store.CounterShard{Ref: after[0], Kind: store.CounterKind(after[1]), Shard: shard}
	}
	var page []store.CounterShard
	reads := s.Store.NewReadBatch()
	reads.CounterShards(home, start, countsPerPage, &page)
	if err := reads.Run(ctx); err != nil || len(page) == 0 {
		return steps.Result{Last: true}, err
	}
	last := page[len(page)-1]
	return steps.Result{
		Position: []string{last.Ref, string(last.Kind), strconv.FormatInt(last.Shard, 10)}, Last: len(page) < countsPerPage,
	}, s.refill(ctx, home, page)
}

// refill stores the latest comments of the counts that lack them.
func (s *Service) refill(ctx context.Context, home region.Code, page []store.CounterShard) error {
	var references, parents []string
	for _, c := range page {
		switch {
		case !c.LacksLatest:
		case c.Kind == store.CountReplies:
			parents = append(parents, c.Ref)
		default:
			references = append(references, c.Ref)
		}
	}
	comments, err := service.Read(ctx, s.Deps, (*store.ReadBatch).CommentsByID, service.Distinct(parents))
	if err != nil {
		return err
	}
	for _, id := range service.Distinct(references) {
		comments = append(comments, store.Comment{ReferenceID: id})
	}
	for part := range slices.Chunk(comments, refillsPerTx) {
		tx := s.Store.NewTx(home)
		for _, c := range part {
			tx.RefillLatest(c.ReferenceID, c.ID)
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}
