package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

const (
	// MaxTrayActors is the maximum number of actors of an item, the latest ones.
	MaxTrayActors = 100
	// MaxTrayItems is the maximum number of items of a user: the oldest ones are deleted.
	MaxTrayItems = 500
	// trayActorsShown is the number of actors that are read of each item, the latest ones.
	trayActorsShown = 10
)

// TrayItem is a row of tray_items.
type TrayItem struct {
	UserID         string
	ID             string
	Kind           string
	TargetType     string // community, user, content or room
	TargetID       string // internal id
	TargetPublicID string
	ReferenceType  string // of the object that the item is about: post, story, comment, community, room or user
	ReferenceID    string
	ActionID       string // what happened last: a post, a comment, a reaction, a user, a request or an invitation
	ParentID       string // of a comment
	RootID         string
	CommentID      string // the latest comment
	Day            time.Time
	LastOccurredAt time.Time
	LastSeenAt     *time.Time
}

// Identify sets the id of the item, which has the home of the user's id, and the day.
func (i *TrayItem) Identify(at time.Time) {
	i.LastOccurredAt, i.Day = at, at.UTC().Truncate(24*time.Hour)
	sum := sha256.Sum256([]byte(i.UserID + "|" + i.Kind + "|" + i.ReferenceID + "|" + i.Day.Format(time.DateOnly)))
	i.ID = i.UserID[:2] + hex.EncodeToString(sum[:(region.IDLength-2)/2])
}

// TrayActor is a row of tray_actors.
type TrayActor struct {
	ItemID  string
	ActorID string
	ActedAt time.Time
}

// TrayRow is an item with the number of its actors, which is 0 if all of them were erased.
type TrayRow struct {
	TrayItem
	Actors int64
}

// TrayState tells when a user last looked at the tray and when something last happened; nil for never.
type TrayState struct {
	SeenAt     *time.Time
	OccurredAt *time.Time
}

var trayColumns = db.Columns[TrayItem]()

// trayBeyond is the id of the first item of a user after the latest $3. Of several ids, planners do not know that they are few.
const trayBeyond = `SELECT id FROM tray_items WHERE home = $1 AND user_id = $2 ORDER BY last_occurred_at DESC, id DESC OFFSET $3::bigint
	LIMIT 1`

var (
	sqlTrayPut = db.Register("tray.put", `WITH actor AS (INSERT INTO tray_actors (home, user_id, item_id, actor_id, acted_at)
			VALUES ($1, $2, $3, $16, $15::timestamptz) ON CONFLICT (home, user_id, item_id, actor_id)
			DO UPDATE SET acted_at = GREATEST(tray_actors.acted_at, excluded.acted_at) RETURNING actor_id)
		INSERT INTO tray_items (home, user_id, id, kind, target_type, target_id, target_public_id,
			reference_type, reference_id, action_id, parent_id, root_id, comment_id, day, last_occurred_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::timestamptz)
		ON CONFLICT (home, user_id, id) DO UPDATE SET
			action_id = CASE WHEN tray_items.last_occurred_at <= excluded.last_occurred_at THEN excluded.action_id ELSE tray_items.action_id END,
			comment_id = CASE WHEN tray_items.last_occurred_at <= excluded.last_occurred_at THEN excluded.comment_id ELSE tray_items.comment_id END,
			last_occurred_at = GREATEST(tray_items.last_occurred_at, excluded.last_occurred_at)`)
	sqlTrayPutActor = db.Register("tray.putActor", `INSERT INTO tray_actors (home, user_id, item_id, actor_id, acted_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (home, user_id, item_id, actor_id) DO UPDATE SET acted_at = GREATEST(tray_actors.acted_at,
		excluded.acted_at)`)
	sqlTrayTrimActors = db.Register("tray.trimActors", `DELETE FROM tray_actors WHERE home = $1 AND user_id = $2 AND item_id = $3 AND actor_id = ANY
		(ARRAY
		(SELECT actor_id FROM tray_actors WHERE home = $1 AND user_id = $2 AND item_id = $3 ORDER BY acted_at DESC, actor_id DESC OFFSET
		$4::bigint LIMIT 100))`)
	sqlTrayTrim = db.Register("tray.trim", `WITH beyond AS MATERIALIZED (`+trayBeyond+`),
			actors AS (DELETE FROM tray_actors WHERE home = $1 AND user_id = $2 AND item_id = (SELECT id FROM beyond) RETURNING actor_id)
		DELETE FROM tray_items WHERE home = $1 AND user_id = $2 AND id = (SELECT id FROM beyond)`)
	trayLists = core.OrderedBy(core.PlainOrders, "i.last_occurred_at", core.Source{
		Name: "tray.list", Columns: db.Prefixed("i", trayColumns) + `,
			(SELECT count(*) FROM tray_actors AS a WHERE a.home = $1 AND a.user_id = $2 AND a.item_id = i.id) AS actors`,
		From: `tray_items AS i WHERE i.home = $1 AND i.user_id = $2`, ID: "i.id", After: 3,
	}.List)
	trayActorsOfItems = core.ForEach("tray.actors", 2, "", `SELECT item_id, actor_id, acted_at FROM tray_actors
		WHERE home = $1 AND user_id = $2 AND item_id = {value} ORDER BY acted_at DESC, actor_id DESC LIMIT $3::bigint`, "")
	sqlTrayState = db.Register("tray.state", `SELECT (SELECT seen_at FROM tray_seen WHERE home = $1 AND user_id = $2) AS seen_at,
		(SELECT last_occurred_at FROM tray_items WHERE home = $1 AND user_id = $2
			ORDER BY last_occurred_at DESC, id DESC LIMIT 1) AS occurred_at`)
	sqlTraySee = db.Register("tray.see", `INSERT INTO tray_seen (home, user_id, seen_at) VALUES ($1, $2, $3)
		ON CONFLICT (home, user_id) DO UPDATE SET seen_at = GREATEST(tray_seen.seen_at, excluded.seen_at) RETURNING seen_at`)
	sqlTraySeeItem = db.Register("tray.seeItem", `UPDATE tray_items SET last_seen_at = GREATEST(COALESCE(last_seen_at, $4::timestamptz),
		$4::timestamptz)
		WHERE home = $1 AND user_id = $2 AND id = $3 RETURNING `+trayColumns)
	sqlTraySweep = db.Register("tray.sweep", `WITH gone AS (DELETE FROM tray_items WHERE home = $1 AND (last_occurred_at, user_id, id) IN
			(SELECT last_occurred_at, user_id, id FROM tray_items WHERE home = $1 AND last_occurred_at < $2::timestamptz
				ORDER BY last_occurred_at, user_id, id LIMIT 500) RETURNING user_id, id),
		actors AS (DELETE FROM tray_actors WHERE home = $1 AND (user_id, item_id) IN (SELECT user_id, id FROM gone) RETURNING actor_id)
		SELECT count(*) FROM gone`)
)

