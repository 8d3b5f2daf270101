package file

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
)

// sweepEvery is the time between two looks at uploads that should have ended.
const sweepEvery = time.Minute

// Sweep is the job that removes what uploads left whose server died, or whose storage did not answer.
func (s *Service) Sweep() jobs.Job {
	return jobs.Job{Name: "upload sweep", Lanes: 1, Every: sweepEvery, Log: s.Log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		return s.SweepUploads(ctx, home)
	}}
}

// SweepUploads removes the objects of uploads that should have ended and became no file. more says that there were too
// many for one go. First the uploads are abandoned, which no server can undo: none of them can become a file while its
// objects go. Whatever fails is tried again.
func (s *Service) SweepUploads(ctx context.Context, home region.Code) (more bool, err error) {
	var ids []string
	reads := s.Store.NewReadBatch()
	reads.UploadsDue(home, s.Now(), &ids)
	if err := reads.Run(ctx); err != nil || len(ids) == 0 {
		return false, err
	}
	tx := s.Store.NewTx(home)
	tx.AbandonUploads(ids)
	if err := tx.Commit(ctx); err != nil {
		return false, err
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.discardInTime(ctx, home, id))
	}
	err = errors.Join(errs...)
	return err == nil, err
}

func (s *Service) discardInTime(ctx context.Context, home region.Code, id string) error {
	ctx, cancel := context.WithTimeout(ctx, deletePatience)
	defer cancel()
	return s.discard(ctx, home, id)
}
