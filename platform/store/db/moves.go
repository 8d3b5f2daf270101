package db

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// MoveState is the state of the move of a user to another home.
type MoveState string

// The states of a move, in order. Collecting and cancelled moves have no effect on requests.
const (
	MoveCollecting MoveState = "collecting" // the ids are being collected
	MoveFrozen     MoveState = "frozen"     // the rows are at the old home and must not be written
	MoveMoving     MoveState = "moving"     // the rows are at either home and must be neither read nor written
	MoveDone       MoveState = "done"       // the rows are at the new home
	MoveCancelled  MoveState = "cancelled"
)

// Route is the move of a user as servers follow it. Home is where the rows are before the state MoveDone, and To where
// they are from then on.
type Route struct {
	UserID  string
	Home    region.Code
	To      region.Code
	State   MoveState
	Version int64
}

// current returns the home of the rows.
func (r *Route) current() region.Code {
	if r.State == MoveDone {
		return r.To
	}
	return r.Home
}

// moveRetryAfter is when a request that concerns a moving id may succeed.
const moveRetryAfter = 5 * time.Second

// errMoving is the error of statements that concern an id whose rows are moving.
var errMoving = func() error {
	e := fail.Unavailable("the user is being moved to another home region", errors.New("the rows of an id are moving"))
	e.RetryAfter = moveRetryAfter
	return e
}()

// errRoutesStale is the cause of the error of a server that does not know the current routes.
var errRoutesStale = errors.New("the routes of moved ids were not read for too long")

// Routes are the homes of moved ids, as one server knows them. All other ids are at the home that they contain. They are
// safe for concurrent use.
type Routes struct {
	now   func() time.Time
	lease time.Duration
	// The number of users whose rows were moved or are moving, and of those whose rows must not be written.
	used, held atomic.Int64
	followed   atomic.Pointer[time.Time] // when the routes were last complete; nil if they are not followed

	mu     sync.RWMutex
	users  map[string]*Route
	owners map[rawID]*Route
	moved  map[[2]region.Code]int64
}

func newRoutes(lease time.Duration) *Routes {
	return &Routes{now: time.Now, lease: lease, users: map[string]*Route{}, owners: map[rawID]*Route{}, moved: map[[2]region.Code]int64{}}
}

// SetClock replaces the clock of the lease, for tests.
func (r *Routes) SetClock(now func() time.Time) { r.now = now }

// Route returns what is known about the move of a user.
func (r *Routes) Route(userID string) (Route, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	route := r.users[userID]
	if route == nil {
		return Route{}, false
	}
	return *route, true
}

// Put stores a route unless a newer one is known. ids are all ids that move with the user, without the user's own id.
func (r *Routes) Put(route Route, ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stored := r.users[route.UserID]
	if stored != nil && stored.Version >= route.Version {
		return
	}
	if stored == nil {
		stored = &Route{}
		r.users[route.UserID] = stored
	}
	*stored = route
	for _, id := range append(ids, route.UserID) {
		if raw, ok := rawOf(id); ok {
			r.owners[raw] = stored
		}
	}
	var held int64
	clear(r.moved)
	for _, route := range r.users {
		if route.State == MoveFrozen || route.State == MoveMoving {
			held++
		}
		if native, err := region.HomeOf(route.UserID); err == nil && native != route.current() {
			r.moved[[2]region.Code{native, route.current()}]++
		}
	}
	r.held.Store(held)
	r.used.Store(int64(len(r.users)))
}

