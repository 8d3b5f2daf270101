package flag

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Job returns the background job that opens items for flags which servers without a flag queue have inserted.
func (s *Service) Job() jobs.Job {
	return jobs.Job{Name: "flag queue", Lanes: 1, Every: time.Minute, Log: s.Log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		return s.queueFlags(ctx, home)
	}}
}

// queueFlags opens the items of a limited number of flags of a home, and reports whether there may be more.
func (s *Service) queueFlags(ctx context.Context, home region.Code) (more bool, err error) {
	found, err := service.Read(ctx, s.Deps, (*store.ReadBatch).UnqueuedFlags, home)
	if err != nil || len(found) == 0 {
		return false, err
	}
	items := itemsOf(found)
	targets, err := s.readAllFlagged(ctx, items)
	if err != nil {
		return false, err
	}
	for _, i := range items {
		if o := targets[i.TargetID]; o.isDeleted() {
			i.TargetType = ""
		} else {
			i.PlaceID = o.placeID()
		}
		tx := s.Store.NewTx(home)
		tx.QueueFlags(i)
		if err := tx.Commit(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// itemsOf returns an item for each target of flags, which are in the order of their creation.
func itemsOf(flags []store.Flag) []store.FlagItem {
	var items []store.FlagItem
	for _, f := range flags {
		if service.Find(items, func(i store.FlagItem) bool { return i.TargetID == f.TargetID }) == nil {
			items = append(items, store.FlagItem{TargetID: f.TargetID, TargetType: f.TargetType, OpenedAt: f.CreatedAt})
		}
	}
	return items
}
