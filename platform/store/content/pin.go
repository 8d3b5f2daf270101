package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The placements of pins: two in a community and one of the network.
const (
	PinDefault      = "default"
	PinAnnouncement = "announcement"
	PinGlobal       = "global"
)

// Pin is a row of pins: one post at one placement. It is stored in the post's home.
type Pin struct {
	TargetID      string // the community's id, or the network's for global pins
	Placement     string
	PostID        string
	CommunityID   string // the community of the post
	PinnedBy      string // a user's public id, or an administrator's name
	PinnedByID    string // a user's internal id; empty for an administrator
	PinnedAt      time.Time
	PostCreatedAt time.Time
}

var pinColumns = db.Columns[Pin]()

// PinTarget is a row of pin_targets: when the pins of a target last changed in one home.
type PinTarget struct {
	TargetID  string
	ChangedAt time.Time
}

// pinsOf selects from the pins of a target, at one placement or, if it is empty, at all.
const pinsOf = ` FROM pins WHERE home = $1 AND target_id = $2 AND ($3::text = '' OR placement = $3::text)`

var (
	sqlPins        = db.Register("pins.list", `SELECT `+pinColumns+pinsOf+` ORDER BY placement, post_id`)
	sqlPinnedPosts = db.Register("pins.posts",
		withComments(`SELECT `+postColumns+` FROM posts WHERE home = $1 AND id IN (SELECT post_id`+pinsOf+`)`, ""))
	sqlPinnedCommunities = db.Register("pins.communities", `SELECT `+communities.CommunityColumns+` FROM communities WHERE home = $1 AND id IN (SELECT
		community_id`+pinsOf+`)`)
	sqlPinTarget = db.Register("pins.target", `SELECT target_id, changed_at FROM pin_targets WHERE home = $1 AND target_id = $2`)

	sqlPinGuardLimit = db.Register("pins.guardLimit", `SELECT 1 / CASE WHEN (SELECT count(*) FROM pins
		WHERE home = $1 AND target_id = $2 AND placement = $3 AND post_id <> $4) < $5::bigint THEN 1 ELSE 0 END`)
	sqlPinGuard = db.Register("pins.guardThere", `SELECT 1 / count(*) FROM pins WHERE home = $1 AND target_id = $2 AND placement = $3
		AND post_id = $4`)
	sqlCommunityGuardPublic = db.Register("pins.guardPublic", `SELECT 1 / count(*) FROM communities WHERE home = $1 AND id = $2 AND is_public
		AND deleted_at IS NULL`)
	sqlPinInsert = db.Register("pins.insert", `INSERT INTO pins (home, target_id, placement, post_id, community_id, pinned_by, pinned_by_id,
		pinned_at, post_created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (home, target_id, placement, post_id) DO NOTHING`)
	sqlPinTargetUpsert = db.Register("pins.touch", `INSERT INTO pin_targets (home, target_id, changed_at) VALUES ($1, $2, $3)
		ON CONFLICT (home, target_id) DO UPDATE SET changed_at = excluded.changed_at WHERE pin_targets.changed_at < excluded.changed_at`)
	sqlPinDelete        = db.Register("pins.delete", `DELETE FROM pins WHERE home = $1 AND target_id = $2 AND placement = $3 AND post_id = $4`)
	sqlPinDeleteAll     = db.Register("pins.deleteAll", `DELETE`+pinsOf)
	sqlPinsDeleteOfPost = db.Register("pins.deleteOfPost", `DELETE FROM pins WHERE home = $1 AND post_id = $2`)
)

// Pins are the pins of a target with their posts and communities, in no particular order.
type Pins struct {
	Targets     []PinTarget // one for each home that has ever had a pin
	Pins        []Pin
	Posts       []Post
	Communities []communities.Community
}

// Pins reads the pins of a target in one home and appends them to into. An empty placement means all.
func (r ReadBatch) Pins(home region.Code, targetID, placement string, into *Pins) {
	part := new(Pins)
	r.Add(home, sqlPinTarget, db.Rows(&part.Targets), targetID)
	r.Add(home, sqlPins, db.Rows(&part.Pins), targetID, placement)
	r.Add(home, sqlPinnedPosts, db.Rows(&part.Posts), targetID, placement)
	r.Add(home, sqlPinnedCommunities, db.Rows(&part.Communities), targetID, placement)
	r.Then(func() {
		into.Targets, into.Pins = append(into.Targets, part.Targets...), append(into.Pins, part.Pins...)
		into.Posts, into.Communities = append(into.Posts, part.Posts...), append(into.Communities, part.Communities...)
	})
}

// PinsAt reads the pins at a placement of a target in one home.
func (r ReadBatch) PinsAt(home region.Code, targetID, placement string, into *[]Pin) {
	core.AppendRows(r.ReadBatch, home, sqlPins, into, targetID, placement)
}

// GuardPinLimit makes the transaction fail with refusal if limit other posts are pinned at the placement.
func (w Tx) GuardPinLimit(p Pin, limit int, refusal error) {
	w.Guard(sqlPinGuardLimit, refusal, p.TargetID, p.Placement, p.PostID, limit)
}

// GuardPublicCommunity makes the transaction fail with refusal if the community is deleted or not public.
func (w Tx) GuardPublicCommunity(communityID string, refusal error) {
	w.Guard(sqlCommunityGuardPublic, refusal, communityID)
}

// InsertPin pins a post unless it is pinned already.
func (w Tx) InsertPin(p Pin) {
	w.Exec(sqlPinInsert, p.TargetID, p.Placement, p.PostID, p.CommunityID, p.PinnedBy, p.PinnedByID, p.PinnedAt, p.PostCreatedAt)
	w.Exec(sqlPinTargetUpsert, p.TargetID, p.PinnedAt)
}

// DeletePin unpins a post. The transaction fails with gone if it is not pinned.
func (w Tx) DeletePin(p Pin, gone error, now time.Time) {
	w.Guard(sqlPinGuard, gone, p.TargetID, p.Placement, p.PostID)
	w.Exec(sqlPinDelete, p.TargetID, p.Placement, p.PostID)
	w.Exec(sqlPinTargetUpsert, p.TargetID, now)
}

// DeletePins unpins all posts at a placement of a target. An empty placement means all.
func (w Tx) DeletePins(targetID, placement string, now time.Time) {
	w.Exec(sqlPinDeleteAll, targetID, placement)
	w.Exec(sqlPinTargetUpsert, targetID, now)
}

// SelectPins reads the pins of a target after the preceding statements.
func (w Tx) SelectPins(targetID, placement string, into *Pins) {
	w.Query(sqlPinTarget, db.Rows(&into.Targets), targetID)
	w.Query(sqlPins, db.Rows(&into.Pins), targetID, placement)
}
