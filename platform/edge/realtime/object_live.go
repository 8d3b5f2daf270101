package realtime

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func (h *Hub) readRoom(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var room *media.Room
	reads := h.Store.NewBestEffortBatch()
	reads.Room(c.ID, &room)
	if err := h.run(ctx, reads, home); err != nil || room == nil {
		return nil, nil, cmp.Or(err, errGone)
	}
	ids := []string{room.CreatorID}
	for _, p := range room.Participants {
		ids = append(ids, p.UserID)
	}
	if c.ParticipantID != "" { // who may have left
		ids = append(ids, c.ParticipantID)
	}
	users, err := h.usersOf(ctx, home, service.SortedSet(ids))
	return &plazav1.RoomResponse{Rooms: h.View.Rooms([]media.Room{*room}), Users: h.View.Users(ctx, users)}, everyone, err
}

func (h *Hub) readStream(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var stream *media.VideoStream
	reads := h.Store.NewBestEffortBatch()
	reads.VideoStream(c.ID, &stream)
	if err := h.run(ctx, reads, home); err != nil || stream == nil {
		return nil, nil, cmp.Or(err, errGone)
	}
	users, err := h.usersOf(ctx, home, []string{stream.CreatorID})
	return h.View.VideoStreamings(ctx, []media.VideoStream{*stream}, users, ""), everyone, err
}

// readStreamBan returns the bans that the event contains.
func (h *Hub) readStreamBan(
	ctx context.Context, home region.Code, e eventlog.LoggedEvent, c events.Change,
) (proto.Message, audience, error) {
	users, err := h.usersOf(ctx, home, c.UserIDs)
	changed := &plazav1.StreamViewersChanged{}
	for _, u := range users {
		changed.List = append(changed.List, &plazav1.StreamViewerBan{
			NetworkId: h.NetworkID, StreamId: c.ID, UserId: u.PublicID, Actor: e.SenderID, CreatedAt: timestamppb.New(e.SentAt),
		})
	}
	return changed, everyone, err
}

// readLiveReactions returns the reactions that the event contains, for those who see the post.
func (h *Hub) readLiveReactions(
	ctx context.Context, home region.Code, e eventlog.LoggedEvent, c events.Change,
) (proto.Message, audience, error) {
	_, sees, err := h.readPost(ctx, home, e, c)
	created := &plazav1.LiveReactionsCreated{}
	for _, r := range c.Live {
		created.Reactions = append(created.Reactions, &plazav1.LiveReaction{
			UserId: r.UserID, ReferenceId: c.ID, ReferencePublicId: c.ID, ReferenceType: "post", ReactionName: r.Name,
			OccurredAt: timestamppb.New(r.OccurredAt),
		})
	}
	return created, sees, err
}

// readInvitation reads the invitation of a co-host.
func (h *Hub) readInvitation(
	ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change,
) (proto.Message, audience, error) {
	var invitation *communities.Invitation
	reads := h.Store.NewBestEffortBatch()
	reads.Invitation(c.ID, &invitation)
	if err := h.run(ctx, reads, home); err != nil || invitation == nil {
		return nil, nil, cmp.Or(err, errGone)
	}
	users, err := h.usersOf(ctx, home, []string{invitation.InviterID, invitation.InvitedID})
	return &plazav1.InvitationResponse{
		Invitations: []*plazav1.Invitation{h.View.Invitation(*invitation)}, Users: h.View.Users(ctx, users),
	}, everyone, err
}
