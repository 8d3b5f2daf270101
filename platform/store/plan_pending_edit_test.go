package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

var _ = planned((*collector).collectPendingEdits,
	`INSERT INTO pending_edits (home, reference_id, reference_type, target_id, author_id, data, metadata, mentionees, attachments, tags,
		hashtags, created_at)
		SELECT HOME(c), ID(p, n, c), 'post', ID(c, c, c), ID(u, 1, 1), '{}', '{}', '[]', '[]', '{}', '{}', AT(n, 7)
		FROM (SELECT n, CASE WHEN n % 4 = 0 THEN 3 ELSE 1 + n % 2999 END AS c FROM generate_series(1, 6000) AS n) AS p`,
)

func (c *collector) collectPendingEdits() {
	var edits []content.PendingEdit
	var edit *content.PendingEdit
	c.reads(func(r *store.ReadBatch) { r.PendingEdits([]string{postID(4), postID(8)}, &edits) })
	c.reads(func(r *store.ReadBatch) { r.PendingEdit(postID(4), &edit) })
	both(6000*7, func(desc bool, at time.Time, after string) {
		l := content.PendingEditList{TargetID: communityID(bigCommunity), Desc: desc, After: at, AfterID: after, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.ListPendingEdits(l, &edits) })
	})
	row := content.PendingEdit{
		ReferenceID: postID(4), ReferenceType: "post", TargetID: communityID(3), AuthorID: userID(1), Data: []byte("{}"), Metadata: []byte("{}"),
		Mentionees: []byte("[]"), Attachments: []byte("[]"), CreatedAt: worldStart,
	}
	c.write(func(w *store.Tx) {
		w.UpsertPendingEdit(row)
		w.GuardPendingEdit(row, core.ErrConflict)
		w.DeletePendingEdits(postID(4))
	})
}
