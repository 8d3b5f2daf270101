package db

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
)

// MoveState is the state of the move of a user to another home.
type MoveState string

// The states of a move, in order. Collecting, announced and cancelled moves have no effect on requests.
const (
	MoveCollecting MoveState = "collecting" // the ids are being collected
	MoveAnnounced  MoveState = "announced"  // servers know the ids, and read the routes more often
	MoveFrozen     MoveState = "frozen"     // the rows are at the old home and must not be written
	MoveMoving     MoveState = "moving"     // the rows are at either home and must be neither read nor written
	MoveDone       MoveState = "done"       // the rows are at the new home
	MoveCancelled  MoveState = "cancelled"
)

// The states of the route of a user who is erased, whose rows stay where they are.
const (
	RouteErasing MoveState = "erasing" // servers do not remember the user's public id
	RouteErased  MoveState = "erased"
)

// Route is the move of a user as servers follow it. Home is where the rows are before the state MoveDone, and To where
// they are from then on.
type Route struct {
	UserID  string
	Home    region.Code
	To      region.Code
	State   MoveState
	Version int64

	epoch  uint64 // that began when this server learned about the version
	frozen uint64 // the epoch since which it refuses writes
	left   uint64 // the epoch in which it learned that the rows are at another home; 0 if it always knew
}

// refuses reports whether the rows must not be written.
func (r *Route) refuses() bool { return r.State == MoveFrozen || r.State == MoveMoving }

// current returns the home of the rows.
func (r *Route) current() region.Code {
	if r.State == MoveDone {
		return r.To
	}
	return r.Home
}

// moveRetryAfter is when a request that concerns a moving id may succeed.
const moveRetryAfter = 2 * time.Second

// MovingError is the cause of the error of a statement that concerns an id whose rows are moving, or have moved since its
// request or batch began: the home that it was to be sent to may be wrong.
type MovingError struct{ UserID string }

// Error implements error.
func (*MovingError) Error() string { return "the rows of an id are moving" }

// errMoving returns the error of statements that concern an id which moves with a user.
func errMoving(userID string) error {
	e := fail.Unavailable("the user is being moved to another home region", &MovingError{userID})
	e.RetryAfter, e.Planned = moveRetryAfter, true
	return e
}

func isMoving(err error) bool {
	_, ok := errors.AsType[*MovingError](err)
	return ok
}

// errRoutesStale is the cause of the error of a server that does not know the current routes.
var errRoutesStale = errors.New("the routes of moved ids were not read for too long")

// errNotAnnounced is the cause of the error of a server that may count as stopped.
var errNotAnnounced = errors.New("the server could not announce itself for too long")

// Routes are the homes of moved ids, as one server knows them. All other ids are at the home that they contain. They are
// safe for concurrent use.
type Routes struct {
	now    func() time.Time
	limits limits.Limits
	// The number of users who have a route, of those whose rows must not be written, and of those who are erased.
	used, held, erasures atomic.Int64
	followed             atomic.Pointer[time.Time] // when the routes were last complete; nil if they are not followed
	announced            atomic.Pointer[time.Time] // when the server last announced itself; nil if it never did

	// epoch has the statements in progress that began since the last change of a route, and left is the last epoch in which rows
	// came to another home.
	epoch atomic.Pointer[epoch]
	left  atomic.Uint64

	mu         sync.RWMutex
	users      map[string]*Route
	owners     map[rawID]*Route
	erased     map[string]time.Time // users who are erased, and until when that matters; zero during the erasure
	moved      map[[2]region.Code]int64
	unfinished map[string]*Route
	earlier    []*epoch      // that have statements in progress, the oldest first
	changed    chan struct{} // closed when a route changes
}

func newRoutes(l limits.Limits) *Routes {
	r := &Routes{
		now: time.Now, limits: l, users: map[string]*Route{}, owners: map[rawID]*Route{}, moved: map[[2]region.Code]int64{},
		unfinished: map[string]*Route{}, erased: map[string]time.Time{}, changed: make(chan struct{}),
	}
	r.epoch.Store(&epoch{})
	return r
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
	before := stored.current()
	if stored.UserID == "" {
		before, _ = region.HomeOf(route.UserID) // the id of a row
	}
	next := &epoch{number: r.epochNumber() + 1}
	route.left, route.epoch, route.frozen = stored.left, next.number, next.number
	if stored.State == MoveFrozen && route.State == MoveMoving { // nothing adds ids that were not collected
		route.frozen = stored.frozen
	}
	*stored = route
	if stored.current() != before {
		stored.left = route.epoch
		r.left.Store(route.epoch)
	}
	for _, id := range append(ids, route.UserID) {
		if raw, ok := rawOf(id); ok {
			r.owners[raw] = stored
		}
	}
	if route.State == MoveDone || route.State == RouteErased {
		delete(r.unfinished, route.UserID)
	} else {
		r.unfinished[route.UserID] = stored
	}
	r.noteErasure(route, len(ids) > 0)
	r.count()
	r.begin(next) // statements that begin in it see all of this
	close(r.changed)
	r.changed = make(chan struct{})
}

