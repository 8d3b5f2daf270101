// Package importer writes users, communities, memberships, posts, channels and messages of another platform into a network, as if they had
// been created through the API at their time. README.md describes the format.
//
// It is stateless: the id of a row in Plaza follows from its id in the file, and rows that exist are left as they are. An
// import that was interrupted is therefore continued by repeating it. Rows are written in batches, each of which is one
// transaction at each home concerned. Nothing is announced: there are no events, notifications, pushes and webhooks.
package importer

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Limits of a batch.
const (
	maxBatchRows  = 100
	maxBatchBytes = 4 << 20
)

// Options configure an import.
type Options struct {
	Store     *store.Store
	Directory *directory.Directory
	Region    region.Code // the home of users and communities whose line names none
	Now       func() time.Time
	NewID     func(home region.Code) string
	// Decode decodes the JSON body of a request of the API and checks it.
	Decode func(body []byte, request proto.Message) error
	// Reject is called with lines that cannot be imported. The import ends at the first one if it is nil.
	Reject func(reason *LineError, line []byte) error
	// Progress is called after every batch, unless it is nil.
	Progress func(Progress)
}

// Progress is how far an import is.
type Progress struct {
	File     string
	Line     int64 // all lines of the file up to this one are done
	Imported int64 // rows of all files
	Present  int64 // rows that existed already
	Rejected int64
}

// Importer imports files. It is not safe for concurrent use.
type Importer struct {
	Options
	progress Progress
	batch    []*row
	bytes    int
}

// New returns an importer.
func New(o Options) *Importer { return &Importer{Options: o} }

// add adds a row to the batch. It first writes the batch if the row is of another type or does not fit.
func (i *Importer) add(ctx context.Context, r *row) error {
	full := len(i.batch) >= maxBatchRows || i.bytes+len(r.raw) > maxBatchBytes
	if len(i.batch) > 0 && (full || i.batch[0].kind != r.kind) {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	i.batch, i.bytes = append(i.batch, r), i.bytes+len(r.raw)
	return nil
}

// flush writes the batch. Lines before one that cannot be imported are written also if the import ends there.
func (i *Importer) flush(ctx context.Context) error {
	if len(i.batch) == 0 {
		return nil
	}
	batch := distinct(i.batch)
	if err := i.find(ctx, batch); err != nil {
		return err
	}
	if err := i.batch[0].kind.check(i, ctx, batch); err != nil {
		return err
	}
	good, bad := i.split(batch)
	if err := i.write(ctx, i.batch[0].kind, good); err != nil {
		return err
	}
	i.done(len(i.batch)-len(batch), good)
	for _, r := range bad {
		if err := i.reject(r.number, r.raw, r.err); err != nil {
			return err
		}
	}
	i.progress.Line = i.batch[len(i.batch)-1].number
	i.batch, i.bytes = nil, 0
	i.report()
	return nil
}

// write stores the rows that do not exist, in one transaction at each home, one after the other.
func (i *Importer) write(ctx context.Context, k *kind, rows []*row) error {
	missing := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return r.present })
	if k.prepare != nil {
		if err := k.prepare(i, ctx, missing); err != nil {
			return err
		}
	}
	places, txs := byPlace(missing), map[region.Code]*store.Tx{}
	for _, id := range slices.Sorted(maps.Keys(places)) {
		home, err := i.Store.HomeOf(id)
		if err != nil {
			return err
		}
		if txs[home] == nil {
			txs[home] = i.Store.NewTx(home)
		}
		k.insert(i, txs[home], id, places[id])
	}
	for _, home := range region.All() {
		if tx := txs[home]; tx != nil {
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// distinct returns the rows without those whose id is that of an earlier one.
func distinct(rows []*row) []*row {
	var once []*row
	seen := map[string]bool{}
	for _, r := range rows {
		if key := r.key(); !seen[key] {
			seen[key] = true
			once = append(once, r)
		}
	}
	return once
}

// split returns the rows to write and those that cannot be imported. If the import ends at such a row, later ones are in
// neither.
func (i *Importer) split(rows []*row) (good, bad []*row) {
	for _, r := range rows {
		switch {
		case r.err == nil:
			good = append(good, r)
		case i.Reject == nil:
			return good, []*row{r}
		default:
			bad = append(bad, r)
		}
	}
	return good, bad
}

// done counts written rows, and those of the batch that repeat others.
func (i *Importer) done(repeated int, rows []*row) {
	i.progress.Present += int64(repeated)
	for _, r := range rows {
		if r.present {
			i.progress.Present++
		} else {
			i.progress.Imported++
		}
	}
	if len(rows) > 0 {
		i.progress.Line = rows[len(rows)-1].number
	}
}

// reject reports a line, or returns the error that ends the import.
func (i *Importer) reject(number int64, raw []byte, err error) error {
	bad := newLineError(i.progress.File, number, err)
	if i.Reject == nil {
		return bad
	}
	i.progress.Rejected++
	return i.Reject(bad, raw)
}

func (i *Importer) report() {
	if i.Progress != nil {
		i.Progress(i.progress)
	}
}
