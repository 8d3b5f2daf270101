package erasure

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// pass is one of the two passes over the rows of a user.
type pass struct {
	subject
	second bool
}

func (s *Service) pass(e lifecycle.Erasure) pass {
	return pass{subject{e.ID, e.PublicID}, e.State == lifecycle.ErasureVerifying}
}

// tableWork is the work on one table.
type tableWork struct {
	walk *lifecycle.ErasureWalk
	// prepare makes the change that other rows depend on before a row is erased, such as ending a membership, which is
	// counted, and reports whether it had to. It must succeed if it was made already. It may be nil.
	prepare func(ctx context.Context, u subject, key []string) (changed bool, err error)
	// late is whether the row is erased by the second pass only, because its end is delivered to other homes by the
	// outbox, and comparing versions there requires the row.
	late bool
}

// works returns the work on all tables.
func (s *Service) works() []tableWork {
	works, prepared := []tableWork(nil), map[string]tableWork{
		"posts":             {prepare: s.deletePost},
		"stories":           {prepare: s.deleteStory},
		"comments":          {prepare: s.deleteComment},
		"messages":          {prepare: s.deleteMessage},
		"reactions":         {prepare: s.deleteReaction},
		"files":             {prepare: s.deleteFile},
		"community_members": {prepare: s.endMembership},
		"channel_users":     {prepare: s.leaveChannel},
		"follows":           {prepare: s.endFollow, late: true},
		"followers":         {late: true},
		"blocks":            {prepare: s.endBlock, late: true},
		"blocked_by":        {late: true},
	}
	for _, walk := range lifecycle.ErasureWalks {
		work := prepared[walk.Table]
		work.walk = walk
		works = append(works, work)
	}
	return works
}

// steps returns the steps of a pass in one home. The rows that concern only the user are last, because ending others changes them.
// p.Changed is set by the first of them.
func (r *run) steps(home region.Code, p *progress) []steps.Step {
	return []steps.Step{
		{Kind: "tables", Home: home, Page: func(ctx context.Context, after []string) (steps.Result, error) {
			return r.eraseTables(ctx, home, after, p)
		}},
		{Kind: "account", Home: home, Page: func(ctx context.Context, after []string) (steps.Result, error) {
			return r.eraseAccount(ctx, home, after)
		}},
	}
}

// table is how far the walk through a table is. The position of the step is one for each table with further rows.
type table struct {
	tableWork
	after []string // key of the last row; empty at the start
	rows  []lifecycle.ErasureRow
}

// tables returns the tables that have further rows, given the position of the step.
func (r *run) tables(position []string) ([]*table, error) {
	var all []*table
	for _, work := range r.works() {
		if len(position) == 0 {
			all = append(all, &table{tableWork: work})
		}
		for _, text := range position {
			var after []string // the name of the table and a key
			if err := json.Unmarshal([]byte(text), &after); err != nil {
				return nil, err
			}
			if after[0] == work.walk.Table {
				all = append(all, &table{tableWork: work, after: after[1:]})
			}
		}
	}
	return all, nil
}

// visited returns the number of rows of each table that an attempt visits: fewer after those that failed, because the database may have
// been too slow.
func visited(failed int64) int { return max(visitSize>>min(failed, 10), pageSize) }

// eraseTables visits the next rows of all tables of a home, which it reads in one round trip. It ends after about a page of rows
// that concern the user.
func (r *run) eraseTables(ctx context.Context, home region.Code, position []string, p *progress) (steps.Result, error) {
	all, err := r.tables(position)
	if err != nil {
		return steps.Result{}, err
	}
	var next []string
	if defence.Off(defence.ErasureBatches) {
		for _, t := range all[1:] {
			next = append(next, textOf(append([]string{t.walk.Table}, t.after...)))
		}
		all = all[:1]
	}
	visit := visited(p.Attempts)
	reads := r.Store.NewReadBatch()
	for _, t := range all {
		reads.ErasurePage(t.walk, home, r.pass.id, t.after, visit, pageSize, &t.rows)
	}
	if err := reads.Run(ctx); err != nil {
		return steps.Result{}, err
	}
	erased, processed := map[string]int32{}, 0
	for _, t := range all {
		last := lifecycle.LastErasurePage(t.rows, visit, pageSize)
		if mine := slices.ContainsFunc(t.rows, lifecycle.ErasureRow.Concerns); mine && processed > 0 && processed+len(t.rows) > pageSize {
			last = false // they are read again
		} else {
			n, err := r.erase(ctx, t, home, &p.Changed)
			if err != nil {
				return steps.Result{}, err
			}
			erased[t.walk.Table], processed = n, processed+len(t.rows)
			if !last {
				t.after = t.rows[len(t.rows)-1].Key
			}
		}
		if !last {
			next = append(next, textOf(append([]string{t.walk.Table}, t.after...)))
		}
	}
	r.count(erased)
	return steps.Result{Position: next, Last: len(next) == 0}, nil
}

// textOf returns a list as JSON.
func textOf(list []string) string {
	raw, err := json.Marshal(list)
	if err != nil {
		panic("erasure: position: " + err.Error()) // of strings
	}
	return string(raw)
}

// erase erases the rows of a page that concern the user, and returns their number.
func (r *run) erase(ctx context.Context, t *table, home region.Code, changed *bool) (n int32, err error) {
	tx := r.Store.NewTx(home)
	for _, row := range t.rows {
		if row.Own {
			if err := r.keep(ctx); err != nil {
				return 0, err
			}
			if err := t.end(ctx, r.pass.subject, row.Key, changed); err != nil {
				return 0, err
			}
		}
		erase := row.Own && (!t.late || r.pass.second)
		if erase {
			tx.EraseRow(t.walk, r.pass.id, row.Key)
		}
		if row.JSON != "" {
			tx.ReplaceJSON(t.walk, row, anonymize([]byte(row.JSON), r.pass.subject))
		}
		if erase || row.JSON != "" {
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	return n, tx.Commit(ctx)
}

// end prepares a row, and sets changed if that made a change.
func (w tableWork) end(ctx context.Context, u subject, key []string, changed *bool) error {
	if w.prepare == nil {
		return nil
	}
	made, err := w.prepare(ctx, u, key)
	if errors.Is(err, errChanged) {
		return nil
	}
	*changed = *changed || made
	return err
}

// eraseAccount deletes the events about the user from the log of a home, and at its end the rows that concern only the user, the
// entry of the directory, and the export.
func (r *run) eraseAccount(ctx context.Context, home region.Code, after []string) (steps.Result, error) {
	head, err := service.Read(ctx, r.Deps, (*store.ReadBatch).EventHead, home)
	if err != nil {
		return steps.Result{}, err
	}
	p := r.pass
	from := max(number(after), head.Trimmed)
	to := min(from+pageSize, head.Last)
	tx := r.Store.NewTx(home)
	if p.second {
		tx.EraseEvents(p.id, from, to)
	} else {
		tx.EraseEventsBut(events.UserDeleted, p.id, from, to) // which servers may not have read yet
	}
	last := to == head.Last
	var archive []core.OutboxRow
	if last {
		tx.EraseOwned(p.id)
		r.Directory.ReleaseIn(tx, p.publicID, p.id)
		if home == r.HomeOf(p.id) {
			archive = append(archive, tx.EraseExport(p.id, r.Now(), r.Outbox.FirstTry()))
		}
	}
	return steps.Result{Position: position(to), Last: last}, r.Commit(ctx, tx, archive...)
}
