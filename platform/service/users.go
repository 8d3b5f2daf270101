package service

import (
	"context"

	"github.com/plaza-social/plaza/platform/store"
)

// ResolveUsers returns the internal ids of the users with the public ids, without repetitions, and whether all of
// them exist.
func (d *Deps) ResolveUsers(ctx context.Context, publicIDs []string) (ids []string, all bool, err error) {
	found, err := d.Directory.Resolve(ctx, publicIDs...)
	if err != nil {
		return nil, false, err
	}
	all = true
	for _, publicID := range publicIDs {
		if id := found[publicID]; id != "" {
			ids = append(ids, id)
		} else {
			all = false
		}
	}
	return Distinct(ids), all, nil
}

// ReadUsers reads users by internal id, in the order of the ids. Users whose home is unavailable are left out.
func (d *Deps) ReadUsers(ctx context.Context, ids []string) ([]store.User, error) {
	return ReadAvailable(ctx, d, (*store.ReadBatch).Users, ids)
}

// UserByID returns the user with the internal id from rows, or nil.
func UserByID(rows []store.User, id string) *store.User {
	return Find(rows, func(u store.User) bool { return u.ID == id })
}
