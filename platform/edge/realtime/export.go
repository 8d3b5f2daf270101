package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

// ChangeOf returns the change that an event in the log of a home is about, and the name by which clients know the event. It
// returns nil for markers, which concern the devices of one user only, and for events that the log of another home also has.
func (h *Hub) ChangeOf(home region.Code, e eventlog.LoggedEvent) (string, *events.Change, error) {
	c, err := changeOf(e)
	if err != nil || c.Kind == events.KindMarkers || h.isCopy(home, c) {
		return e.Name, nil, err
	}
	c.Members = nil // they are read when the change is
	return nameOf(e, c), &c, nil
}

// changeOf returns the change that an event of a log is about.
func changeOf(e eventlog.LoggedEvent) (c events.Change, err error) {
	if err := json.Unmarshal(e.Payload, &c); err != nil {
		return c, fmt.Errorf("%w: %w", events.ErrUndeliverable, err)
	}
	return c, nil
}

// isCopy reports whether an event in the log of a home is also in that of its object's home.
func (h *Hub) isCopy(home region.Code, c events.Change) bool {
	return len(c.Members) > 0 && h.HomeOf(c.ID) != home
}

// communityJoined is the name that clients expect of the event about a user who joined without being added.
const communityJoined = "community.joined"

// nameOf returns the name by which clients know an event, apart from those of the streams that the contract defines.
func nameOf(e eventlog.LoggedEvent, c events.Change) string {
	if e.Name == events.CommunityUserAdded && slices.Equal(c.UserIDs, []string{e.SenderID}) {
		return communityJoined
	}
	return e.Name
}

// ReadChange reads what an event is about, by collection, as users see it who are neither its author nor moderators. Of an object
// that was removed for good it returns what is known.
func (h *Hub) ReadChange(
	ctx context.Context, home region.Code, e eventlog.LoggedEvent, c events.Change,
) (map[string]json.RawMessage, error) {
	o, err := h.readObject(ctx, home, e, c)
	if errors.Is(err, errGone) {
		o, err = purged(c)
	}
	if err != nil {
		return nil, err
	}
	return o.data, nil
}
