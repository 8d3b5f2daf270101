package notification

import (
	"context"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
)

// notice is something that one user is told about.
type notice struct {
	item    store.TrayItem // identified
	actorID string
	// postID, storyID and commentID are what the user must be able to see; empty where the user need not see anything.
	postID, storyID, commentID string
}

// deliver adds the item to the tray of its user, unless the user must not know about it.
func (s *Service) deliver(ctx context.Context, n notice) error {
	if n.actorID == "" || n.item.UserID == "" || n.actorID == n.item.UserID {
		return nil
	}
	var users []store.User
	var hidden []string
	reads := s.Store.NewReadBatch()
	reads.Users([]string{n.item.UserID}, &users)
	reads.HiddenFrom(n.item.UserID, &hidden)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	receiver := service.UserByID(users, n.item.UserID)
	if receiver == nil || receiver.DeletedAt != nil || slices.Contains(hidden, n.actorID) {
		return nil
	}
	sees, err := s.sees(ctx, *receiver, n)
	if err != nil || !sees {
		return err
	}
	pushes, err := s.pushesOf(ctx, n)
	if err != nil {
		return err
	}
	tx := s.Store.NewTx(s.HomeOf(receiver.ID))
	tx.GuardTarget("user", receiver.ID, errGone)
	tx.PutTrayItem(n.item, n.actorID)
	for _, p := range pushes {
		tx.AddPush(p)
	}
	if err := tx.Commit(ctx); !errors.Is(err, errGone) {
		return err
	}
	return nil
}

// errGone reports that the user was deleted in the meantime.
var errGone = errors.New("the user is deleted")

// sees reports whether the receiver may see what the notice is about. A user who is banned from the network sees nothing.
func (s *Service) sees(ctx context.Context, receiver store.User, n notice) (bool, error) {
	caller := &auth.Caller{Kind: auth.User, UserID: receiver.ID, PublicID: receiver.PublicID, Home: s.HomeOf(receiver.ID)}
	err := auth.Confirm(auth.WithCaller(ctx, caller), s.FactsOf(&receiver))
	switch {
	case err != nil:
	case n.commentID != "":
		_, err = visibility.LoadComment(ctx, s.Deps, caller, n.commentID)
	case n.postID != "":
		_, err = visibility.LoadPost(ctx, s.Deps, caller, n.postID)
	case n.storyID != "":
		_, err = visibility.LoadStory(ctx, s.Deps, caller, n.storyID)
	}
	if refused, ok := errors.AsType[*fail.Error](err); ok && refused.Kind != fail.KindUnavailable {
		return false, nil
	}
	return err == nil, err
}
