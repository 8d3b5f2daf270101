package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Source reads events of the log.
type Source interface {
	// ChangeOf returns the change that an event in the log of a home is about and its name, or nil if it is not for webhooks.
	ChangeOf(home region.Code, e eventlog.LoggedEvent) (string, *events.Change, error)
	// ReadChange reads what an event is about, by collection.
	ReadChange(ctx context.Context, home region.Code, e eventlog.LoggedEvent, c events.Change) (map[string]json.RawMessage, error)
}

// errTooLarge is the error of deliveries that exceed maxBody.
var errTooLarge = errors.New("the delivery is too large")

// bodyOf returns the body of a delivery with the objects as they are now.
func (d *Dispatcher) bodyOf(ctx context.Context, home region.Code, name string, row network.WebhookDelivery) ([]byte, error) {
	var change events.Change
	if err := json.Unmarshal(row.Payload, &change); err != nil {
		return nil, err
	}
	e := eventlog.LoggedEvent{
		Seq: row.Seq, ID: row.ID, Name: row.Name, Topic: row.ObjectID, SenderID: row.SenderID, Payload: row.Payload,
		SentAt: row.SentAt,
	}
	data, err := d.Source.ReadChange(ctx, home, e, change)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{
		"event": name, "data": withAliases(row, change, data), "id": row.ID, "eventType": row.Name, "networkId": d.NetworkID,
		"path":     pathOf(change),
		"senderId": row.SenderID, "sentTime": row.SentAt.UTC().Format("2006-01-02T15:04:05.000Z"), "version": 1,
	})
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("%w: %d bytes", errTooLarge, len(body))
	}
	return body, err
}

func pathOf(c events.Change) string {
	if len(c.Topics) == 0 {
		return ""
	}
	return c.Topics[0]
}

// withAliases adds what receivers of webhooks find at other places than clients of realtime events.
func withAliases(row network.WebhookDelivery, c events.Change, data map[string]json.RawMessage) map[string]json.RawMessage {
	data = maps.Clone(data)
	switch c.Kind {
	case events.KindChannel:
		data["channel"], data["userIds"] = data["channels"], values(data["channelUsers"], "userId")
		for name, field := range map[string]string{
			"channel.membersAdded": "adderId", "channel.membersRemoved": "removerId",
			"channel.banned": "actorId",
		} {
			if row.Name == name {
				data[field] = freeform.Quote(row.SenderID)
			}
		}
	case events.KindFollow:
		for _, follow := range freeform.ListOf(data["follows"]) {
			_ = json.Unmarshal(follow, &data) // an object, whose members are added
		}
	case events.KindPost, events.KindComment:
		if isFlag(row.Name) {
			data["flaggedUserId"] = freeform.Quote(row.SenderID)
		}
	}
	return data
}

// isFlag reports whether an event is about the flag of one user.
func isFlag(name string) bool {
	switch name {
	case "post.flagged", "post.unflagged", "comment.flagged", "comment.unflagged":
		return true
	}
	return false
}

// values returns the list of a field of each row of a collection.
func values(rows json.RawMessage, name string) json.RawMessage {
	all := []json.RawMessage{}
	for _, row := range freeform.ListOf(rows) {
		all = append(all, freeform.Object(row).Member(name))
	}
	list, _ := json.Marshal(all) // of JSON
	return list
}
