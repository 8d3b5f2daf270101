package importer

import (
	"cmp"
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
)

// findUsers returns the users with public ids, also deleted ones.
func (i *Importer) findUsers(ctx context.Context, publicIDs []string) (map[string]people.User, error) {
	found, err := i.Directory.Resolve(ctx, service.SortedSet(publicIDs)...)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range found {
		ids = append(ids, id)
	}
	var rows []people.User
	reads := i.Store.NewReadBatch()
	reads.Users(service.SortedSet(ids), &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	users := make(map[string]people.User, len(rows))
	for _, u := range rows {
		users[u.PublicID] = u
	}
	return users, nil
}

// find finds the users, communities and channels that rows refer to, and refuses rows that refer to others.
func (i *Importer) find(ctx context.Context, rows []*row) error {
	users, err := i.findUsers(ctx, slices.Concat(service.Map(rows, (*row).publicIDs)...))
	if err != nil {
		return err
	}
	var places []communities.Community
	var channels []messaging.Channel
	var communityIDs, channelIDs []string
	for _, r := range rows {
		r.takeUsers(users)
		if id := i.channelOf(r); id != "" {
			r.internal, channelIDs = id, append(channelIDs, id)
		}
		communityIDs = append(communityIDs, candidates(r.communityID)...)
	}
	reads := i.Store.NewReadBatch()
	reads.Communities(service.SortedSet(communityIDs), &places)
	reads.Channels(service.SortedSet(channelIDs), &channels)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for _, r := range rows {
		r.takeCommunity(places)
		r.channel = service.Find(channels, func(c messaging.Channel) bool { return c.ID == r.internal })
		if r.err == nil && r.kind.inChannel && (r.channel == nil || r.channel.DeletedAt != nil) {
			r.refusef("data: there is no such channel or conversation: import it first")
		}
	}
	return nil
}

// publicIDs returns the public ids of the users that a row refers to.
func (r *row) publicIDs() []string {
	return slices.Concat([]string{r.userID, cmp.Or(r.ownerID, r.userID)}, r.partners, r.mentioned())
}

// takeUsers sets the users of a row, who must exist unless the row is one itself.
func (r *row) takeUsers(all map[string]people.User) {
	r.user = all[r.userID]
	if r.kind == &userKind {
		return
	}
	r.requireUser("userId", r.userID, r.user)
	for _, publicID := range r.partners {
		r.requireUser("data.userIds", publicID, all[publicID])
		r.users = append(r.users, all[publicID])
	}
	if r.ownerID != "" {
		r.owner = all[r.ownerID]
		r.requireUser("data.targetId", r.ownerID, r.owner)
	}
	if r.draft != nil {
		r.takeMentions(all)
	}
}

// requireUser refuses the row if a user that it refers to does not exist.
func (r *row) requireUser(field, publicID string, u people.User) {
	if r.err == nil && (u.ID == "" || u.DeletedAt != nil) {
		r.refusef("%s: there is no user %q: import it first", field, publicID)
	}
}

// takeCommunity sets the community of a row by its id in the file.
func (r *row) takeCommunity(found []communities.Community) {
	if r.communityID == "" {
		return
	}
	may := candidates(r.communityID)
	r.community = service.Find(found, func(c communities.Community) bool { return slices.Contains(may, c.ID) && c.DeletedAt == nil })
	if r.err == nil && r.community == nil {
		r.refusef("%s: there is no community %q: import it first", r.kind.community, r.communityID)
	}
}

// channelOf returns the internal id of the channel or conversation of a row, which follows from its public id or from its users, and
// "" if there is none. A conversation that exists is kept if one of its users was deleted.
func (i *Importer) channelOf(r *row) string {
	switch {
	case r.channelID != "":
		return i.Directory.ChannelID(r.channelID)
	case len(r.users) == 0 || slices.ContainsFunc(r.users, func(u people.User) bool { return u.ID == "" }):
		return ""
	}
	return i.Directory.ConversationID(service.Map(r.users, func(u people.User) string { return u.ID }))
}

// markExisting notes which rows exist among the objects that query reads.
func markExisting[T any](
	ctx context.Context, i *Importer, rows []*row, query func(*store.ReadBatch, []string, *[]T), idOf func(T) string,
) error {
	var found []T
	reads := i.Store.NewReadBatch()
	query(reads, internalIDs(rows), &found)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	ids := service.Map(found, idOf)
	for _, r := range rows {
		r.present = slices.ContainsFunc(candidates(r.id), func(id string) bool { return slices.Contains(ids, id) })
		r.keep()
	}
	return nil
}

// byPlace returns the rows that can be imported, by the internal ids of their communities or channels, or by their own.
func byPlace(rows []*row) map[string][]*row {
	places := map[string][]*row{}
	for _, r := range rows {
		place := r.internal
		switch {
		case r.err != nil:
			continue
		case r.community != nil:
			place = r.community.ID
		case r.channel != nil:
			place = r.channel.ID
		}
		places[place] = append(places[place], r)
	}
	return places
}
