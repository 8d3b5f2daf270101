package notification

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
)

// notice is something that one user is told about.
type notice struct {
	item    notify.TrayItem // identified
	actorID string
	// postID and commentID are what the user must be able to see; empty where the user need not see anything.
	postID, commentID string
	trace             string // see span.Of
}

// receivers are the users whom some notices concern, and what decides what each of them may know. They are read together, in one
// round trip.
type receivers struct {
	*Service
	rows    *rows
	users   []people.User
	callers map[string]*auth.Caller // by user; confirmed where the user is neither deleted nor banned
	hidden  map[string]*[]string    // by user, the actors of whom nothing is shown
	targets map[[3]string]*visibility.Target
}

// readReceivers reads the receivers of notices.
func (s *Service) readReceivers(ctx context.Context, rows *rows, notices []notice) (*receivers, error) {
	r := &receivers{
		Service: s, rows: rows, callers: map[string]*auth.Caller{}, hidden: map[string]*[]string{}, targets: map[[3]string]*visibility.Target{},
	}
	reads, actors := s.Store.NewReadBatch(), map[string][]string{}
	for _, n := range notices {
		r.read(reads, n)
		actors[n.item.UserID] = append(actors[n.item.UserID], n.actorID)
	}
	ids := slices.Sorted(maps.Keys(r.callers))
	reads.Users(ids, &r.users)
	for _, id := range ids {
		reads.HiddenAmong(id, actors[id], entry(r.hidden, id))
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for _, u := range r.users {
		caller := r.callers[u.ID]
		caller.PublicID = u.PublicID
		_ = auth.Confirm(auth.WithCaller(ctx, caller), s.FactsOf(&u)) // sees asks for the result
	}
	return r, nil
}

// read adds the reads about the receiver of a notice, unless they were added before.
func (r *receivers) read(reads *store.ReadBatch, n notice) {
	id := n.item.UserID
	if r.callers[id] == nil {
		r.callers[id] = &auth.Caller{Kind: auth.User, UserID: id, Home: r.HomeOf(id)}
	}
	if kind, targetID, ok := r.targetOf(n); ok && r.targets[[3]string{id, kind, targetID}] == nil {
		asReceiver := &service.Request{ReadBatch: reads, Deps: r.Deps, Caller: r.callers[id]}
		visibility.ReadTarget(asReceiver, kind, targetID, entry(r.targets, [3]string{id, kind, targetID}))
	}
}

// reference returns the post or story that a notice is about; false if there is none.
func (r *receivers) reference(n notice) (visibility.Reference, bool) {
	switch {
	case n.commentID != "":
		c := r.rows.comments[n.commentID]
		return visibility.Reference{Post: r.rows.posts[c.ReferenceID], Story: r.rows.stories[c.ReferenceID]}, true
	case n.postID != "":
		return visibility.Reference{Post: r.rows.posts[n.postID]}, true
	}
	return visibility.Reference{}, false
}

// targetOf returns where the post or story is that a notice is about.
func (r *receivers) targetOf(n notice) (kind, id string, ok bool) {
	ref, ok := r.reference(n)
	if !ok || ref.Post == nil && ref.Story == nil {
		return "", "", false
	}
	kind, id, _ = ref.TargetIDs()
	return kind, id, true
}

// sees reports whether the receiver of a notice may know of it. A user who is banned from the network sees nothing.
func (r *receivers) sees(n notice) bool {
	caller := r.callers[n.item.UserID]
	if !caller.Confirmed() || slices.Contains(*r.hidden[caller.UserID], n.actorID) {
		return false
	}
	ref, ok := r.reference(n)
	if !ok {
		return true
	}
	if kind, id, known := r.targetOf(n); known {
		ref.Target = *r.targets[[3]string{caller.UserID, kind, id}]
	}
	if n.commentID != "" {
		return ref.RequireSeeComment(caller, r.rows.comments[n.commentID], r.Now()) == nil
	}
	return ref.RequireSee(caller, r.Now()) == nil
}

// errGone reports that a user was deleted in the meantime.
var errGone = errors.New("the user is deleted")

// putItems adds the items of notices to the trays of their users at one home, and pushes to the users' devices.
func (s *Service) putItems(ctx context.Context, home region.Code, notices []notice) error {
	trays := map[string][]notify.TrayAct{}
	for _, n := range notices {
		trays[n.item.UserID] = append(trays[n.item.UserID], notify.TrayAct{Item: n.item, ActorID: n.actorID})
	}
	ids := slices.Sorted(maps.Keys(trays))
	pushes, err := s.pushesOf(ctx, home, notices)
	if err != nil {
		return err
	}
	tx := s.Store.NewTx(home)
	for _, id := range ids {
		tx.GuardTarget("user", id, errGone)
	}
	for _, id := range ids {
		tx.PutTrayActs(id, trays[id])
	}
	for _, p := range pushes {
		tx.AddPush(p)
	}
	return tx.Commit(ctx)
}
