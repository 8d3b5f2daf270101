package importer

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// channelMemberKind imports the members of channels, and the users who are banned from them.
var channelMemberKind = kind{
	name: "channelMember", fields: []string{"channelId", "role"}, timeless: true, inChannel: true,
	parse: (*Importer).parseChannelMember, check: (*Importer).checkChannelMembers, insert: (*Importer).insertChannelMembers,
}

func (*Importer) parseChannelMember(r *row) (err error) {
	if r.channelID, err = value[string](r, "channelId", "a string"); err != nil {
		return err
	}
	if r.channelID == "" || !chat.AllowsPublicID(r.channelID) {
		return errors.New("data.channelId: must be the channelId of a channel")
	}
	return r.takeRole()
}

// checkChannelMembers finds which memberships exist, and whether the channels have room for the others.
func (i *Importer) checkChannelMembers(ctx context.Context, rows []*row) error {
	found, places, counts := map[string]*[]messaging.ChannelUser{}, byPlace(rows), core.Counts{}
	reads := i.Store.NewReadBatch()
	reads.CountsOf(slices.Sorted(maps.Keys(places)), counts)
	for id, in := range places {
		found[id] = new([]messaging.ChannelUser)
		reads.ChannelUsers(id, service.Map(in, (*row).internalUserID), found[id])
	}
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for id, in := range places {
		room := int64(chat.MaxMembers[in[0].channel.Type]) - counts.Of(id, core.CountMembers)
		for _, r := range in {
			r.present = slices.ContainsFunc(*found[id], func(u messaging.ChannelUser) bool { return u.UserID == r.user.ID })
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

func (i *Importer) insertChannelMembers(tx *store.Tx, channelID string, rows []*row) {
	tx.GuardChannel(channelID, fail.NotFound())
	tx.ChangeChannelUsers(channelID, service.Map(rows, i.channelUserChange), i.Now())
}

func (i *Importer) channelUserChange(r *row) messaging.ChannelUserChange {
	id, u := r.channel.ID, r.user
	switch r.role {
	case roleBanned:
		return chat.Ban(id, u.ID, u.PublicID, nil, i.Now())
	case roleModerator:
		return chat.Join(id, u.ID, u.PublicID, nil, chat.CreatorRoles(), i.Now())
	}
	return chat.Join(id, u.ID, u.PublicID, nil, chat.MemberRoles(), i.Now())
}