// count counts the routes, for the paths that must not look at all of them.
func (r *Routes) count() {
	var held int64
	clear(r.moved)
	for _, route := range r.users {
		if route.refuses() {
			held++
		}
		if native, err := region.HomeOf(route.UserID); err == nil && native != route.current() {
			r.moved[[2]region.Code{native, route.current()}]++
		}
	}
	r.held.Store(held)
	r.used.Store(int64(len(r.users)))
	r.erasures.Store(int64(len(r.erased)))
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

// Announced records that the server announced itself at a time. Afterwards it must do so again and again: writes are refused
// once a move would take the server for one that has stopped.
func (r *Routes) Announced(at time.Time) { r.announced.Store(&at) }

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
	route, _ := r.Route(id)
	return route.State == MoveMoving
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

// requireFresh returns an error if the routes are followed but were not complete within the lease.
func (r *Routes) requireFresh() error {
	if r.ended(r.followed.Load(), r.limits.MoveLease) {
		return fail.Unavailable("the server does not know where moved users are", errRoutesStale)
	}
	return nil
}

// RequireAnnounced returns an error if other servers may take this one for one that has stopped.
func (r *Routes) RequireAnnounced() error {
	if r.ended(r.announced.Load(), r.limits.AnnounceLease) {
		return fail.Unavailable("no home has recorded that the server is running", errNotAnnounced)
	}
	return nil
}

// ended reports whether a lease that began at a time has ended. A clock that was set forward or a suspended machine ends it as
// well.
func (r *Routes) ended(began *time.Time, lease time.Duration) bool {
	if began == nil {
		return false
	}
	now := r.now()
	return now.Sub(*began) > lease || now.Round(0).Sub(began.Round(0)) > lease
}

// refusal is why statements about an id are not sent.
type refusal struct {
	userID string // "" if they are
	// unreadable is whether they must not be read either.
	unreadable bool
}

// refusalOf returns the refusal of the first id among args whose rows must not be written, or must not be read if there is
// one. all includes lists of several ids.
func (r *Routes) refusalOf(args []any, all bool, sent sentIn) (worst refusal) {
	if r.held.Load() == 0 && r.left.Load() <= sent.since {
		return worst
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	check := func(id string) {
		route := r.route(id)
		switch {
		case route == nil || worst.unreadable:
		case route.State == MoveMoving && route.epoch <= sent.until, route.left > sent.since:
			worst = refusal{route.UserID, true}
		case route.refuses() && route.frozen <= sent.until:
			worst.userID = route.UserID
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
		if err := t.db.routes.requireWritable(ctx, t.steps[i].args[1:], t.since); err != nil {
			return err
		}
	}
	return nil
}

// requireWritable returns an error if the arguments of a statement contain an id whose rows must not be written. began is the
// epoch in which its transaction began.
func (r *Routes) requireWritable(ctx context.Context, args []any, began uint64) error {
	if isMover(ctx) {
		return nil
	}
	if err := cmp.Or(r.requireFresh(), r.RequireAnnounced()); err != nil {
		return err
	}
	if refused := r.refusalOf(args, true, r.sentIn(ctx, began)); refused.userID != "" {
		return errMoving(refused.userID)
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
	sent := routes.sentIn(ctx, b.since)
	if err := routes.requireFresh(); err != nil {
		return err
	}
	for home, queries := range b.queries {
		first := refusal{}
		for _, q := range queries {
			if first = routes.refusalOf(q.args[1:], true, sent); first.unreadable {
				break
			}
		}
		if !first.unreadable {
			continue
		}
		if !b.bestEffort {
			return errMoving(first.userID)
		}
		b.incomplete = true
		region.Miss(ctx, home)
		b.queries[home] = slices.DeleteFunc(slices.Clone(queries),
			func(q query) bool { return routes.refusalOf(q.args[1:], false, sent).unreadable })
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
