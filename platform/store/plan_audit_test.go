package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Every home has 10,000 events of 100 actors and 20 operations, each with two targets and three details.
var _ = planned((*collector).collectAudit,
	`INSERT INTO audit_events (home, at, id, actor_kind, actor, key_id, roles, permission, operation, targets, request_id)
		SELECT HOME(n), AT(n, 1), ID(v, n, n), 'user', ID(u, n % 100, n), '', '{}', 'BAN_USER', 'S/M' || (n % 20)::text, '[]', ''
		FROM generate_series(1, 30000) AS n`,
	`INSERT INTO audit_targets (home, event_id, type, id, at)
		SELECT HOME(n), ID(v, n, n), 'user', ID(u, n % 1000, n), AT(n, 1) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO audit_details (home, event_id, part, type, id, subject_id, value)
		SELECT HOME(n), ID(v, n, n), 'origin', '', '', ID(u, n % 100, n), '{}' FROM generate_series(1, 30000) AS n`,
)

func (c *collector) collectAudit() {
	var events []network.AuditEvent
	var details []network.AuditDetail
	c.reads(func(r *store.ReadBatch) { r.AuditDetails([]string{worldID("v", 3, 3), worldID("v", 6, 6)}, &details) })
	both(30_000, func(desc bool, at time.Time, after string) {
		for _, l := range []network.AuditList{
			{},
			{Actor: userID(3)},
			{Operation: "S/M3"},
			{Actor: userID(3), Operation: "S/M3"},
			{Target: network.AuditTarget{Type: "user", ID: userID(3)}},
		} {
			l.Homes, l.From, l.To = []region.Code{region.US}, worldStart, worldStart.Add(40_000*time.Minute)
			l.Desc, l.After, l.AfterID, l.Limit = desc, at, after, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListAuditEvents(l, &events) })
		}
	})
	c.write(func(w *store.Tx) {
		e := network.AuditEvent{ID: region.NewID(region.US), At: worldStart}
		targets := []network.AuditTarget{{Type: network.AuditSettings, ID: "network"}, {Type: "role", ID: "r"}, {Type: "rule", ID: "r"}}
		for _, kind := range network.AuditedTypes() {
			targets = append(targets, network.AuditTarget{Type: kind, ID: worldID("u", 3, 3)})
		}
		w.InsertAuditEvent(e, targets, network.AuditSource{}, "")
		w.InsertAuditValues(e.ID, network.AuditBefore, targets)
	})
}
