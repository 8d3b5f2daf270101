package erasure

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// step is the work on one kind of rows in one home.
type step struct {
	kind string
	home region.Code
	page func(ctx context.Context, p pass, after []string) (pageResult, error)
}

// name identifies the step in the row of an erasure.
func (s step) name() string { return s.kind + " " + s.home.String() }

// pass is one of the two passes over the rows of a user.
type pass struct {
	subject
	second bool
}

func (s *Service) pass(e store.Erasure) pass {
	return pass{subject{e.ID, e.PublicID}, e.State == store.ErasureVerifying}
}

// pageResult is the result of processing a page of rows.
type pageResult struct {
	position []string // key of the last row
	last     bool     // whether the page was the last one of the step
	erased   int32    // number of rows removed or emptied
}

// indexOf returns the index of a step, 0 for an empty or unknown name, and len(all) for nameEnd.
func indexOf(all []step, name string) int {
	if name == nameEnd {
		return len(all)
	}
	return max(0, slices.IndexFunc(all, func(s step) bool { return s.name() == name }))
}

// nameEnd is the name of the step after the last one.
const nameEnd = "outboxes"

func nameAfter(all []step, i int) string {
	if i+1 == len(all) {
		return nameEnd
	}
	return all[i+1].name()
}

// tableWork is the work on one table.
type tableWork struct {
	walk *store.ErasureWalk
	// prepare makes the change that other rows depend on before a row is erased, such as ending a membership, which is
	// counted. It must succeed if it was made already. It may be nil.
	prepare func(ctx context.Context, u subject, key []string) error
	// late is whether the row is erased by the second pass only, because its end is delivered to other homes by the
	// outbox, and comparing versions there requires the row.
	late bool
}

// steps returns all steps in their order: the contents and relations of the user first, and the rows in the user's home
// last, because preparing others changes them.
func (s *Service) steps() []step {
	works := []tableWork{
		{walk: store.ErasePosts, prepare: s.deletePost},
		{walk: store.EraseStories, prepare: s.deleteStory},
		{walk: store.EraseComments, prepare: s.deleteComment},
		{walk: store.EraseMessages, prepare: s.deleteMessage},
		{walk: store.EraseScheduledPosts},
		{walk: store.EraseReactions, prepare: s.deleteReaction},
		{walk: store.EraseFiles, prepare: s.deleteFile},
		{walk: store.EraseMembers, prepare: s.endMembership},
		{walk: store.EraseChannelUsers, prepare: s.leaveChannel},
		{walk: store.EraseFollows, prepare: s.endFollow, late: true},
		{walk: store.EraseFollowers, late: true},
		{walk: store.EraseBlocks, prepare: s.endBlock, late: true},
		{walk: store.EraseBlockedBy, late: true},
	}
	for _, walk := range store.EraseRows {
		works = append(works, tableWork{walk: walk})
	}
	var all []step
	for _, work := range works {
		for _, home := range region.All() {
			all = append(all, s.tableStep(work, home))
		}
	}
	for _, home := range region.All() {
		all = append(all, step{"events", home, s.eraseEvents(home)}, step{"account", home, s.eraseAccount(home)})
	}
	return all
}

// tableStep returns the step that processes a table in one home.
func (s *Service) tableStep(work tableWork, home region.Code) step {
	return step{work.walk.Table, home, func(ctx context.Context, p pass, after []string) (pageResult, error) {
		var rows []store.ErasureRow
		reads := s.Store.NewReadBatch()
		reads.ErasurePage(work.walk, home, p.id, after, pageSize, &rows)
		if err := reads.Run(ctx); err != nil || len(rows) == 0 {
			return pageResult{last: true}, err
		}
		n, err := s.erase(ctx, work, p, home, rows)
		return pageResult{position: rows[len(rows)-1].Key, last: len(rows) < pageSize, erased: n}, err
	}}
}

// erase erases the rows of a page that concern the user, and returns their number.
func (s *Service) erase(ctx context.Context, work tableWork, p pass, home region.Code, rows []store.ErasureRow) (n int32, err error) {
	tx := s.Store.NewTx(home)
	for _, row := range rows {
		if row.Own {
			if err := prepare(ctx, work, p.subject, row.Key); err != nil {
				return 0, err
			}
		}
		erase := row.Own && (!work.late || p.second)
		if erase {
			tx.EraseRow(work.walk, p.id, row.Key)
		}
		if row.JSON != "" {
			tx.ReplaceJSON(work.walk, row, anonymize([]byte(row.JSON), p.subject))
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

func prepare(ctx context.Context, work tableWork, u subject, key []string) error {
	if work.prepare == nil {
		return nil
	}
	if err := work.prepare(ctx, u, key); err != nil && !refused(err) {
		return err
	}
	return nil
}

// eraseAccount deletes the rows of a home that concern only the user, and the entries of the directory.
func (s *Service) eraseAccount(home region.Code) func(context.Context, pass, []string) (pageResult, error) {
	return func(ctx context.Context, p pass, _ []string) (pageResult, error) {
		tx := s.Store.NewTx(home)
		tx.EraseOwned(p.id)
		if err := tx.Commit(ctx); err != nil {
			return pageResult{}, err
		}
		return pageResult{last: true}, s.Directory.Release(ctx, p.publicID, p.id)
	}
}

// eraseEvents deletes the events about the user from the log of a home.
func (s *Service) eraseEvents(home region.Code) func(context.Context, pass, []string) (pageResult, error) {
	return func(ctx context.Context, p pass, after []string) (pageResult, error) {
		var head store.EventHead
		reads := s.Store.NewReadBatch()
		reads.EventHead(home, &head)
		if err := reads.Run(ctx); err != nil {
			return pageResult{}, err
		}
		from := max(number(after), head.Trimmed)
		to := min(from+pageSize, head.Last)
		tx := s.Store.NewTx(home)
		tx.EraseEvents(p.id, from, to)
		return pageResult{position: position(to), last: to == head.Last}, tx.Commit(ctx)
	}
}
