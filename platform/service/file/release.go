package file

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
)

const (
	// releaseInterval is the time between two searches for released files.
	releaseInterval = time.Second
	// releaseRetry is when the deletion of a file is tried again after an error.
	releaseRetry = time.Minute
	// usesPerPage is the number of uses that are read at a time.
	usesPerPage = 500
)

// ReleaseJob returns the background job that deletes the files that nothing refers to any more.
func (s *Service) ReleaseJob() jobs.Job {
	return jobs.New("released files", releaseInterval, s.Log, s.DeleteReleased)
}

// DeleteReleased deletes up to a hundred files that objects of a home have released and that nothing else uses, and
// reports whether there may be more. It leaves a file to which no object of its uploader referred, such as a sticker of
// an administrator: otherwise every user could delete it by referring to it once.
//
// A file and what refers to it can be stored at different homes, which no transaction spans. Therefore a file that
// nothing refers to is first marked, which keeps requests from referring to it, see fileref. Once every request that
// may have read the file before has ended, SettleTime later, the uses are read again: if there are still none, there
// never will be, and the file is deleted. Otherwise the mark is removed.
func (s *Service) DeleteReleased(ctx context.Context, home region.Code) (more bool, err error) {
	var due []media.FileRelease
	reads := s.Store.NewReadBatch()
	reads.FileReleasesDue(home, s.Now(), &due)
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	var errs []error
	for _, row := range due {
		next, err := s.settle(ctx, row)
		if err != nil {
			errs, next = append(errs, err), s.Now().Add(releaseRetry)
		}
		tx := s.Store.NewTx(home)
		if next.IsZero() {
			tx.DeleteFileRelease(row)
		} else {
			tx.DelayFileRelease(row, next)
		}
		if err := tx.Commit(ctx); err != nil {
			return false, errors.Join(append(errs, err)...)
		}
	}
	err = errors.Join(errs...)
	return err == nil && len(due) == media.MaxFileReleases, err
}

// errUsedAgain reports that something refers to a file again, or that another server has deleted it.
var errUsedAgain = errors.New("the file is in use or deleted")

// settle takes the next step of the deletion of a released file. It returns when the next one is due; zero if there is
// none.
func (s *Service) settle(ctx context.Context, row media.FileRelease) (next time.Time, err error) {
	var f *media.File
	var used bool
	reads := s.Store.NewReadBatch()
	reads.File(row.FileID, &f)
	reads.FileIsUsed(row.FileID, &used)
	if err := reads.Run(ctx); err != nil || f == nil || !f.UsesRecorded {
		return time.Time{}, err
	}
	if !f.Released && (f.OwnerID == "" || f.OwnerID != row.AuthorID) {
		return time.Time{}, nil
	}
	now, tx := s.Now(), s.Store.NewTx(s.HomeOf(f.ID))
	switch {
	case used:
		tx.MarkFileUsed(f.ID)
		return time.Time{}, tx.Commit(ctx)
	case f.UnusedSince == nil:
		tx.MarkFileUnused(f.ID, now)
		return now.Add(s.SettleTime), tx.Commit(ctx)
	case now.Before(f.UnusedSince.Add(s.SettleTime)):
		return f.UnusedSince.Add(s.SettleTime), nil
	}
	tx.GuardFileUnused(*f, errUsedAgain)
	content := tx.DeleteFile(*f, errUsedAgain, now, s.Outbox.FirstTry())
	err = s.Commit(ctx, tx, content)
	if errors.Is(err, errUsedAgain) {
		return now.Add(releaseInterval), nil
	}
	return time.Time{}, err
}

// releasePlace releases the files in a deleted community or channel.
func (s *Service) releasePlace(ctx context.Context, place media.FilePlace) error {
	return s.eachUse(ctx, place, func(ctx context.Context, uses []core.FileUse) error {
		tx := s.Store.NewTx(s.HomeOf(place.PlaceID))
		tx.ReleaseFiles(service.SortedSet(service.Map(uses, func(use core.FileUse) string { return use.ObjectID })))
		return tx.Commit(ctx)
	})
}

// restrictPlace restricts the files in a community that has become private.
func (s *Service) restrictPlace(ctx context.Context, place media.FilePlace) error {
	return s.eachUse(ctx, place, s.restrict)
}

// eachUse calls do with the uses of files in a community or channel, a page at a time.
func (s *Service) eachUse(ctx context.Context, place media.FilePlace, do func(ctx context.Context, uses []core.FileUse) error) error {
	var after core.FileUse
	for {
		var uses []core.FileUse
		reads := s.Store.NewReadBatch()
		reads.FileUsesInPlace(place.PlaceID, after, usesPerPage, &uses)
		if err := reads.Run(ctx); err != nil || len(uses) == 0 {
			return err
		}
		if err := do(ctx, uses); err != nil {
			return err
		}
		after = uses[len(uses)-1]
	}
}

// restrict restricts the files of uses whose authors uploaded them.
func (s *Service) restrict(ctx context.Context, uses []core.FileUse) error {
	for _, home := range region.All() {
		tx, changes := s.Store.NewTx(home), false
		for _, use := range uses {
			if use.AuthorID != "" && s.HomeOf(use.FileID) == home {
				tx.RestrictFiles([]string{use.FileID}, use.AuthorID)
				changes = true
			}
		}
		if changes {
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
