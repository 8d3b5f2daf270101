package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// 20,000 events of home us are in one community, 20,000 of one user in others, and the rest is spread; one in 100 is
// cancelled and one in 500 deleted. They begin an hour apart and last for a day. One event has 20,000 answers, and one user
// answered 20,000 events.
var _ = planned((*collector).collectEvents,
	eventRows("ev", "n", "ID(c, n, n)", "ID(u, n, n)"), eventRows("ew", "3", "ID(c, 3, 3)", "ID(u, n, n)"),
	eventRows("ex", "3", "ID(d, n, 3)", "ID(u, 3, 3)"),
	`INSERT INTO event_rsvps (home, event_id, user_id, status, responded_at, created_at)
		SELECT 'us', ID(ew, 3, 3), ID(u, n, n), `+rsvpStatusOfRow+`, AT(n, 3), AT(n, 3) FROM generate_series(1, 20000) AS n`,
	`INSERT INTO event_rsvps (home, event_id, user_id, status, responded_at, created_at)
		SELECT 'us', ID(ex, n, 3), ID(w, 3, 3), `+rsvpStatusOfRow+`, AT(n, 3), AT(n, 3) FROM generate_series(1, 20000) AS n`,
)

const rsvpStatusOfRow = `CASE n % 3 WHEN 0 THEN 'going' WHEN 1 THEN 'interested' ELSE 'not_going' END`

func eventRows(kind, home, origin, creator string) string {
	return `INSERT INTO planned_events (home, id, creator_id, creator_public_id, title, description, type, start_time, end_time, location,
		external_url,
			cover_image_file_id, origin_type, origin_id, origin_public_id, discussion_community_id, tags, metadata, created_at, updated_at,
			cancelled_at, deleted_at)
		SELECT HOME(` + home + `), ID(` + kind + `, n, ` + home + `), ` +
		creator + `, 'user', '', '', CASE WHEN n % 2 = 0 THEN 'virtual' ELSE 'in_person' END,
			AT(n, 3600), AT(n, 3600) + interval '1 day', '', '', '', 'community', ` + origin + `, '', '', ARRAY[]::text[], '{}', AT(n, 3), AT(n, 3),
			CASE WHEN n % 100 = 3 THEN AT(n, 3) END, CASE WHEN n % 500 = 0 THEN AT(n, 3) END FROM generate_series(1, 20000) AS n`
}

func (c *collector) collectEvents() {
	id := worldID("ew", 3, 3)
	var one *content.PlannedEvent
	var list []content.PlannedEvent
	var rsvps []content.EventRsvp
	c.reads(func(r *store.ReadBatch) { r.PlannedEvent(id, &one) })
	c.reads(func(r *store.ReadBatch) { r.PlannedEvents([]string{id, worldID("ex", 6, 3)}, &list) })
	c.reads(func(r *store.ReadBatch) { r.RsvpsOf([]string{id, worldID("ew", 6, 3)}, userID(6), &rsvps) })
	c.collectEventLists()
	both(20_000*3/2, func(desc bool, at time.Time, after string) {
		for _, l := range []content.RsvpList{
			{EventID: id},
			{EventID: id, Statuses: []string{content.RsvpGoing}},
			{UserID: worldID("w", 3, 3)},
			{UserID: worldID("w", 3, 3), Statuses: []string{content.RsvpGoing}},
		} {
			l.Desc, l.After, l.AfterID, l.Limit = desc, at, after, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListRsvps(l, &rsvps) })
		}
	})
	c.write(func(w *store.Tx) {
		made := content.PlannedEvent{
			ID: region.NewID(region.US), Type: "virtual", OriginType: "community", OriginID: communityID(3),
			Metadata: []byte("{}"), CreatedAt: worldStart,
		}
		w.InsertPlannedEvent(made)
		read := content.PlannedEvent{ID: id, UpdatedAt: worldStart.Add(9 * time.Second)}
		changed := content.PlannedEvent{
			ID: id, Type: "virtual", CoverImageFileID: worldID("f", 3, 3), Metadata: []byte("{}"),
			OriginID: communityID(3),
		}
		w.UpdatePlannedEvent(read, changed, userID(3), worldStart, core.ErrConflict)
		w.SelectPlannedEvent(id, &one)
		w.DeletePlannedEvent(worldID("ew", 9, 3), worldStart, core.ErrConflict)
		answer := content.EventRsvp{
			EventID: worldID("ew", 6, 3), UserID: userID(6), Status: content.RsvpGoing, RespondedAt: worldStart,
			CreatedAt: worldStart,
		}
		w.InsertRsvp(answer, core.ErrConflict, core.ErrConflict)
		changedAnswer := answer
		changedAnswer.Status = content.RsvpNotGoing
		w.UpdateRsvp(answer, changedAnswer, core.ErrConflict, core.ErrConflict)
	})
}

// collectEventLists reads events as of the middle of their times.
func (c *collector) collectEventLists() {
	var list []content.PlannedEvent
	now := worldStart.Add(10_000 * time.Hour)
	from, to := now.Add(-1000*time.Hour), now.Add(1000*time.Hour)
	lists := func(byCreated bool, seconds int, lists ...content.EventList) {
		both(seconds, func(desc bool, at time.Time, after string) {
			for _, l := range lists {
				for _, l.OriginID = range []string{"", communityID(3)} {
					for _, l.CreatorID = range []string{"", userID(3)} {
						l.Now, l.Desc, l.ByCreated, l.After, l.AfterID, l.Limit = now, desc, byCreated, at, after, pageRows
						c.reads(func(r *store.ReadBatch) { r.ListPlannedEvents(l, &list) })
					}
				}
			}
		})
	}
	lists(false, 20_000*3600/2, content.EventList{}, content.EventList{From: &from, To: &to},
		content.EventList{Status: content.EventCancelled},
		content.EventList{Status: content.EventLive})
	lists(true, 20_000*3/2, content.EventList{}, content.EventList{Status: content.EventCancelled})
}
