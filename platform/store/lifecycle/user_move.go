package lifecycle

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Route is the move of a user as servers follow it.
type Route = db.Route

// MoveState is the state of the move of a user.
type MoveState = db.MoveState

// The states of a move, see db.MoveState.
const (
	MoveCollecting = db.MoveCollecting
	MoveAnnounced  = db.MoveAnnounced
	MoveFrozen     = db.MoveFrozen
	MoveMoving     = db.MoveMoving
	MoveDone       = db.MoveDone
	MoveCancelled  = db.MoveCancelled
)

// The states of the route of a user who is erased, see db.RouteErasing.
const (
	RouteErasing = db.RouteErasing
	RouteErased  = db.RouteErased
)

// WithMover returns a context whose statements may concern moving ids: those of the job that moves them.
func WithMover(ctx context.Context) context.Context { return db.WithMover(ctx) }

// MoveCleaning is the state of a move whose rows are at the new home, while what remains at the old one is removed. The
// other states are those of db.MoveState.
const MoveCleaning db.MoveState = "cleaning"

// UserMove is a row of user_moves: the move of one user to another home and its progress.
type UserMove struct {
	ID       string // internal id of the user
	FromHome region.Code
	ToHome   region.Code
	State    db.MoveState
	Reason   string // why it was cancelled
	Progress
	Moved       []byte // JSON object: number of rows by kind
	IDs         int64  // that servers know
	RequestedAt time.Time
	UpdatedAt   time.Time
	FinishedAt  *time.Time
	// AllowInterruption is whether requests may be refused for longer than two seconds if the rows cannot move at once.
	AllowInterruption bool
}

var userMoveColumns = db.Columns[UserMove]()

var (
	sqlUserMoveByID = db.Register("userMoves.byID", `SELECT `+userMoveColumns+` FROM user_moves WHERE home = $1 AND id = $2`)
	sqlUserMovesDue = db.Register("userMoves.due", `SELECT `+userMoveColumns+` FROM user_moves /*@{FORCE_INDEX=user_moves_due}*/
		WHERE home = $1 AND state = $2 AND due_at <= $3::timestamptz ORDER BY due_at, id LIMIT 1`)
	sqlUserMovesCount = db.Register("userMoves.count", `SELECT count(*), min(requested_at) FROM user_moves WHERE home = $1 AND state = $2`)
	sqlUserMoveUpsert = db.Register("userMoves.upsert", `INSERT INTO user_moves (home, id, from_home, to_home, state, due_at, requested_at,
		updated_at, allow_interruption)
		VALUES ($1, $2, $3, $4, 'collecting', $5, $5, $5, $6)
		ON CONFLICT (home, id) DO UPDATE SET from_home = $3, to_home = $4, allow_interruption = $6, state = 'collecting', reason = '', step = '',
		position = '{}', moved = '{}', ids = 0,
		version = user_moves.version + 1, attempts = 0, due_at = $5, requested_at = $5, updated_at = $5, finished_at = NULL
		WHERE user_moves.state IN ('done', 'cancelled')`)
	sqlUserMoveUpdate = db.Register("userMoves.update", `WITH changed AS (UPDATE user_moves SET state = $4, reason = $5, step = $6,
		position = $7::text[],
		moved = $8::jsonb, ids = $9::bigint, version = version + 1, attempts = $10::bigint, due_at = $11::timestamptz, updated_at = $12,
		finished_at = $13
		WHERE home = $1 AND id = $2 AND version = $3::bigint RETURNING id) SELECT 1 / count(*) FROM changed`)

	sqlUserHomesAfter = db.Register("userHomes.after", `SELECT user_id, from_home, to_home, state, version, seq, ids FROM user_homes
		WHERE home = $1 AND seq > $2::bigint ORDER BY seq LIMIT $3::bigint`)
	sqlUserHomesIDs   = db.Register("userHomes.ids", `SELECT COALESCE(sum(ids), 0)::bigint FROM user_homes WHERE home = $1 AND user_id <> $2`)
	sqlUserHomeUpsert = db.Register("userHomes.upsert", `INSERT INTO user_homes (home, user_id, from_home, to_home, state, version, ids, seq)
		VALUES ($1, $2, $3, $4, $5, $6::bigint, $7::bigint, (SELECT COALESCE(max(seq), 0) + 1 FROM user_homes WHERE home = $1))
		ON CONFLICT (home, user_id) DO UPDATE SET from_home = excluded.from_home, to_home = excluded.to_home, state = excluded.state,
		version = excluded.version, ids = excluded.ids, seq = excluded.seq WHERE user_homes.version < excluded.version`)
	sqlUserHomeErase = db.Register("userHomes.erase", `INSERT INTO user_homes (home, user_id, from_home, to_home, state, version, ids, seq)
		VALUES ($1, $2, $3, $3, $4, $5::bigint, 0, (SELECT COALESCE(max(seq), 0) + 1 FROM user_homes WHERE home = $1))
		ON CONFLICT (home, user_id) DO UPDATE SET from_home = excluded.from_home, to_home = excluded.to_home, state = excluded.state,
		version = excluded.version, seq = excluded.seq WHERE user_homes.version < excluded.version`)

	sqlMovedIDInsert = db.Register("movedIDs.insert", `INSERT INTO moved_ids (home, user_id, id, kind) VALUES ($1, $2, $3, $4)
		ON CONFLICT (home, user_id, id) DO NOTHING`)
	sqlMovedIDsUnknown = db.Register("movedIDs.unknown", `SELECT i.id FROM unnest($3::text[]) AS i (id)
		WHERE NOT EXISTS (SELECT 1 FROM moved_ids AS m WHERE m.home = $1 AND m.user_id = $2 AND m.id = i.id)`)
	sqlMovedIDsAfter = db.Register("movedIDs.after", `SELECT id, kind FROM moved_ids WHERE home = $1 AND user_id = $2 AND id > $3 ORDER BY id
		LIMIT $4::bigint`)
	sqlMovedIDsCount = db.Register("movedIDs.count", `SELECT count(*) FROM moved_ids WHERE home = $1 AND user_id = $2`)
)

