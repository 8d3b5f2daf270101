package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestModerationRules reads the rules of one list, which may have the ids of rules of the other one, without deleted ones.
func TestModerationRules(t *testing.T) {
	s := openNew(t)
	ids := listIDs(region.EU)
	rule := func(list, id string, seconds int) network.ModerationRule {
		return network.ModerationRule{
			List: list, ID: id, Regex: "An " + list, IsEnabled: true, CreatedAt: later(seconds),
			ChangedAt: later(seconds), Origin: "eu",
		}
	}
	deleted, disabled := rule("block", region.NewID(region.EU), 2), rule("allow", region.NewID(region.EU), 2)
	deleted.IsDeleted, disabled.IsEnabled = true, false
	rules := []network.ModerationRule{deleted, disabled}
	for i, id := range ids {
		rules = append(rules, rule("block", id, listSeconds[i]), rule("allow", id, 2))
	}
	w := s.NewTx(region.EU)
	w.UpsertModerationRules(rules, "version", now)
	commit(t, w)
	var found, enabled []network.ModerationRule
	var version string
	r := s.NewReadBatch()
	r.ModerationRules(region.EU, "block", []string{ids[0], ids[1], deleted.ID, disabled.ID}, &found)
	r.EnabledModerationRules(region.EU, &version, &enabled)
	run(t, r)
	require.Len(t, found, 2)
	require.ElementsMatch(t, []string{"block " + ids[0], "block " + ids[1]},
		[]string{found[0].List + " " + found[0].ID, found[1].List + " " + found[1].ID})
	require.Len(t, enabled, 2*len(ids), "of both lists")
	require.Equal(t, "version", version)
	requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
		var rows []network.ModerationRule
		r := s.NewReadBatch()
		r.ListModerationRules(region.EU, network.ModerationRuleList{
			List: "block", Part: "AN B", Desc: desc, After: after.Time, ID: after.ID,
			Limit: 2,
		}, &rows)
		run(t, r)
		return positions(rows, func(m network.ModerationRule) (time.Time, string) { return m.CreatedAt, m.ID })
	})
	for limit, want := range map[int]error{3: refused, 4: nil} {
		w := s.NewTx(region.EU)
		w.GuardModerationRules("block", limit, 9, refused)
		require.ErrorIs(t, w.Commit(t.Context()), want, "%d rules", limit)
		w = s.NewTx(region.EU)
		w.GuardModerationRules("block", 9, limit, refused)
		require.ErrorIs(t, w.Commit(t.Context()), want, "%d expressions", limit)
	}
}
