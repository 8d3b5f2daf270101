package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	mqtt "github.com/mochi-mqtt/server/v2"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/subscription"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// deliver publishes an event to the subscribers that it concerns. Nothing is read for an event without subscribers.
func (b *broker) deliver(ctx context.Context, home region.Code, e eventlog.LoggedEvent) error {
	if b.count.Load() == 0 {
		return nil
	}
	return b.deliverTo(ctx, home, e, everySubscriber)
}

// receiver is to whom an event is delivered, and how it reaches a stream.
type receiver struct {
	includes func(*subscriber) bool
	push     func(*subscriber, watchFrame)
	admit    func(ctx context.Context) error // waits before the object of an event is read; nil for no limit
}

// everySubscriber receives events as they are logged.
var everySubscriber = receiver{
	includes: func(*subscriber) bool { return true },
	push:     func(c *subscriber, f watchFrame) { c.watch.push(f) },
}

// deliverTo is deliver for some subscribers.
func (b *broker) deliverTo(ctx context.Context, home region.Code, e eventlog.LoggedEvent, to receiver) error {
	c, err := changeOf(e)
	if err == nil {
		e.Name = nameOf(e, c)
		b.forgetAccess(e.Name, c, to)
		err = b.deliverChange(ctx, home, e, c, to)
	}
	if errors.Is(err, events.ErrUndeliverable) {
		b.hub.Log.WarnContext(ctx, "realtime event skipped", "event", e.Name, "id", e.ID, "error", err)
		return nil // a retry would fail likewise
	}
	return err
}

// forgetAccess makes the broker read again what the users whom a change concerns may read, and who may read a place that was changed: a
// ban, a new membership or the deletion of a community applies to the events after it in the log.
func (b *broker) forgetAccess(name string, c events.Change, to receiver) {
	users, forAll := concerned(c), slices.Contains(placeChanges, name)
	if len(users) == 0 && !forAll {
		return
	}
	for _, s := range b.all() {
		switch {
		case !to.includes(s):
		case slices.Contains(users, s.UserID()):
			s.Forget()
		case forAll:
			s.ForgetPlace(c.Place)
		}
	}
}

// placeChanges are the events about places by which who may read there can change.
var placeChanges = []string{"channel.deleted", "channel.updated", "community.deleted", "community.updated"}

// concerned returns the internal ids of the users whose access a change may grant or end.
func concerned(c events.Change) []string {
	users := slices.Clone(c.UserIDs)
	if c.ParticipantID != "" {
		users = append(users, c.ParticipantID)
	}
	if c.Kind == events.KindFollow {
		users = append(users, c.ID, c.OtherID)
	}
	return users
}

// deliverChange publishes a change on each of its topics that have subscribers.
func (b *broker) deliverChange(ctx context.Context, home region.Code, e eventlog.LoggedEvent, c events.Change, to receiver) error {
	found, err := b.audience(ctx, home, c, func(s *subscriber) bool { return to.includes(s) && s.watch.wants(home, e.Name) })
	if err != nil || len(found) == 0 {
		return err
	}
	if to.admit != nil {
		if err := to.admit(ctx); err != nil {
			return err
		}
	}
	ctx, traced := startPublishing(ctx, home, e)
	defer traced.End()
	o, err := b.hub.readObject(ctx, home, e, c)
	if err != nil {
		return err
	}
	if isAboutFlags(e.Name) {
		onlySender(e, found)
	}
	if err := b.restrict(ctx, c, o, found); err != nil {
		return err
	}
	pushed := map[*subscriber]bool{}
	contractData := map[bool]json.RawMessage{} // by whether it is for administrators
	for _, topic := range slices.Sorted(maps.Keys(found)) {
		payload := rawOf(b.hub.envelope(e, topic, o.data))
		recipients := map[*mqtt.Client]bool{}
		for _, s := range found[topic] {
			if s.client != nil {
				recipients[s.client] = true
				continue
			}
			if pushed[s] { // once, whatever the number of its topics
				continue
			}
			pushed[s] = true
			frame := watchFrame{home, e.Seq, e.Name, payload}
			if s.watch.contract != "" {
				if contractData[s.admin] == nil {
					contractData[s.admin] = b.hub.contractData(e, c, o, s.admin)
				}
				frame.name, frame.data = s.watch.contract, contractData[s.admin]
			}
			to.push(s, frame)
		}
		if len(recipients) == 0 {
			continue
		}
		if err := b.publish(topic, payload, recipients); err != nil {
			return err
		}
		b.hub.metrics.published.WithLabelValues(e.Name).Add(float64(len(recipients)))
	}
	b.hub.metrics.latency.Observe(b.hub.Now().Sub(e.SentAt).Seconds())
	return nil
}

// audience returns those subscribers of the topics of a change that are wanted, by topic. The home of an object delivers an event that is
// in several logs to all but the streams of the contract.
func (b *broker) audience(
	ctx context.Context, home region.Code, c events.Change, wanted func(*subscriber) bool,
) (map[string][]*subscriber, error) {
	found := map[string][]*subscriber{}
	add := func(topic string, wanted func(*subscriber) bool) {
		for _, s := range b.subscribers(topic) {
			if wanted(s) {
				found[topic] = append(found[topic], s)
			}
		}
	}
	if !b.hub.isCopy(home, c) {
		for _, topic := range c.Topics {
			add(topic, wanted)
		}
		for _, userID := range c.UserIDs {
			add(b.hub.View.UserPath(userID), func(s *subscriber) bool { return s.UserID() == userID && wanted(s) })
		}
	}
	feed := smartFeedOf[c.Kind]
	if len(c.Members) > 0 {
		feed = events.CommunityUserAdded
	}
	if feed != "" {
		followers, err := b.smartFeed(ctx, home, c, feed, wanted)
		if err != nil {
			return nil, err
		}
		for _, s := range followers {
			topic := b.smartFeedTopic(s.UserID(), feed)
			found[topic] = append(found[topic], s)
		}
	}
	return found, nil
}