// Left reports whether the rows of any user have moved, or are moving, from one home to another.
func (r *Routes) Left(from, to region.Code) bool {
	if r.used.Load() == 0 {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, route := range r.users {
		if route.Home == from && route.To == to {
			return true
		}
	}
	return false
}

// Moved returns the number of users whose ids contain one home and whose rows are at another one.
func (r *Routes) Moved(from, to region.Code) int64 {
	if r.used.Load() == 0 {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.moved[[2]region.Code{from, to}]
}

// Refreshed records that the routes were complete at a time.
func (r *Routes) Refreshed(at time.Time) { r.followed.Store(&at) }

// homeOf returns the home of a valid id, given the home that it contains.
func (r *Routes) homeOf(id string, native region.Code) region.Code {
	if r.used.Load() == 0 {
		return native
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if route := r.route(id); route != nil {
		return route.current()
	}
	return native
}

// InTransit reports whether the rows of an id may be at either home.
func (r *Routes) InTransit(id string) bool {
	return r.heldState([]any{id}, false) == MoveMoving
}

// route returns the route of an id, or nil.
func (r *Routes) route(id string) *Route {
	raw, ok := rawOf(id)
	if !ok {
		return nil
	}
	return r.owners[raw]
}

// rawID is an id in half of the bytes of its text.
type rawID [region.IDLength / 2]byte

func rawOf(id string) (raw rawID, ok bool) {
	if len(id) != region.IDLength {
		return raw, false
	}
	_, err := hex.Decode(raw[:], []byte(id))
	return raw, err == nil
}

// requireFresh returns an error if the routes are followed but were not complete within the lease. A clock that was
// set forward or a suspended machine ends the lease as well.
func (r *Routes) requireFresh() error {
	at := r.followed.Load()
	if at == nil {
		return nil
	}
	now := r.now()
	if now.Sub(*at) > r.lease || now.Round(0).Sub(at.Round(0)) > r.lease {
		return fail.Unavailable("the server does not know where moved users are", errRoutesStale)
	}
	return nil
}

// held returns the state of the first id among args that must not be written, and "" if there is none. all includes lists
// of several ids.
func (r *Routes) heldState(args []any, all bool) MoveState {
	if r.held.Load() == 0 {
		return ""
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	worst := MoveState("")
	check := func(id string) {
		route := r.route(id)
		switch {
		case route == nil:
		case route.State == MoveMoving, route.State == MoveFrozen && worst == "":
			worst = route.State
		}
	}
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			check(v)
		case []string:
			if all || len(v) == 1 {
				for _, id := range v {
					check(id)
				}
			}
		}
	}
	return worst
}

// Other is an argument with an id that does not say where the rows of a statement are, such as that of a page's position: the
// statement runs while the rows with this id are moving.
type Other string

// Others are several ids like Other, such as those of the users to look for in the rows of another one.
type Others []string

type moverKey struct{}

// WithMover returns a context whose statements may concern moving ids: those of the job that moves them.
func WithMover(ctx context.Context) context.Context { return context.WithValue(ctx, moverKey{}, true) }

func isMover(ctx context.Context) bool { return ctx.Value(moverKey{}) != nil }

// requireWritable returns an error if the transaction concerns an id whose rows are moving.
func (t *Tx) requireWritable(ctx context.Context) error {
	for i := range t.steps {
		if err := t.db.routes.requireWritable(ctx, t.steps[i].args[1:]); err != nil {
			return err
		}
	}
	return nil
}

// requireWritable returns an error if the arguments of a statement contain an id whose rows must not be written.
func (r *Routes) requireWritable(ctx context.Context, args []any) error {
	if isMover(ctx) {
		return nil
	}
	if err := r.requireFresh(); err != nil {
		return err
	}
	if r.heldState(args, true) != "" {
		return errMoving
	}
	return nil
}

// requireReadable returns an error if the batch concerns an id whose rows may be at either home, alone or in a list: a
// list without some of its rows would look complete. A best-effort batch leaves out statements about one such id, and
// reads lists of several ids without its rows. It records the home as one whose rows are missing.
func (b *Batch) requireReadable(ctx context.Context) error {
	if isMover(ctx) {
		return nil
	}
	routes := b.db.routes
	if err := routes.requireFresh(); err != nil {
		return err
	}
	if routes.held.Load() == 0 {
		return nil
	}
	for home, queries := range b.queries {
		if !slices.ContainsFunc(queries, func(q query) bool { return routes.heldState(q.args[1:], true) == MoveMoving }) {
			continue
		}
		if !b.bestEffort {
			return errMoving
		}
		region.Miss(ctx, home)
		b.queries[home] = slices.DeleteFunc(slices.Clone(queries), func(q query) bool { return routes.heldState(q.args[1:], false) == MoveMoving })
		if len(b.queries[home]) == 0 {
			delete(b.queries, home)
		}
	}
	return nil
}

// Routes returns the homes of moved ids.
func (d *DB) Routes() *Routes { return d.routes }

// HomeOf returns the home in which the row with an id is stored.
func (d *DB) HomeOf(id string) (region.Code, error) {
	home, err := region.HomeOf(id)
	if err != nil {
		return "", err
	}
	return d.routes.homeOf(id, home), nil
}

// ByHome groups ids by their home. Malformed ids are left out, because no row has one.
func (d *DB) ByHome(ids []string) map[region.Code][]string {
	groups := map[region.Code][]string{}
	for _, id := range ids {
		if home, err := d.HomeOf(id); err == nil {
			groups[home] = append(groups[home], id)
		}
	}
	return groups
}

// HomeOf is DB.HomeOf.
func (b *Batch) HomeOf(id string) (region.Code, error) { return b.db.HomeOf(id) }

// ByHome is DB.ByHome.
func (b *Batch) ByHome(ids []string) map[region.Code][]string { return b.db.ByHome(ids) }

// HomeOf is DB.HomeOf.
func (t *Tx) HomeOf(id string) (region.Code, error) { return t.db.HomeOf(id) }

// ByHome is DB.ByHome.
func (t *Tx) ByHome(ids []string) map[region.Code][]string { return t.db.ByHome(ids) }
