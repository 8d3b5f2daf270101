package notification

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
)

const (
	// maxGroup is the maximum number of notices that are delivered together.
	maxGroup = 64
	// maxWaiting is the maximum number of notices that wait. The outbox keeps the others and tries again.
	maxWaiting = 10_000
	// maxPut is the maximum number of items in one transaction.
	maxPut = 100
	// maxAlone is the number of notices of a failed group that are delivered concurrently.
	maxAlone = 8
)

// newQueue returns the queue of notices. Those that arrive while others are delivered are delivered together.
func (s *Service) newQueue() *groupcommit.Queue[struct{}, service.Notice] {
	return &groupcommit.Queue[struct{}, service.Notice]{
		Max: maxGroup, MaxWaiting: maxWaiting,
		Commit: func(ctx context.Context, _ struct{}, notices []service.Notice) []error {
			return s.deliverGroup(ctx, notices)
		},
	}
}

// deliverGroup delivers notices together. If that fails for a reason that may concern only some of them, it delivers each of
// them alone.
func (s *Service) deliverGroup(ctx context.Context, notices []service.Notice) []error {
	ctx, cancel := context.WithTimeout(ctx, s.Store.Limits().DeliverNotices)
	defer cancel()
	err := s.deliver(ctx, notices)
	if err == nil || len(notices) == 1 {
		return groupcommit.Each(err, len(notices))
	}
	errs := make([]error, len(notices))
	var g errgroup.Group
	g.SetLimit(maxAlone)
	for i, n := range notices {
		g.Go(func() error {
			errs[i] = s.deliver(ctx, []service.Notice{n})
			return nil
		})
	}
	_ = g.Wait() // the functions return no errors
	return errs
}

// deliver adds items to the trays of the users whom changes concern, unless they caused the change or must not know about it.
func (s *Service) deliver(ctx context.Context, changes []service.Notice) error {
	rows, err := s.readRows(ctx, changes)
	if err != nil {
		return err
	}
	var notices []notice
	for _, n := range changes {
		for _, found := range rows.noticesOf(n) {
			found.trace = n.Trace
			notices = append(notices, found)
		}
	}
	notices = slices.DeleteFunc(notices, func(n notice) bool {
		return n.actorID == "" || n.item.UserID == "" || n.actorID == n.item.UserID
	})
	if len(notices) == 0 {
		return nil
	}
	receivers, err := s.readReceivers(ctx, rows, notices)
	if err != nil {
		return err
	}
	byHome := map[region.Code][]notice{}
	for _, n := range notices {
		if receivers.sees(n) {
			home := s.HomeOf(n.item.UserID)
			byHome[home] = append(byHome[home], n)
		}
	}
	return s.putAll(ctx, byHome)
}

// putAll adds items to trays at several homes.
func (s *Service) putAll(ctx context.Context, byHome map[region.Code][]notice) error {
	var g errgroup.Group
	for home, notices := range byHome {
		g.Go(func() error { return s.putAt(ctx, home, notices) })
	}
	return g.Wait()
}

// putAt adds items to trays at one home.
func (s *Service) putAt(ctx context.Context, home region.Code, notices []notice) error {
	for some := range slices.Chunk(notices, maxPut) {
		err := s.putItems(ctx, home, some)
		if errors.Is(err, errGone) {
			err = s.putEach(ctx, home, some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putEach adds items one by one, without those of deleted users.
func (s *Service) putEach(ctx context.Context, home region.Code, notices []notice) error {
	for _, n := range notices {
		if err := s.putItems(ctx, home, []notice{n}); err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	return nil
}
