package importer

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// findUsers returns the users with public ids, also deleted ones.
func (i *Importer) findUsers(ctx context.Context, publicIDs []string) (map[string]store.User, error) {
	found, err := i.Directory.Resolve(ctx, service.SortedSet(publicIDs)...)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range found {
		ids = append(ids, id)
	}
	var rows []store.User
	reads := i.Store.NewReadBatch()
	reads.Users(service.SortedSet(ids), &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	users := make(map[string]store.User, len(rows))
	for _, u := range rows {
		users[u.PublicID] = u
	}
	return users, nil
}

// takeUsers sets the users of rows.
func (i *Importer) takeUsers(ctx context.Context, rows []*row) error {
	users, err := i.findUsers(ctx, service.Map(rows, func(r *row) string { return r.userID }))
	for _, r := range rows {
		r.user = users[r.userID]
		r.requireUser("userId", r.userID, r.user)
	}
	return err
}

// requireUser refuses the row if a user that it refers to does not exist.
func (r *row) requireUser(field, publicID string, u store.User) {
	if r.err == nil && (u.ID == "" || u.DeletedAt != nil) {
		r.refusef("%s: there is no user %q: import it first", field, publicID)
	}
}

// takeCommunities sets the communities of rows by their ids in the file.
func (i *Importer) takeCommunities(ctx context.Context, rows []*row, idOf func(r *row) string, field string) error {
	var ids []string
	for _, r := range rows {
		ids = append(ids, candidates(idOf(r))...)
	}
	var found []store.Community
	reads := i.Store.NewReadBatch()
	reads.Communities(service.SortedSet(ids), &found)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for _, r := range rows {
		id := idOf(r)
		if id == "" {
			continue
		}
		may := candidates(id)
		r.community = service.Find(found, func(c store.Community) bool { return slices.Contains(may, c.ID) && c.DeletedAt == nil })
		if r.err == nil && r.community == nil {
			r.refusef("%s: there is no community %q: import it first", field, id)
		}
	}
	return nil
}