// MoveHome is the home that has the row of the move of a user: the one that the id contains, which never changes.
func MoveHome(userID string) region.Code {
	home, _ := region.HomeOf(userID) // the id of a row
	return home
}

// UserMove reads the last move of a user; nil if there is none.
func (r ReadBatch) UserMove(userID string, into **UserMove) {
	r.Add(MoveHome(userID), sqlUserMoveByID, db.Row(into), userID)
}

// DueUserMove reads the move of a home and state that has been due for the longest time; nil if none is due.
func (r ReadBatch) DueUserMove(home region.Code, state db.MoveState, now time.Time, into **UserMove) {
	r.Add(home, sqlUserMovesDue, db.Row(into), string(state), now)
}

// MoveCount is the number of moves in a state, and when the oldest one was requested.
type MoveCount struct {
	Moves  int64
	Oldest *time.Time
}

// CountUserMoves counts the moves of a home and state.
func (r ReadBatch) CountUserMoves(home region.Code, state db.MoveState, into *MoveCount) {
	r.Add(home, sqlUserMovesCount, db.RowOrZero(into), string(state))
}

// StartUserMove inserts a move, or restarts one that has ended, and reads the result. The job starts it at once.
func (w Tx) StartUserMove(m UserMove, now time.Time, into **UserMove) {
	w.Exec(sqlUserMoveUpsert, m.ID, string(m.FromHome), string(m.ToHome), now, m.AllowInterruption)
	w.Query(sqlUserMoveByID, db.Row(into), m.ID)
}

// UpdateUserMove stores the progress of a move. If another server has changed it since it was read, the transaction fails
// with ErrConflict.
func (w Tx) UpdateUserMove(m UserMove, now time.Time) {
	w.Guard(sqlUserMoveUpdate, core.ErrConflict, m.ID, m.Version, string(m.State), m.Reason, m.Step, core.EmptyIfNil(m.Position), m.Moved,
		m.IDs,
		m.Attempts,
		m.DueAt, now, m.FinishedAt)
}

// SetRoute stores where the rows of a user are at this home, unless a newer route is stored. ids is the number of moved
// ids.
func (w Tx) SetRoute(r db.Route, ids int64) {
	w.Exec(sqlUserHomeUpsert, r.UserID, string(r.Home), string(r.To), string(r.State), r.Version, ids)
}

// SetErasureRoute stores at this home that the rows of a user are erased where they are, unless a newer route is stored. The ids that
// have moved with the user remain.
func (w Tx) SetErasureRoute(userID string, at region.Code, state MoveState, version int64) {
	w.Exec(sqlUserHomeErase, userID, string(at), string(state), version)
}

