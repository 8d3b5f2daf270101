package erasure

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
)

// pass is one of the two passes over the rows of a user.
type pass struct {
	subject
	second bool
}

func (s *Service) pass(e store.Erasure) pass {
	return pass{subject{e.ID, e.PublicID}, e.State == store.ErasureVerifying}
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
func (s *Service) steps(p pass) []steps.Step {
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
	var all []steps.Step
	for _, work := range works {
		for _, home := range region.All() {
			all = append(all, s.tableStep(work, p, home))
		}
	}
	for _, home := range region.All() {
		all = append(all,
			steps.Step{Kind: "events", Home: home, Page: s.eraseEvents(p, home)}, steps.Step{Kind: "account", Home: home, Page: s.eraseAccount(p, home)})
	}
	return all
}

// tableStep returns the step that processes a table in one home.
func (s *Service) tableStep(work tableWork, p pass, home region.Code) steps.Step {
	return steps.Step{Kind: work.walk.Table, Home: home, Page: func(ctx context.Context, after []string) (steps.Result, error) {
		var rows []store.ErasureRow
		reads := s.Store.NewReadBatch()
		reads.ErasurePage(work.walk, home, p.id, after, pageSize, &rows)
		if err := reads.Run(ctx); err != nil || len(rows) == 0 {
			return steps.Result{Last: true}, err
		}
		n, err := s.erase(ctx, work, p, home, rows)
		return steps.Result{Position: rows[len(rows)-1].Key, Last: len(rows) < pageSize, Rows: n}, err
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

// eraseAccount deletes the rows of a home that concern only the user, the entries of the directory, and the export.
func (s *Service) eraseAccount(p pass, home region.Code) func(context.Context, []string) (steps.Result, error) {
	return func(ctx context.Context, _ []string) (steps.Result, error) {
		tx := s.Store.NewTx(home)
		tx.EraseOwned(p.id)
		var archive []store.OutboxRow
		if home == s.HomeOf(p.id) {
			archive = append(archive, tx.EraseExport(p.id, s.Now(), s.Outbox.FirstTry()))
		}
		if err := s.Commit(ctx, tx, archive...); err != nil {
			return steps.Result{}, err
		}
		return steps.Result{Last: true}, s.Directory.Release(ctx, p.publicID, p.id)
	}
}

// eraseEvents deletes the events about the user from the log of a home.
func (s *Service) eraseEvents(p pass, home region.Code) func(context.Context, []string) (steps.Result, error) {
	return func(ctx context.Context, after []string) (steps.Result, error) {
		var head store.EventHead
		reads := s.Store.NewReadBatch()
		reads.EventHead(home, &head)
		if err := reads.Run(ctx); err != nil {
			return steps.Result{}, err
		}
		from := max(number(after), head.Trimmed)
		to := min(from+pageSize, head.Last)
		tx := s.Store.NewTx(home)
		if p.second {
			tx.EraseEvents(p.id, from, to)
		} else {
			tx.EraseEventsBut(events.UserDeleted, p.id, from, to) // which servers may not have read yet
		}
		return steps.Result{Position: position(to), Last: to == head.Last}, tx.Commit(ctx)
	}
}
