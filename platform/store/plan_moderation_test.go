package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Every home has 900 rules of each list, some of them expressions, and as many that are deleted.
var _ = planned((*collector).collectModeration,
	`INSERT INTO moderation_rules (home, list, id, regex, is_plain, is_match_exact_word, is_enabled, is_deleted, created_at, changed_at,
		origin)
		SELECT HOME(n), CASE WHEN n % 2 = 0 THEN 'allow' ELSE 'block' END, ID(m, n, 3), 'word-' || n::text, n % 10 > 0, false, true, n > 5400,
		AT(n, 3), AT(n, 3), 'us'
		FROM generate_series(1, 10800) AS n`,
	`INSERT INTO moderation_lists (home, version) VALUES ('us', 'a'), ('eu', 'b'), ('sg', 'c') ON CONFLICT (home) DO NOTHING`,
)

func (c *collector) collectModeration() {
	var state network.ModerationState
	var version string
	var rules []network.ModerationRule
	ids := []string{worldID("m", 6, 3), worldID("m", 12, 3)}
	c.reads(func(r *store.ReadBatch) { r.ModerationState("us", &state) })
	c.reads(func(r *store.ReadBatch) { r.EnabledModerationRules("us", &version, &rules) })
	c.reads(func(r *store.ReadBatch) { r.ModerationRules("us", "allow", ids, &rules) })
	both(5400/2, func(desc bool, at time.Time, after string) {
		l := network.ModerationRuleList{List: "allow", Desc: desc, After: at, ID: after, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.ListModerationRules("us", l, &rules) })
	})
	rule := network.ModerationRule{List: "allow", ID: ids[0], Regex: "x", CreatedAt: worldStart, ChangedAt: worldStart, Origin: "us"}
	c.write(func(w *store.Tx) {
		w.UpsertModerationRules([]network.ModerationRule{rule}, "d", worldStart)
		w.GuardModerationRules("allow", 100_000, 100_000, core.ErrConflict)
		w.SelectModerationRules("allow", ids, &rules)
	})
}
