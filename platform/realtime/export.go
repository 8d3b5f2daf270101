package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// ChangeOf returns the change that an event in the log of a home is about, and the name by which clients know the event. It
// returns nil for markers, which concern the devices of one user only, and for events that the log of another home also has.
func (h *Hub) ChangeOf(home region.Code, e store.LoggedEvent) (string, *events.Change, error) {
	if e.Name == events.MarkerUserSync {
		return e.Name, nil, nil
	}
	c, err := h.broker.changeOf(home, e)
	if err != nil || c == nil {
		return e.Name, nil, err
	}
	if c.Kind == kindMembersAdded {
		c.Kind = events.KindCommunity // with the users in UserIDs
	}
	return nameOf(e, c), c, nil
}

// nameOf returns the name by which clients know an event.
func nameOf(e store.LoggedEvent, c *events.Change) string {
	if e.Name == events.CommunityUserAdded && slices.Equal(c.UserIDs, []string{e.SenderID}) {
		return communityJoined
	}
	return e.Name
}

// ReadChange reads what an event is about, by collection, as users see it who are neither its author nor moderators. Of an object
// that was removed for good it returns what is known.
func (h *Hub) ReadChange(ctx context.Context, home region.Code, e store.LoggedEvent, c events.Change) (map[string]json.RawMessage, error) {
	o, err := h.readObject(ctx, home, e, c)
	if errors.Is(err, errGone) {
		o, err = purged(c)
	}
	if err != nil {
		return nil, err
	}
	return o.data, nil
}

// IsUndeliverable reports whether reading a change will never succeed, for example because the object was removed for good.
func IsUndeliverable(err error) bool { return errors.Is(err, errUndeliverable) }