// onlySender removes all clients but those of the sender from found.
func onlySender(e eventlog.LoggedEvent, found map[string][]*subscriber) {
	for topic, clients := range found {
		found[topic] = slices.DeleteFunc(clients, func(client *subscriber) bool { return client.UserID() != e.SenderID })
	}
}

// smartFeedOf names the smart feed with events about a kind of objects.
var smartFeedOf = map[events.ObjectKind]string{
	events.KindChannel: "channels", events.KindMessageFeed: "messagefeeds", events.KindMessage: "messages",
}

// smartFeed returns those subscribers to a smart feed that are wanted, and members of the channel or community of a change or
// administrators.
func (b *broker) smartFeed(
	ctx context.Context, home region.Code, c events.Change, feed string, wanted func(*subscriber) bool,
) ([]*subscriber, error) {
	byUser := map[string][]*subscriber{}
	var found []*subscriber
	for _, client := range b.all() {
		switch {
		case !client.watches(feed) || !wanted(client):
		case client.admin:
			found = append(found, client)
		default:
			byUser[client.UserID()] = append(byUser[client.UserID()], client)
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(byUser)), smartFeedChunk) {
		members, err := b.membersAmong(ctx, home, c.Place, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range members {
			found = append(found, byUser[id]...)
		}
	}
	return found, nil
}

// membersAmong returns which of the users are members of a channel, or of a community; those have the given home.
func (b *broker) membersAmong(ctx context.Context, home region.Code, place events.Place, userIDs []string) (members []string, err error) {
	var rows []messaging.ChannelUser
	reads := b.hub.Store.NewReadBatch()
	if place.Kind == events.PlaceCommunity {
		reads.MembersAmong(home, place.ID, userIDs, &members)
	} else {
		reads.ChannelUsers(place.ID, userIDs, &rows)
	}
	err = reads.Run(ctx)
	for _, row := range rows {
		if row.IsMember() {
			members = append(members, row.UserID)
		}
	}
	return members, err
}

// smartFeedChunk is the maximum number of users whose membership is read in one query.
const smartFeedChunk = 500

// restrict removes from found the clients that may not read the object. A client whose access is unknown is
// disconnected: it reconnects, and reads what it missed.
func (b *broker) restrict(ctx context.Context, c events.Change, o *object, found map[string][]*subscriber) error {
	if c.Place.Kind == events.PlaceUsers {
		return nil // whose filters only they may subscribe to
	}
	for topic, clients := range found {
		own, clients := ownMatters(c, clients)
		readers := make([]*subscription.Reader, len(clients))
		for i, client := range clients {
			readers[i] = client.Reader
		}
		access, err := b.resolver.Resolve(ctx, c.Place, readers)
		if err != nil {
			return err
		}
		allowed := own
		for i, a := range access {
			if a.Unknown() {
				clients[i].end(endUnavailable)
			} else if o.sees(a) {
				allowed = append(allowed, clients[i])
			}
		}
		found[topic] = allowed
	}
	return nil
}

// ownMatters separates the clients of the users whom a change concerns, or whose profile it changes: users learn what happens to them,
// also when they lose access by it, such as by a ban. The streams of the contract are for members only.
func ownMatters(c events.Change, clients []*subscriber) (own, others []*subscriber) {
	for _, client := range clients {
		isProfile := c.Place.Kind == events.PlaceProfile && client.UserID() == c.Place.ID
		isContract := client.watch != nil && client.watch.contract != ""
		if isProfile || isContract || slices.Contains(c.UserIDs, client.UserID()) {
			own = append(own, client)
		} else {
			others = append(others, client)
		}
	}
	return own, others
}

// envelope returns an event as MQTT clients receive it.
func (h *Hub) envelope(e eventlog.LoggedEvent, topic string, data map[string]json.RawMessage) map[string]any {
	sent := e.SentAt.UTC().Format("2006-01-02T15:04:05.000Z")
	return map[string]any{
		"eventType": e.Name, "data": data, "id": e.ID, "networkId": h.NetworkID, "path": topic, "senderId": e.SenderID,
		"sentTime": sent, "sendTime": sent, "version": 1,
	}
}

// contractData returns the JSON of an event in a stream that the contract defines.
func (h *Hub) contractData(e eventlog.LoggedEvent, c events.Change, o *object, admin bool) json.RawMessage {
	if c.Kind == events.KindMarkers {
		return rawOf(o.data)
	}
	data := maps.Clone(o.data)
	if communities := freeform.ListOf(data["communities"]); !admin && len(communities) > 0 { // of which the recipients are members
		data["communities"] = rawOf([]json.RawMessage{json.RawMessage(freeform.Object(communities[0]).With("isJoined", json.RawMessage("true")))})
	}
	envelope := h.envelope(e, c.Topics[0], data)
	envelope["eventType"], envelope["version"] = events.CommunityUserAdded, "1"
	delete(envelope, "sentTime")
	return rawOf(envelope)
}
