package retention

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Kinds returns the kinds of rows. purgePost and purgeStory remove a deleted post or story with everything that refers to
// it. sessionLifetime is how long the servers let sessions live.
// The files that nothing else uses are deleted by the job of package file.
func Kinds(d *service.Deps, sessionLifetime time.Duration, purgePost, purgeStory func(ctx context.Context, id string) error) []Kind {
	deleted := func(s network.Settings) int { return s.RetentionDeletedDays }
	// Sessions live for sessionLifetime unless the retention is shorter.
	endSessions := func(tx *store.Tx, before time.Time, n *int64) { tx.SweepSessions(before.Add(sessionLifetime), n) }
	return []Kind{
		{"messages", func(s network.Settings) int { return s.RetentionMessageDays }, (&messages{Deps: d, after: map[region.Code]string{}}).sweep},
		{"deleted messages", deleted, emptier(d, lifecycle.ExpiredMessages, (*store.Tx).EmptyMessages)},
		{"deleted comments", deleted, emptier(d, lifecycle.ExpiredComments, (*store.Tx).EmptyComments)},
		{"deleted posts", deleted, purger(d, lifecycle.ExpiredPosts, purgePost)},
		{"deleted stories", deleted, purger(d, lifecycle.ExpiredStories, purgeStory)},
		{"sessions", func(s network.Settings) int { return s.RetentionSessionDays }, sweeper(d, endSessions)},
		{"events", func(s network.Settings) int { return s.RetentionEventDays }, sweeper(d, (*store.Tx).SweepEvents)},
		{"audit", func(s network.Settings) int { return s.RetentionAuditDays }, audit(d)},
	}
}

// pageOf reads the first rows of a home whose retention began before a time.
func pageOf(
	ctx context.Context, d *service.Deps, read lifecycle.ExpiredRows, home region.Code, before time.Time,
) ([]lifecycle.Expired, error) {
	var rows []lifecycle.Expired
	reads := d.Store.NewReadBatch()
	reads.ExpiredRows(read, home, before, PageSize, &rows)
	err := reads.Run(ctx)
	return rows, err
}

func sweptRows(rows []lifecycle.Expired, err error) (Swept, error) {
	if len(rows) == 0 {
		return Swept{}, err
	}
	return Swept{Rows: len(rows), Oldest: rows[0].At, More: len(rows) == PageSize}, err
}

func idsOf(rows []lifecycle.Expired) []string {
	return service.Map(rows, func(e lifecycle.Expired) string { return e.ID })
}

// emptier returns the sweep of rows that are emptied.
func emptier(d *service.Deps, read lifecycle.ExpiredRows, empty func(tx *store.Tx, ids []string, now time.Time)) Sweep {
	return func(ctx context.Context, home region.Code, before time.Time) (Swept, error) {
		rows, err := pageOf(ctx, d, read, home, before)
		if err != nil || len(rows) == 0 {
			return Swept{}, err
		}
		tx := d.Store.NewTx(home)
		empty(tx, idsOf(rows), d.Now())
		return sweptRows(rows, tx.Commit(ctx))
	}
}

// purger returns the sweep of rows that are removed one by one, because others refer to them.
func purger(d *service.Deps, read lifecycle.ExpiredRows, purge func(ctx context.Context, id string) error) Sweep {
	return func(ctx context.Context, home region.Code, before time.Time) (Swept, error) {
		rows, err := pageOf(ctx, d, read, home, before)
		if err != nil {
			return Swept{}, err
		}
		for _, row := range rows {
			if err := purge(ctx, row.ID); err != nil {
				return Swept{}, err
			}
		}
		return sweptRows(rows, nil)
	}
}

// messages deletes live messages by walking through the subchannels of a home. The position is only an optimization: after
// a restart, the walk begins again.
type messages struct {
	*service.Deps
	mu    sync.Mutex
	after map[region.Code]string
}

// feedsPerPage is the number of subchannels that are read at a time.
const feedsPerPage = 100

func (m *messages) sweep(ctx context.Context, home region.Code, before time.Time) (Swept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var feeds []string
	reads := m.Store.NewReadBatch()
	reads.MessageFeedsAfter(home, m.after[home], feedsPerPage, &feeds)
	if err := reads.Run(ctx); err != nil || len(feeds) == 0 {
		m.after[home] = ""
		return Swept{}, err
	}
	rows, err := m.deletePage(ctx, home, feeds, before)
	if err != nil {
		return Swept{}, err
	}
	swept, _ := sweptRows(rows, nil)
	switch {
	case swept.More: // the same subchannels again
		return swept, nil
	case len(feeds) == feedsPerPage:
		m.after[home], swept.More = feeds[len(feeds)-1], true
	default:
		m.after[home] = ""
	}
	return swept, nil
}

// deletePage deletes a page of messages. If another server or a user deletes one of them, the next page has the rest.
func (m *messages) deletePage(ctx context.Context, home region.Code, feeds []string, before time.Time) ([]lifecycle.Expired, error) {
	var rows []lifecycle.Expired
	reads := m.Store.NewReadBatch()
	reads.OldMessages(home, feeds, before, PageSize, &rows)
	if err := reads.Run(ctx); err != nil || len(rows) == 0 {
		return nil, err
	}
	tx := m.Store.NewTx(home)
	tx.DeleteOldMessages(rows, m.Now())
	err := tx.Commit(ctx)
	if errors.Is(err, core.ErrConflict) {
		return nil, nil
	}
	return rows, err
}

// sweeper returns the sweep of rows that one statement deletes, a limited number of them, and counts.
func sweeper(d *service.Deps, remove func(tx *store.Tx, before time.Time, removed *int64)) Sweep {
	return func(ctx context.Context, home region.Code, before time.Time) (Swept, error) {
		var n int64
		tx := d.Store.NewTx(home)
		remove(tx, before, &n)
		err := tx.Commit(ctx)
		return Swept{Rows: int(n), More: n > 0}, err
	}
}

// audit returns the sweep of audit events.
func audit(d *service.Deps) Sweep {
	return func(ctx context.Context, home region.Code, before time.Time) (Swept, error) {
		var oldest []lifecycle.Expired
		reads := d.Store.NewReadBatch()
		reads.OldestAuditEvent(home, &oldest)
		if err := reads.Run(ctx); err != nil || len(oldest) == 0 || !oldest[0].At.Before(before) {
			return Swept{}, err
		}
		var n int64
		tx := d.Store.NewTx(home)
		tx.DeleteAuditEvents(before, PageSize, &n)
		err := tx.Commit(ctx)
		return Swept{Rows: int(n), Oldest: oldest[0].At, More: n == PageSize}, err
	}
}
