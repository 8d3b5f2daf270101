package story

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
)

// Retention of ended stories, and how they are removed.
const (
	keepEnded  = 30 * 24 * time.Hour
	sweepEvery = 10 * time.Minute
	sweepBatch = 100
)

// Job returns the background job that removes stories that ended long ago.
func (s *Service) Job() jobs.Job {
	return jobs.New("ended stories", sweepEvery, s.Log, s.Sweep)
}

// Sweep removes up to a hundred stories of a home that ended at least thirty days ago, with everything that refers to
// them, and reports whether there may be more. Several servers may run it concurrently.
func (s *Service) Sweep(ctx context.Context, home region.Code) (more bool, err error) {
	var ended []content.Story
	reads := s.Store.NewReadBatch()
	reads.StoriesEndedBefore(home, s.Now().Add(-keepEnded), sweepBatch, &ended)
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	for _, story := range ended {
		if err := s.purge(ctx, story); err != nil {
			return false, err
		}
	}
	return len(ended) == sweepBatch, nil
}
