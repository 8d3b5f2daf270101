// Package subscription decides who receives realtime events. It applies the rules by which requests read the same
// objects: those of packages visibility and chat.
package subscription

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// Lifetime is how long access that was read is used for. Access that a user lost ends within this time.
const Lifetime = 2 * time.Second

const (
	// maxPlaces is the maximum number of places whose access a Reader keeps.
	maxPlaces = 128
	// chunk is the maximum number of readers or places for which access is read in one round trip.
	chunk = 200
)

// Reader is a connected user. Its access to places is kept for Lifetime, unless it is forgotten before.
type Reader struct {
	claims    auth.Claims
	mu        sync.Mutex
	places    map[events.Place]*Access
	forgotten int // how often access was forgotten
}

// NewReader returns the reader with the claims of an access token.
func NewReader(claims auth.Claims) *Reader { return &Reader{claims: claims} }

// UserID returns the internal id of the user.
func (r *Reader) UserID() string { return r.claims.UserID }

// Forget makes the next call of Resolve read the access of the user to every place, since it may have changed.
func (r *Reader) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places = nil
	r.forgotten++
}

// ForgetPlace makes the next call of Resolve read the access of the user to a place, since it may have changed.
func (r *Reader) ForgetPlace(place events.Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.places, place)
	r.forgotten++
}

// Access is what a user may read at a place. The nil Access permits nothing.
type Access struct {
	until  time.Time
	caller *auth.Caller
	target visibility.Target
	sees   bool
	// saw reports that the user may read the place, or might before it was deleted.
	saw bool
	// unknown reports that the home of the user or of the place did not answer, or that rows which may permit to read are moving.
	unknown bool
}

// Sees reports whether the user may read what is published at the place.
func (a *Access) Sees() bool { return a != nil && a.sees }

// Saw reports whether the user may read what is published at the place, or might before it was deleted. Such users receive the event
// of its deletion.
func (a *Access) Saw() bool { return a != nil && a.saw }

// Unknown reports whether it could not be found out what the user may read.
func (a *Access) Unknown() bool { return a != nil && a.unknown }

// SeesPost reports whether the user may read a post at the place.
func (a *Access) SeesPost(p *content.Post) bool {
	return a.Sees() && a.target.RequireSeePost(a.caller, p) == nil
}

// SeesComment reports whether the user may read a comment at the place.
func (a *Access) SeesComment(c *content.Comment) bool {
	return a.Sees() && a.target.RequireSeeComment(a.caller, c) == nil
}

// SeesMessage reports whether the user receives events about a message at the place. Those about a hidden message are for
// its author.
func (a *Access) SeesMessage(m *messaging.Message) bool {
	return a.Sees() && !m.HiddenFrom(a.caller.UserID, false)
}

// Resolver reads the access of readers.
type Resolver struct{ deps *service.Deps }

// New returns a resolver.
func New(d *service.Deps) *Resolver { return &Resolver{d} }

// Resolve returns the access of each of the readers to a place, in their order.
func (s *Resolver) Resolve(ctx context.Context, place events.Place, readers []*Reader) ([]*Access, error) {
	wanted := make([]want, len(readers))
	for i, r := range readers {
		wanted[i] = want{r, place}
	}
	return s.resolve(ctx, wanted)
}

// ResolvePlaces returns the access of a reader to each of the places, in their order.
func (s *Resolver) ResolvePlaces(ctx context.Context, reader *Reader, places []events.Place) ([]*Access, error) {
	wanted := make([]want, len(places))
	for i, place := range places {
		wanted[i] = want{reader, place}
	}
	return s.resolve(ctx, wanted)
}

// want is a reader whose access to a place is wanted.
type want struct {
	reader *Reader
	place  events.Place
}

func (s *Resolver) resolve(ctx context.Context, wanted []want) ([]*Access, error) {
	found := make([]*Access, len(wanted))
	var missing []int
	for i, w := range wanted {
		if found[i] = w.reader.kept(w.place, s.deps.Now()); found[i] == nil {
			missing = append(missing, i)
		}
	}
	for some := range slices.Chunk(missing, chunk) {
		if err := s.load(ctx, wanted, some, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// load reads what is wanted at the given indexes in one round trip for each home, and two more if rooms or streams are among the places.
func (s *Resolver) load(ctx context.Context, wanted []want, indexes []int, found []*Access) error {
	keep := make([]func(*Access), len(indexes))
	places := make([]events.Place, len(indexes))
	for n, i := range indexes {
		keep[n], places[n] = wanted[i].reader.keeper(wanted[i].place), wanted[i].place
	}
	broadcasts, err := s.broadcastsAt(ctx, places)
	if err != nil {
		return err
	}
	reads := s.deps.Store.NewBestEffortBatch()
	settle := make([]func(), len(indexes))
	for n, i := range indexes {
		access := &Access{until: s.deps.Now().Add(Lifetime), caller: auth.CallerOf(wanted[i].reader.claims)}
		asUser := auth.WithCaller(ctx, access.caller)
		request := s.deps.NewRequestIn(asUser, reads)
		if watched := broadcasts[places[n]]; watched != nil {
			access.unknown = watched.unknown
			watched.read(request, access)
		} else {
			access.read(request, places[n])
		}
		found[i] = access
		settle[n] = func() {
			access.saw = request.Settle(asUser) == nil
			access.sees = access.saw && !access.target.IsDeleted()
		}
	}
	if err := reads.Run(ctx); err != nil {
		return err
	}
	missing := reads.Missing()
	for n, i := range indexes {
		settle[n]()
		found[i].unknown = found[i].unknown || reads.Incomplete() && !found[i].saw
		for _, home := range missing {
			found[i].unknown = found[i].unknown || broadcasts[places[n]] != nil || home == s.deps.HomeOf(wanted[i].reader.claims.UserID) ||
				home == s.deps.HomeOf(places[n].ID)
		}
		keep[n](found[i])
	}
	return nil
}

// read adds the reads of a place to a request, whose Settle fails unless the user may read what is there.
func (a *Access) read(r *service.Request, place events.Place) {
	switch place.Kind {
	case events.PlaceCommunity, events.PlaceWall, events.PlaceContent:
		visibility.ReadTarget(r, place.Kind, place.ID, &a.target)
		r.Check(func() error { return a.target.BeforeDeletion().RequireSee(r.Caller) })
	case events.PlaceChannel:
		var access chat.Access
		chat.ReadChannel(r, place.ID, &access)
		r.Check(func() error { return access.CanHear(r.Caller) })
	case events.PlaceProfile:
		visibility.ReadTarget(r, events.PlaceWall, place.ID, &a.target)
		r.CheckFound(func() bool { return !a.target.Wall.Blocked || place.ID == r.Caller.UserID })
	}
}

// kept returns the access that was read before, or nil.
func (r *Reader) kept(place events.Place, now time.Time) *Access {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.places[place]; a != nil && now.Before(a.until) {
		return a
	}
	return nil
}

// keeper returns the function that keeps access to a place. The function must be requested before the access is read: what was read
// before it was forgotten is not kept.
func (r *Reader) keeper(place events.Place) func(*Access) {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := r.forgotten
	return func(a *Access) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.forgotten != began {
			return
		}
		if r.places == nil || len(r.places) >= maxPlaces {
			r.places = map[events.Place]*Access{}
		}
		r.places[place] = a
	}
}
