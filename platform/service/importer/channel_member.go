package importer

import (
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
)

// channelMembers are the members of channels, and the users who are banned from them.
var channelMembers = kind{
	name: "channelMember", fields: []string{"channelId", "role"}, timeless: true,
	parse: (*Importer).parseChannelMember, check: (*Importer).checkChannelMembers, write: (*Importer).writeChannelMembers,
}

func (*Importer) parseChannelMember(r *row) (err error) {
	if r.channelID, err = r.text("channelId"); err != nil {
		return err
	}
	if r.channelID == "" || !chat.AllowsPublicID(r.channelID) {
		return errors.New("data.channelId: must be the channelId of a channel")
	}
	return r.takeRole()
}

// checkChannelMembers finds the users and the channels, and which memberships exist.
func (i *Importer) checkChannelMembers(ctx context.Context, rows []*row) error {
	if err := i.takeUsers(ctx, rows); err != nil {
		return err
	}
	if err := i.takeChannels(ctx, rows); err != nil {
		return err
	}
	ids, counts := channelIDs(rows), store.Counts{}
	found := make([][]store.ChannelUser, len(ids))
	reads := i.Store.NewReadBatch()
	reads.CountsOf(ids, counts)
	for n, id := range ids {
		reads.ChannelUsers(id, service.Map(inChannel(rows, id), func(r *row) string { return r.user.ID }), &found[n])
	}
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for n, id := range ids {
		room := int64(chat.MaxMembers[inChannel(rows, id)[0].channel.Type]) - counts.Of(id, store.CountMembers)
		for _, r := range inChannel(rows, id) {
			r.present = service.Find(found[n], func(u store.ChannelUser) bool { return u.UserID == r.user.ID }) != nil
			room -= r.takeRoom(room)
		}
	}
	return nil
}

// takeRoom returns how many members the row adds to a channel that has room for some. It refuses the row if there is none.
func (r *row) takeRoom(room int64) int64 {
	switch {
	case r.present || r.role == roleBanned:
		return 0
	case room <= 0:
		r.refusef("data.channelId: the channel must have at most %d members", chat.MaxMembers[r.channel.Type])
		return 0
	}
	return 1
}

// takeChannels sets the channels of rows by the ids that clients know.
func (i *Importer) takeChannels(ctx context.Context, rows []*row) error {
	for _, r := range rows {
		if r.channelID != "" {
			r.internal = i.Directory.ChannelID(r.channelID)
		}
	}
	if err := i.findChannels(ctx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.err == nil && (r.channel == nil || r.channel.DeletedAt != nil) {
			r.refusef("data: there is no such channel or conversation: import it first")
		}
	}
	return nil
}

// channelIDs returns the internal ids of the channels of rows, each once.
func channelIDs(rows []*row) []string {
	var ids []string
	for _, r := range rows {
		if r.err == nil && r.channel != nil {
			ids = append(ids, r.channel.ID)
		}
	}
	return service.SortedSet(ids)
}

// inChannel returns the rows of a channel that can be imported.
func inChannel(rows []*row, channelID string) []*row {
	var in []*row
	for _, r := range rows {
		if r.err == nil && r.channel != nil && r.channel.ID == channelID {
			in = append(in, r)
		}
	}
	return in
}

func (i *Importer) writeChannelMembers(ctx context.Context, rows []*row) error {
	txs := i.newTxs()
	for _, id := range channelIDs(rows) {
		tx, err := txs.at(id)
		if err != nil {
			return err
		}
		var changes []store.ChannelUserChange
		for _, r := range inChannel(rows, id) {
			if !r.present {
				changes = append(changes, i.channelUserChange(r))
			}
		}
		tx.GuardChannel(id, fail.NotFound())
		tx.ChangeChannelUsers(id, changes, i.Now())
	}
	return txs.commit(ctx)
}

func (i *Importer) channelUserChange(r *row) store.ChannelUserChange {
	id, u := r.channel.ID, r.user
	switch r.role {
	case roleBanned:
		return chat.Ban(id, u.ID, u.PublicID, nil, i.Now())
	case roleModerator:
		return chat.Join(id, u.ID, u.PublicID, nil, chat.CreatorRoles(), i.Now())
	}
	return chat.Join(id, u.ID, u.PublicID, nil, chat.MemberRoles(), i.Now())
}
