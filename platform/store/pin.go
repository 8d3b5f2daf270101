package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// The placements of pins. Those of a community are the first two; the last is the network's.
const (
	PinDefault      = "default"
	PinAnnouncement = "announcement"
	PinGlobal       = "global"
)

// Pin is a row of pins: one post at one placement. It lives where the post does.
type Pin struct {
	TargetID      string // the community's id, or the network's for global pins
	Placement     string
	PostID        string
	CommunityID   string // that the post stands in
	PinnedBy      string // a user's public id, or an administrator's name
	PinnedByID    string // a user's internal id; empty for an administrator
	PinnedAt      time.Time
	PostCreatedAt time.Time
}

const pinColumns = `target_id, placement, post_id, community_id, pinned_by, pinned_by_id, pinned_at, post_created_at`

func scanPin(rows pgx.Rows) (Pin, error) {
	var p Pin
	err := rows.Scan(&p.TargetID, &p.Placement, &p.PostID, &p.CommunityID, &p.PinnedBy, &p.PinnedByID, &p.PinnedAt, &p.PostCreatedAt)
	return p, err
}

// PinTarget is a row of pin_targets: when the pins of a target last changed at one home.
type PinTarget struct {
	TargetID  string
	ChangedAt time.Time
}

func scanPinTarget(rows pgx.Rows) (PinTarget, error) {
	var t PinTarget
	err := rows.Scan(&t.TargetID, &t.ChangedAt)
	return t, err
}

// pinsOf selects from the pins of a target, at one placement or, where it is empty, at all.
const pinsOf = ` FROM pins WHERE home = $1 AND target_id = $2 AND ($3::text = '' OR placement = $3::text)`

var (
	sqlPinsOf            = stmt("pins.list", `SELECT `+pinColumns+pinsOf+` ORDER BY placement, post_id`)
	sqlPinnedPosts       = stmt("pins.posts", withComments(`SELECT `+postColumns+` FROM posts WHERE home = $1 AND id IN (SELECT post_id`+pinsOf+`)`, ""))
	sqlPinnedCommunities = stmt("pins.communities", `SELECT `+communityColumns+` FROM communities WHERE home = $1 AND id IN (SELECT community_id`+pinsOf+`)`)
	sqlPinTarget         = stmt("pins.target", `SELECT target_id, changed_at FROM pin_targets WHERE home = $1 AND target_id = $2`)

	sqlPinLimit = stmt("pins.guardLimit", `SELECT 1 / CASE WHEN (SELECT count(*) FROM pins
		WHERE home = $1 AND target_id = $2 AND placement = $3 AND post_id <> $4) < $5::bigint THEN 1 ELSE 0 END`)
	sqlPinThere  = stmt("pins.guardThere", `SELECT 1 / count(*) FROM pins WHERE home = $1 AND target_id = $2 AND placement = $3 AND post_id = $4`)
	sqlPinPublic = stmt("pins.guardPublic", `SELECT 1 / count(*) FROM communities WHERE home = $1 AND id = $2 AND is_public AND deleted_at IS NULL`)
	sqlPinInsert = stmt("pins.insert", `INSERT INTO pins (home, target_id, placement, post_id, community_id, pinned_by, pinned_by_id, pinned_at, post_created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (home, target_id, placement, post_id) DO NOTHING`)
	sqlPinTouch = stmt("pins.touch", `INSERT INTO pin_targets (home, target_id, changed_at) VALUES ($1, $2, $3)
		ON CONFLICT (home, target_id) DO UPDATE SET changed_at = excluded.changed_at WHERE pin_targets.changed_at < excluded.changed_at`)
	sqlPinDelete      = stmt("pins.delete", `DELETE FROM pins WHERE home = $1 AND target_id = $2 AND placement = $3 AND post_id = $4`)
	sqlPinDeleteAll   = stmt("pins.deleteAll", `DELETE`+pinsOf)
	sqlPinsOfPost     = stmt("pins.deleteOfPost", `DELETE FROM pins WHERE home = $1 AND post_id = $2`)
	sqlPinsOfDeletedC = stmt("pins.deleteOfCommunity", `DELETE FROM pins WHERE home = $1 AND community_id = $2`)
)

// Pins are the pins of a target with their posts and the communities of those. Their order is not defined.
type Pins struct {
	Targets     []PinTarget // one for each home where there ever was a pin
	Pins        []Pin
	Posts       []Post
	Communities []Community
}

// Pins reads the pins of a target at one home, at one placement or, where it is empty, at all, and adds them to into.
func (r *ReadBatch) Pins(home region.Code, targetID, placement string, into *Pins) {
	part := new(Pins)
	r.add(home, sqlPinTarget, scanAll(&part.Targets, scanPinTarget), targetID)
	r.add(home, sqlPinsOf, scanAll(&part.Pins, scanPin), targetID, placement)
	r.add(home, sqlPinnedPosts, scanAll(&part.Posts, scanPost), targetID, placement)
	r.add(home, sqlPinnedCommunities, scanAll(&part.Communities, scanCommunity), targetID, placement)
	r.Then(func() {
		into.Targets, into.Pins = append(into.Targets, part.Targets...), append(into.Pins, part.Pins...)
		into.Posts, into.Communities = append(into.Posts, part.Posts...), append(into.Communities, part.Communities...)
	})
}

// PinsAt reads which posts are pinned at a placement of a target, at one home.
func (r *ReadBatch) PinsAt(home region.Code, targetID, placement string, into *[]Pin) {
	part := new([]Pin)
	r.add(home, sqlPinsOf, scanAll(part, scanPin), targetID, placement)
	r.Then(func() { *into = append(*into, *part...) })
}

// GuardPinLimit refuses the transaction where limit other posts are pinned at the placement already.
func (w *Tx) GuardPinLimit(p Pin, limit int, refusal error) {
	w.guard(sqlPinLimit, refusal, p.TargetID, p.Placement, p.PostID, limit)
}

// GuardPublic refuses the transaction where the community is gone or not public.
func (w *Tx) GuardPublic(communityID string, refusal error) {
	w.guard(sqlPinPublic, refusal, communityID)
}

// InsertPin pins a post; one that is pinned there already stays as it is.
func (w *Tx) InsertPin(p Pin) {
	w.exec(sqlPinInsert, p.TargetID, p.Placement, p.PostID, p.CommunityID, p.PinnedBy, p.PinnedByID, p.PinnedAt, p.PostCreatedAt)
	w.exec(sqlPinTouch, p.TargetID, p.PinnedAt)
}

// DeletePin takes a post out of a placement; gone answers where it is not there.
func (w *Tx) DeletePin(p Pin, gone error, now time.Time) {
	w.guard(sqlPinThere, gone, p.TargetID, p.Placement, p.PostID)
	w.exec(sqlPinDelete, p.TargetID, p.Placement, p.PostID)
	w.exec(sqlPinTouch, p.TargetID, now)
}

// DeletePins takes every post out of one placement of a target or, where it is empty, of all.
func (w *Tx) DeletePins(targetID, placement string, now time.Time) {
	w.exec(sqlPinDeleteAll, targetID, placement)
	w.exec(sqlPinTouch, targetID, now)
}

// SelectPins reads the pins of a target, and when they changed, as they stand once the statements before it have run.
func (w *Tx) SelectPins(targetID, placement string, into *Pins) {
	w.query(sqlPinTarget, scanAll(&into.Targets, scanPinTarget), targetID)
	w.query(sqlPinsOf, scanAll(&into.Pins, scanPin), targetID, placement)
}
