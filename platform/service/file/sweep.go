package file

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
)

// sweepInterval is the time between two searches for uploads past their deadline.
const sweepInterval = time.Minute

// Sweep returns the background job that removes the objects of uploads whose server died or whose storage did not
// answer.
func (s *Service) Sweep() jobs.Job {
	return jobs.New("upload sweep", sweepInterval, s.Log, s.SweepUploads)
}

// SweepUploads removes the objects of uploads past their deadline that created no file. more reports whether there
// may be further ones. The uploads are first marked as abandoned, which is final: no abandoned upload can create a
// file while its objects are removed. Failures are retried by the next run.
func (s *Service) SweepUploads(ctx context.Context, home region.Code) (more bool, err error) {
	var ids []string
	reads := s.Store.NewReadBatch()
	reads.UploadsDue(home, s.Now(), &ids)
	if err := reads.Run(ctx); err != nil || len(ids) == 0 {
		return false, err
	}
	abandoned, err := s.abandon(ctx, home, ids)
	if err != nil {
		return false, err
	}
	var errs []error
	for _, id := range abandoned {
		errs = append(errs, s.discardInTime(ctx, home, id))
	}
	err = errors.Join(errs...)
	return err == nil, err
}

// abandon prevents uploads from becoming files, and returns the ids of those that have not become one.
func (s *Service) abandon(ctx context.Context, home region.Code, ids []string) (abandoned []string, err error) {
	tx := s.Store.NewTx(home)
	tx.WithoutRecord()
	tx.AbandonUploads(ids, &abandoned)
	return abandoned, tx.Commit(ctx)
}

func (s *Service) discardInTime(ctx context.Context, home region.Code, id string) error {
	ctx, cancel := context.WithTimeout(ctx, s.Store.Limits().DeleteFile)
	defer cancel()
	return s.discard(ctx, home, id)
}