// InsertMovedIDs adds ids that move with a user at this home.
func (w Tx) InsertMovedIDs(userID, kind string, ids []string) {
	for _, id := range ids {
		w.Exec(sqlMovedIDInsert, userID, id, kind)
	}
}

// MovedID is an id that moves with a user.
type MovedID struct{ ID, Kind string }

// MovedIDs reads up to limit ids that move with a user, in order.
func (r ReadBatch) MovedIDs(home region.Code, userID, after string, limit int, into *[]MovedID) {
	r.Add(home, sqlMovedIDsAfter, db.Rows(into), userID, after, limit)
}

// UnknownMovedIDs reads those of ids that are not known to move with a user.
func (r ReadBatch) UnknownMovedIDs(home region.Code, userID string, ids []string, into *[]string) {
	r.Add(home, sqlMovedIDsUnknown, db.Values(into), userID, ids)
}

// CountMovedIDs reads the number of ids that move with a user.
func (r ReadBatch) CountMovedIDs(home region.Code, userID string, into *int64) {
	r.Add(home, sqlMovedIDsCount, db.Value(into), userID)
}

// CountOtherMovedIDs reads the number of ids that moved with other users.
func (r ReadBatch) CountOtherMovedIDs(home region.Code, userID string, into *int64) {
	r.Add(home, sqlUserHomesIDs, db.Value(into), userID)
}

// changedRoute is a row of user_homes.
type changedRoute struct {
	UserID, FromHome, ToHome, State string
	Version, Seq, IDs               int64
}

// RouteReader keeps the routes of a store current.
type RouteReader struct {
	store *core.Store
	homes []region.Code // the local one first
	seen  map[region.Code]int64
}

// NewRouteReader returns a reader for a server of the region local. Until its first Read, the store refuses statements.
func NewRouteReader(s *core.Store, local region.Code) *RouteReader {
	s.Routes().Refreshed(time.Time{})
	r := &RouteReader{store: s, homes: []region.Code{local}, seen: map[region.Code]int64{}}
	for _, home := range region.All() {
		if home != local {
			r.homes = append(r.homes, home)
		}
	}
	return r
}

const (
	// routesPerPage and idsPerPage are how many rows are read at a time.
	routesPerPage = 500
	idsPerPage    = 20_000
)

// Read reads the routes that have changed, from the first home that answers. It must not be called concurrently.
func (r *RouteReader) Read(ctx context.Context) error {
	ctx = db.WithMover(ctx)
	var err error
	for _, home := range r.homes {
		start := time.Now()
		if err = r.readFrom(ctx, home); err == nil {
			r.store.Routes().Refreshed(start)
			return nil
		}
	}
	return err
}

func (r *RouteReader) readFrom(ctx context.Context, home region.Code) error {
	for {
		var changed []changedRoute
		bounded, cancel := context.WithTimeout(ctx, r.store.Limits().ReadRoutes)
		reads := r.store.NewReadBatch()
		reads.Add(home, sqlUserHomesAfter, db.Rows(&changed), r.seen[home], routesPerPage)
		err := reads.Run(bounded)
		cancel()
		if err != nil {
			return err
		}
		for _, c := range changed {
			if err := r.apply(ctx, home, c); err != nil {
				return err
			}
			r.seen[home] = c.Seq
		}
		if len(changed) < routesPerPage {
			return nil
		}
	}
}

// apply stores a changed route, with the ids that move.
func (r *RouteReader) apply(ctx context.Context, home region.Code, c changedRoute) error {
	known, _ := r.store.Routes().Route(c.UserID)
	if known.Version >= c.Version || known.Version == 0 && c.State == string(RouteErased) && c.IDs == 0 {
		return nil // known, or the end of an erasure before this server was started
	}
	var ids []string
	for after := ""; ; after = ids[len(ids)-1] {
		var page []MovedID
		reads := ReadBatch{r.store.NewReadBatch()}
		reads.MovedIDs(home, c.UserID, after, idsPerPage, &page)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		for _, id := range page {
			ids = append(ids, id.ID)
		}
		if len(page) < idsPerPage {
			break
		}
	}
	r.store.Routes().Put(db.Route{
		UserID: c.UserID, Home: region.Code(c.FromHome), To: region.Code(c.ToHome), State: db.MoveState(c.State), Version: c.Version,
	}, ids)
	return nil
}
