package content

import (
	"hash/crc32"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// FlagState is the state of an item of the flag queue.
type FlagState string

// The states of items. An open or claimed item has flags.
const (
	FlagsOpen     FlagState = "open"
	FlagsClaimed  FlagState = "claimed"
	FlagsResolved FlagState = "resolved"
)

// FlagOutcome is how an item was resolved.
type FlagOutcome string

// The outcomes of items.
const (
	FlagsDismissed      FlagOutcome = "dismissed" // hidden content becomes visible
	FlagsContentRemoved FlagOutcome = "contentRemoved"
	FlagsUserBanned     FlagOutcome = "userBanned"
	FlagsWithdrawn      FlagOutcome = "withdrawn" // by all users who had flagged the target
)

// FlagAdministrator takes the place of the internal id of a moderator who is an administrator.
const FlagAdministrator = "administrator"

// FlagItem is a row of flag_items: the flags of one target as an item of the flag queue.
type FlagItem struct {
	TargetID     string
	TargetType   FlagTarget
	PlaceID      string // the community of a post, comment or story, the channel of a message; empty elsewhere
	State        FlagState
	Reason       string // the most frequent one
	FlagCount    int64
	OpenedAt     time.Time
	FlaggedAt    time.Time  // the latest flag
	ClaimedBy    string     // internal id
	ClaimedUntil *time.Time // until when others of the same authority cannot claim it
	Outcome      FlagOutcome
	ResolvedBy   string // internal id or FlagAdministrator; empty if no moderator resolved it
	ResolvedAt   *time.Time
	IsHidden     bool       // the content is hidden because of these flags
	EscalatedAt  *time.Time // when as many users had flagged the user as hide content; nil before, and for other targets
	Version      int64
}

// HasClaim reports whether a user has a claim that is still valid.
func (i FlagItem) HasClaim(now time.Time) bool {
	return i.State == FlagsClaimed && i.ClaimedUntil != nil && now.Before(*i.ClaimedUntil)
}

var flagItemColumns = db.Columns[FlagItem]()

// flagTree selects the ids of $2 and of what belongs to it: child posts, and comments with flags.
const flagTree = `(SELECT $2::text UNION ALL SELECT id FROM posts WHERE home = $1 AND parent_id = $2 AND NOT is_parent
	UNION ALL SELECT id FROM comments WHERE home = $1 AND reference_id = $2 AND is_flagged)`

var (
	sqlFlagItemByID = db.Register("flagItems.byID", `SELECT `+flagItemColumns+` FROM flag_items WHERE home = $1 AND target_id = $2`)
	sqlFlagItemOpen = db.Register("flagItems.open", `INSERT INTO flag_items (home, target_id, target_type, place_id, state, opened_at, flagged_at,
		shard)
		VALUES ($1, $2, $3, $4, 'open', $5, $5, $6::bigint) ON CONFLICT (home, target_id) DO UPDATE SET state = 'open',
		opened_at = excluded.opened_at,
			claimed_by = '', claimed_until = NULL, outcome = '', resolved_by = '', resolved_at = NULL, escalated_at = NULL
		WHERE flag_items.state = 'resolved'`)
	sqlFlagItemRecompute = db.Register("flagItems.recompute", `UPDATE flag_items SET flag_count = f.n, version = version + 1,
			flagged_at = COALESCE(f.latest, flag_items.flagged_at), reason = COALESCE(f.reason, flag_items.reason),
			state = CASE WHEN f.n = 0 THEN 'resolved' ELSE state END, outcome = CASE WHEN f.n = 0 THEN 'withdrawn' ELSE outcome END,
			resolved_at = CASE WHEN f.n = 0 THEN $3::timestamptz END, claimed_by = CASE WHEN f.n = 0 THEN '' ELSE claimed_by END,
			claimed_until = CASE WHEN f.n = 0 THEN NULL ELSE claimed_until END
		FROM (SELECT COALESCE(sum(g.n), 0)::bigint AS n, max(g.latest) AS latest, (array_agg(g.reason ORDER BY g.n DESC, g.earliest,
		g.reason))[1] AS reason
			FROM (SELECT reason, count(*) AS n, max(created_at) AS latest, min(created_at) AS earliest FROM flags
				WHERE home = $1 AND target_id = $2 GROUP BY reason) AS g) AS f
		WHERE home = $1 AND target_id = $2 AND state <> 'resolved'`)
	sqlFlagItemGuardUnchanged = db.Register("flagItems.guardUnchanged", `SELECT 1 / count(*) FROM flag_items WHERE home = $1 AND target_id = $2
		AND version = $3::bigint`)
	sqlFlagItemUpdate = db.Register("flagItems.update", `WITH changed AS (UPDATE flag_items SET state = $4, claimed_by = $5, claimed_until = $6,
		outcome = $7,
			resolved_by = $8, resolved_at = $9, version = version + 1
		WHERE home = $1 AND target_id = $2 AND version = $3::bigint RETURNING target_id) SELECT 1 / count(*) FROM changed`)
	sqlFlagItemResolve = db.Register("flagItems.resolve", `UPDATE flag_items SET state = 'resolved', outcome = $3, resolved_by = $4, resolved_at = $5,
			claimed_by = '', claimed_until = NULL, flag_count = 0, version = version + 1
		WHERE home = $1 AND target_id = $2 AND (state <> 'resolved' OR $6::boolean)`)
	sqlFlagItemsClose = db.Register("flagItems.close", `UPDATE flag_items SET state = 'resolved', outcome = 'contentRemoved',
		resolved_by = claimed_by,
			resolved_at = $3, claimed_by = '', claimed_until = NULL, is_hidden = false, version = version + 1
		WHERE home = $1 AND target_id IN `+flagTree+` AND state <> 'resolved'`)
	sqlFlagItemsPurge = db.Register("flagItems.purge", `DELETE FROM flag_items WHERE home = $1 AND target_id = ANY($2::text[])`)

	sqlFlagItemsCount = db.Register("flagItems.count", countFlagItems(`i.target_id = ANY($2::text[])`)).UpdatesUnlocked(core.SharedCounters,
		core.CountsOfItems)
	sqlFlagItemsCountTree = db.Register("flagItems.countTree", countFlagItems(`i.target_id IN `+flagTree)).UpdatesUnlocked(core.SharedCounters,
		core.CountsOfItems)

	sqlFlagsKeep = db.Register("clearedFlags.keep", `INSERT INTO cleared_flags (home, target_id, user_id, target_type, reason, detail, created_at, id)
		SELECT $1, target_id, user_id, target_type, reason, detail, created_at, id FROM flags WHERE home = $1 AND target_id = $2
			AND user_id NOT IN (SELECT user_id FROM cleared_flags WHERE home = $1 AND target_id = $2)`)
	sqlFlagsCleared = db.Register("clearedFlags.ofTarget", `SELECT `+flagColumns+` FROM cleared_flags WHERE home = $1 AND target_id = $2
		ORDER BY user_id LIMIT 100`)
	sqlClearedPurge = db.Register("clearedFlags.purge", `DELETE FROM cleared_flags WHERE home = $1 AND target_id = ANY($2::text[])`)
	flagsOfTargets  = core.ForEach("flags.ofTargets", 1, "", `SELECT `+flagColumns+` FROM flags WHERE home = $1 AND target_id = {value}
		ORDER BY user_id LIMIT $2::bigint`, "")
)

// countFlagItems adds $4 for each item with a condition to the counts of items by state: those of its place, and those
// of the home, whose reference is $3. The rows of the counts exist, see openFlagItem.
func countFlagItems(condition string) string {
	return `UPDATE counters SET n = counters.n + s.n FROM (
			SELECT CASE WHEN r.is_place THEN i.place_id ELSE $3::text END AS ref, 'flags-' || i.state AS kind, i.shard, $4::bigint * count(*) AS n
			FROM flag_items AS i CROSS JOIN (VALUES (true), (false)) AS r (is_place)
			WHERE i.home = $1 AND ` + condition + ` AND (i.place_id <> '' OR NOT r.is_place) GROUP BY 1, i.state, i.shard) AS s
		WHERE counters.home = $1 AND counters.ref = s.ref AND counters.kind = s.kind AND counters.shard = s.shard`
}

// FlagsCounter returns the kind of the count of items of a state. The reference is a community, a channel, or
// FlagsRef for all items of a home.
func FlagsCounter(state FlagState) core.CounterKind {
	return core.CounterKind("flags-" + string(state))
}

// FlagsRef is the reference of the counts of all items of a home.
func FlagsRef(home region.Code) string { return region.FixedID(home) }

// FlagItem reads the item of a target; nil if it never had flags.
func (r ReadBatch) FlagItem(targetID string, into **FlagItem) {
	r.AddAt(targetID, sqlFlagItemByID, db.Row(into), targetID)
}

// FlagsOf reads flags of targets, up to n of each, in no particular order.
func (r ReadBatch) FlagsOf(targetIDs []string, n int, into *[]Flag) {
	*into = nil
	core.ReadEach(r.ReadBatch, targetIDs, flagsOfTargets, into, n)
}

// ClearedFlags reads up to 100 flags of a target that moderators cleared.
func (r ReadBatch) ClearedFlags(targetID string, into *[]Flag) {
	r.AddAt(targetID, sqlFlagsCleared, db.Rows(into), targetID)
}

// SelectFlagItem reads an item after the preceding statements.
func (w Tx) SelectFlagItem(targetID string, into **FlagItem) {
	w.Query(sqlFlagItemByID, db.Row(into), targetID)
}

// recountFlagItem runs a change of an item between the statements that keep the counts of items correct, whatever
// the change is.
func (w Tx) recountFlagItem(targetID string, change func()) {
	w.recountFlagItems(sqlFlagItemsCount, []string{targetID}, change)
}

func (w Tx) recountFlagItems(count *db.Statement, targets any, change func()) {
	w.Exec(count, targets, FlagsRef(w.Home()), -1)
	change()
	w.Exec(count, targets, FlagsRef(w.Home()), +1)
}

// openFlagItem opens the item of a target with flags. The item of a target is always counted in the same shard.
func (w Tx) openFlagItem(targetID string, target FlagTarget, placeID string, at time.Time) {
	shard := int64(crc32.ChecksumIEEE([]byte(targetID)) % db.Shards)
	for _, state := range []FlagState{FlagsOpen, FlagsClaimed, FlagsResolved} {
		w.LockCounter(FlagsRef(w.Home()), FlagsCounter(state), shard)
		w.LockCounter(placeID, FlagsCounter(state), shard)
	}
	w.Exec(sqlFlagItemOpen, targetID, string(target), placeID, at, shard)
	w.Exec(sqlFlagItemRecompute, targetID, at)
}

// UpdateFlagItem stores the state, claim and outcome of an item. If the item has changed since it was read, the
// transaction fails with ErrConflict.
func (w Tx) UpdateFlagItem(i FlagItem) {
	w.recountFlagItem(i.TargetID, func() {
		w.Guard(sqlFlagItemUpdate, core.ErrConflict, i.TargetID, i.Version, string(i.State), i.ClaimedBy, i.ClaimedUntil, string(i.Outcome),
			i.ResolvedBy, i.ResolvedAt)
	})
}

// GuardFlagItem makes the transaction fail with ErrConflict if the item has changed since it was read.
func (w Tx) GuardFlagItem(i FlagItem) {
	w.Guard(sqlFlagItemGuardUnchanged, core.ErrConflict, i.TargetID, i.Version)
}

// FlagResolution is how the flags of a target are cleared.
type FlagResolution struct {
	Outcome FlagOutcome
	By      string // internal id or FlagAdministrator
	At      time.Time
	// Again resolves an item that is resolved already.
	Again bool
}

// ClearFlags deletes all flags of a target and resolves its item. A Recompute method must follow it.
func (w Tx) ClearFlags(targetID string, r FlagResolution) {
	w.recountFlagItem(targetID, func() {
		w.Exec(sqlFlagsKeep, targetID)
		w.Exec(sqlFlagDeleteAll, targetID)
		w.Exec(sqlFlagItemResolve, targetID, string(r.Outcome), r.By, r.At, r.Again)
	})
}

// CloseFlagItems resolves the items of content that is being deleted, of its child posts and of its comments.
func (w Tx) CloseFlagItems(targetID string, now time.Time) {
	w.recountFlagItems(sqlFlagItemsCountTree, targetID, func() { w.Exec(sqlFlagItemsClose, targetID, now) })
}

// PurgeFlags deletes the flags of targets with their items and everything that belongs to these.
func (w Tx) PurgeFlags(targetIDs []string) {
	w.recountFlagItems(sqlFlagItemsCount, targetIDs, func() { w.Exec(sqlFlagItemsPurge, targetIDs) })
	w.Exec(sqlFlagsPurge, targetIDs)
	w.Exec(sqlClearedPurge, targetIDs)
	w.Exec(sqlFlagNotesPurge, targetIDs)
}
