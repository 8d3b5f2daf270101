package contact

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Hidden are the users who are hidden from the caller.
type Hidden struct {
	deps   *service.Deps
	caller *auth.Caller
	ids    []string // complete unless there are more than store.MaxHidden
	among  func(r *store.ReadBatch, userID string, ids []string, into *[]string)
}

// ReadHidden adds the read of the users whom the caller blocks or is blocked by to a request.
func ReadHidden(r *service.Request) *Hidden {
	h := &Hidden{deps: r.Deps, caller: r.Caller, among: (*store.ReadBatch).HiddenAmong}
	r.HiddenFrom(h.caller.UserID, &h.ids)
	return h
}

// ReadBlockers adds the read of the users who block the caller to a request.
func ReadBlockers(r *service.Request) *Hidden {
	h := &Hidden{deps: r.Deps, caller: r.Caller, among: (*store.ReadBatch).BlockersAmong}
	r.BlockersOf(h.caller.UserID, &h.ids)
	return h
}

// Some returns up to 2 × (store.MaxHidden + 1) of the hidden users, which are usually all. A list excludes them by its
// statement, and the others by Without.
func (h *Hidden) Some() []string { return h.ids }

// Among returns the hidden users among some. It takes a round trip if more than store.MaxHidden are hidden.
func (h *Hidden) Among(ctx context.Context, userIDs []string) ([]string, error) {
	if len(h.ids) <= people.MaxHidden || len(userIDs) == 0 {
		return h.ids, nil
	}
	var hidden []string
	reads := h.deps.Store.NewReadBatch()
	h.among(reads, h.caller.UserID, service.SortedSet(userIDs), &hidden)
	return hidden, reads.Run(ctx)
}

// Without removes the rows of hidden users from rows.
func Without[T any](ctx context.Context, h *Hidden, rows []T, userOf func(T) string) ([]T, error) {
	hidden, err := h.Among(ctx, service.Map(rows, userOf))
	return slices.DeleteFunc(rows, func(row T) bool { return slices.Contains(hidden, userOf(row)) }), err
}

// ErrBlocked refuses an answer or a reaction to what one of two users wrote who block each other.
var ErrBlocked = fail.Forbidden("One of the two users blocks the other")

// RequireAnswer returns ErrBlocked unless the caller may answer or react to what the authors wrote.
func (h *Hidden) RequireAnswer(ctx context.Context, authorIDs ...string) error {
	hidden, err := h.Among(ctx, authorIDs)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(authorIDs, func(id string) bool { return !mayContact(h.caller, hidden, id) }) {
		return ErrBlocked
	}
	return nil
}

// WithoutPosts removes from posts those of hidden users and those on their walls.
func WithoutPosts(ctx context.Context, h *Hidden, posts []content.Post) ([]content.Post, error) {
	ids := service.Map(posts, func(p content.Post) string { return p.AuthorID })
	for _, p := range posts {
		if p.TargetType == "user" {
			ids = append(ids, p.TargetID)
		}
	}
	hidden, err := h.Among(ctx, ids)
	return slices.DeleteFunc(posts, func(p content.Post) bool {
		return slices.Contains(hidden, p.AuthorID) || slices.Contains(hidden, p.TargetID)
	}), err
}
