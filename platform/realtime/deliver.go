package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// envelopeVersion is the version of the envelope of events.
const envelopeVersion = "1"

// deliver passes each of the events to push for those of conns that it concerns. Events without recipients are not
// encoded.
func (h *Hub) deliver(ctx context.Context, home region.Code, found []store.LoggedEvent, conns []*conn, push func(*conn, frame)) error {
	members, err := h.membersAmong(ctx, home, found, conns)
	if err != nil {
		return err
	}
	for _, e := range found {
		var audience []*conn
		for _, c := range conns {
			if c.name == e.Name && (c.admin || c.userID == e.Topic || members[[2]string{c.userID, e.Topic}]) {
				audience = append(audience, c)
			}
		}
		if len(audience) == 0 {
			continue
		}
		if err := h.deliverEvent(ctx, home, e, audience, push); err != nil {
			return err
		}
	}
	return nil
}

// membersAmong returns which connected users are members of which communities that the events concern.
func (h *Hub) membersAmong(ctx context.Context, home region.Code, found []store.LoggedEvent, conns []*conn) (map[[2]string]bool, error) {
	communities, users := map[string]bool{}, map[string]bool{}
	for _, e := range found {
		if e.Name == events.CommunityUserAdded {
			communities[e.Topic] = true
		}
	}
	for _, c := range conns {
		if c.name == events.CommunityUserAdded && !c.admin {
			users[c.userID] = true
		}
	}
	members := map[[2]string]bool{}
	if len(communities) == 0 || len(users) == 0 {
		return members, nil
	}
	var pairs [][2]string
	reads := h.Store.NewReadBatch()
	reads.MembersAmong(home, slices.Collect(maps.Keys(users)), slices.Collect(maps.Keys(communities)), &pairs)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		members[pair] = true
	}
	return members, nil
}

// deliverEvent encodes an event once for all recipients and passes it to push.
func (h *Hub) deliverEvent(ctx context.Context, home region.Code, e store.LoggedEvent, audience []*conn, push func(*conn, frame)) error {
	ctx, traced := startPublishing(ctx, home, e)
	defer traced.End()
	ofUser, ofAdmin, err := h.message(ctx, home, e)
	if errors.Is(err, errUndeliverable) {
		h.Log.WarnContext(ctx, "realtime event skipped", "event", e.Name, "id", e.ID, "error", err)
		return nil // a retry would fail likewise
	}
	if err != nil {
		return err
	}
	texts := map[bool][]byte{}
	for _, c := range audience {
		if texts[c.admin] == nil {
			message := ofUser
			if c.admin {
				message = ofAdmin
			}
			data, err := h.Marshal(message)
			if err != nil {
				return err
			}
			texts[c.admin] = fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", lineID(home, e.Seq), e.Name, data)
		}
		push(c, frame{e.Seq, texts[c.admin]})
	}
	h.metrics.latency.Observe(h.Now().Sub(e.SentAt).Seconds())
	return nil
}

// errUndeliverable means that an event cannot be encoded, now or later.
var errUndeliverable = errors.New("event is undeliverable")

// message returns the message of an event for users and for administrators.
func (h *Hub) message(ctx context.Context, home region.Code, e store.LoggedEvent) (ofUser, ofAdmin proto.Message, err error) {
	switch e.Name {
	case events.CommunityUserAdded:
		return h.communityUserAdded(ctx, home, e)
	case events.MarkerUserSync:
		return h.markerUserSync(ctx, e)
	}
	return nil, nil, fmt.Errorf("%w: unknown event name", errUndeliverable)
}

// payloadOf decodes the payload of an event.
func payloadOf[T any](e store.LoggedEvent) (T, error) {
	var payload T
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return payload, fmt.Errorf("%w: %w", errUndeliverable, err)
	}
	return payload, nil
}

// communityUserAdded returns the envelope for members of the community and for administrators, who are not members.
func (h *Hub) communityUserAdded(ctx context.Context, home region.Code, e store.LoggedEvent) (ofUser, ofAdmin proto.Message, err error) {
	payload, err := payloadOf[events.MembersAdded](e)
	if err != nil {
		return nil, nil, err
	}
	data, err := h.addedData(ctx, home, payload)
	if err != nil {
		return nil, nil, err
	}
	admin := &plazav1.CommunityUserAddedEvent{
		Id: e.ID, Data: data, NetworkId: h.NetworkID, Path: h.View.CommunityPath(payload.CommunityID),
		EventType: e.Name, SenderId: e.SenderID, SendTime: timestamppb.New(e.SentAt), Version: envelopeVersion,
	}
	member, ok := proto.Clone(admin).(*plazav1.CommunityUserAddedEvent)
	if !ok {
		return nil, nil, fmt.Errorf("unexpected type of a copy of %T", admin)
	}
	for _, c := range member.GetData().GetCommunities() {
		c.IsJoined = true
	}
	return member, admin, nil
}

// addedData reads the resources in the event. Rows of other homes that do not respond are left out; if the log's own
// home does not respond, delivery is retried.
func (h *Hub) addedData(ctx context.Context, home region.Code, p events.MembersAdded) (*plazav1.CommunityUserAddedData, error) {
	var ids []string
	for _, m := range p.Members {
		ids = append(ids, m.UserID)
	}
	var communities []store.Community
	var users []store.User
	reads := h.Store.NewBestEffortBatch()
	reads.Communities([]string{p.CommunityID}, &communities)
	reads.Users(ids, &users)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if slices.Contains(reads.Missing(), home) {
		return nil, fail.Unavailable("the home of the event log did not answer", nil)
	}
	answer := view.CommunityRows{Communities: communities, Users: users}
	for _, m := range p.Members {
		answer.Members = append(answer.Members, store.Member{
			CommunityID: p.CommunityID, UserID: m.UserID, UserPublicID: m.PublicID, State: store.StateMember,
			Roles: m.Roles, JoinedAt: m.JoinedAt, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		})
	}
	a, err := h.View.LoadCommunities(ctx, h.Store, answer)
	return view.Fill(a, &plazav1.CommunityUserAddedData{}), err
}

// markerUserSync returns the payload with the user's current markers, for users and administrators.
func (h *Hub) markerUserSync(ctx context.Context, e store.LoggedEvent) (ofUser, ofAdmin proto.Message, err error) {
	payload, err := payloadOf[events.MarkersChanged](e)
	if err != nil {
		return nil, nil, err
	}
	var users []store.User
	marks := view.Markers{}
	reads := h.Store.NewReadBatch()
	reads.Users([]string{e.Topic}, &users)
	reads.FeedMarkers(e.Topic, payload.FeedIDs, &marks.Feeds)
	reads.EntityMarkers(e.Topic, payload.EntityIDs, &marks.Entities)
	reads.UserMarker(e.Topic, &marks.User)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	if len(users) == 0 {
		return nil, nil, fmt.Errorf("%w: the user does not exist", errUndeliverable)
	}
	a := h.View.Markers(users[0], marks)
	message := &plazav1.MarkerUserSyncEvent{
		UserMarkers: a.GetUserMarkers(), UserFeedMarkers: a.GetUserFeedMarkers(), UserEntityMarkers: a.GetUserEntityMarkers(),
	}
	return message, message, nil
}
