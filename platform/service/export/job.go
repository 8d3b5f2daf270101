package export

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

const (
	// pollInterval is the time between two searches for due exports.
	pollInterval = 2 * time.Second
	// pageSize is the number of rows that are read at a time.
	pageSize = 500
)

// Job returns the background job that continues the exports of a home, and deletes old archives.
func (s *Service) Job() jobs.Job {
	return jobs.New("exports", pollInterval, s.Log, s.Continue)
}

// Continue takes a due export of a home as far as it gets, and reports whether there was one.
func (s *Service) Continue(ctx context.Context, home region.Code) (more bool, err error) {
	due := func(reads *store.ReadBatch, state string, into **lifecycle.Export) {
		reads.DueExport(home, state, s.Now(), into)
	}
	return steps.Continue(ctx, s.Store, []string{lifecycle.ExportCollecting, lifecycle.ExportPacking, lifecycle.ExportReady}, due, s.advance)
}

func (s *Service) advance(ctx context.Context, e *lifecycle.Export) error {
	if e.State == lifecycle.ExportReady {
		return s.expire(ctx, *e)
	}
	job := &steps.Job{
		Progress: &e.Progress, Steps: s.steps(e), Now: s.Now,
		Count: func(kind string, rows int32) { e.Exported = steps.AddCount(e.Exported, kind, rows) },
		Save:  func(ctx context.Context) error { return s.save(ctx, e) },
	}
	job.Finish = func(ctx context.Context) error { return s.pack(ctx, e, job) }
	return job.Advance(ctx)
}

// expire deletes an export and its archive.
func (s *Service) expire(ctx context.Context, e lifecycle.Export) error {
	tx := s.Store.NewTx(s.HomeOf(e.ID))
	row := tx.DeleteExport(e, s.Now(), s.Outbox.FirstTry())
	return s.Commit(ctx, tx, row)
}

func (s *Service) save(ctx context.Context, e *lifecycle.Export) error {
	tx := s.Store.NewTx(s.HomeOf(e.ID))
	tx.UpdateExport(*e, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	e.Version++
	return nil
}

// steps returns all steps in their order. The first one deletes the objects of an earlier export.
func (s *Service) steps(e *lifecycle.Export) []steps.Step {
	home := s.HomeOf(e.ID)
	all := []steps.Step{{Kind: "cleaning", Home: home, Page: func(ctx context.Context, _ []string) (steps.Result, error) {
		return steps.Result{Last: true}, s.storage.DeleteAll(ctx, e.ID)
	}}}
	for _, table := range lifecycle.ExportTables {
		if table.AtHome {
			all = append(all, s.tableStep(e, table, home))
			continue
		}
		for _, home := range region.All() {
			all = append(all, s.tableStep(e, table, home))
		}
	}
	return all
}

// tableStep returns the step that reads a table in one home.
func (s *Service) tableStep(e *lifecycle.Export, table lifecycle.ExportTable, home region.Code) steps.Step {
	return steps.Step{Kind: table.Name, Home: home, Page: func(ctx context.Context, after []string) (steps.Result, error) {
		var rows []lifecycle.ExportRow
		reads := s.Store.NewReadBatch()
		reads.ExportPage(table, home, e.ID, after, pageSize, &rows)
		if err := reads.Run(ctx); err != nil || len(rows) == 0 {
			return steps.Result{Last: true}, err
		}
		n, err := s.writePart(ctx, e, table.Name, rows)
		return steps.Result{Position: rows[len(rows)-1].Key, Last: len(rows) < pageSize, Rows: n}, err
	}}
}

// writePart stores the rows of a page that belong to the user, one per line, and returns their number. The name of the
// part depends on the number of rows before it, so that a repeated page replaces its part.
func (s *Service) writePart(ctx context.Context, e *lifecycle.Export, kind string, rows []lifecycle.ExportRow) (n int32, err error) {
	var part bytes.Buffer
	for _, row := range rows {
		if row.JSON != "" {
			part.WriteString(row.JSON + "\n")
			n++
		}
	}
	if n > 0 {
		_, err = s.storage.Write(ctx, e.ID, fmt.Sprintf("%s%09d%s", partPrefix(kind), steps.Counts(e.Exported)[kind], partSuffix), &part)
	}
	return n, err
}

// Objects of an export, in addition to the archive.
const partSuffix = ".jsonl"

func partPrefix(kind string) string { return "rows-" + kind + "-" }