// TrayAct is what an actor has done: an item of a tray, or a further actor of one.
type TrayAct struct {
	Item    TrayItem // identified
	ActorID string
}

// PutTrayActs adds at most 100 acts to the tray of a user. It has no effect if it is repeated.
func (w Tx) PutTrayActs(userID string, acts []TrayAct) {
	slices.SortFunc(acts, func(a, b TrayAct) int {
		return cmp.Or(cmp.Compare(a.Item.ID, b.Item.ID), a.Item.LastOccurredAt.Compare(b.Item.LastOccurredAt), cmp.Compare(a.ActorID, b.ActorID))
	})
	for i, act := range acts {
		if i == len(acts)-1 || acts[i+1].Item.ID != act.Item.ID {
			w.putTrayItem(act)
			continue
		}
		w.Exec(sqlTrayPutActor, userID, act.Item.ID, act.ActorID, act.Item.LastOccurredAt)
	}
}

// putTrayItem adds an item with its latest actor to the tray of a user, and keeps both within their limits.
func (w Tx) putTrayItem(act TrayAct) {
	i := act.Item
	w.Exec(sqlTrayPut, i.UserID, i.ID, i.Kind, i.TargetType, i.TargetID, i.TargetPublicID, i.ReferenceType, i.ReferenceID,
		i.ActionID, i.ParentID, i.RootID, i.CommentID, i.Day, i.LastOccurredAt, act.ActorID)
	w.Exec(sqlTrayTrimActors, i.UserID, i.ID, MaxTrayActors)
	w.Exec(sqlTrayTrim, i.UserID, MaxTrayItems)
}

// TrayList is a page of the items of a user, by the time of their latest actions.
type TrayList struct {
	UserID string
	Desc   bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListTray reads up to Limit items in the order of the list.
func (r ReadBatch) ListTray(l TrayList, into *[]TrayRow) {
	r.AddAt(l.UserID, trayLists.In(l.Desc), db.Rows(into), l.UserID, l.After, l.AfterID, l.Limit)
}

// TrayActors reads the latest actors of items of a user.
func (r ReadBatch) TrayActors(userID string, itemIDs []string, into *[]TrayActor) {
	*into = nil
	core.ReadEachAt(r.ReadBatch, r.HomeOrNone(userID), itemIDs, trayActorsOfItems, into, userID, trayActorsShown)
}

// TrayState reads the state of the tray of a user.
func (r ReadBatch) TrayState(userID string, into *TrayState) {
	r.AddAt(userID, sqlTrayState, db.RowOrZero(into), userID)
}

// SeeTray records that a user has looked at the tray, and reads the latest time at which the user did.
func (w Tx) SeeTray(userID string, at time.Time, into *time.Time) {
	w.Query(sqlTraySee, db.Value(into), userID, at)
}

// SeeTrayItem records that a user has seen an item, and reads the item; nil if there is none.
func (w Tx) SeeTrayItem(userID, id string, at time.Time, into **TrayItem) {
	w.Query(sqlTraySeeItem, db.Row(into), userID, id, at)
}

// SweepTray deletes up to 500 items of a home whose latest action was before a time, and reads their number.
func (w Tx) SweepTray(before time.Time, deleted *int64) {
	w.Query(sqlTraySweep, db.Value(deleted), before)
}
