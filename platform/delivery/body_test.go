package delivery

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestAliases checks what receivers find in the data of a delivery in addition to the collections, by event.
func TestAliases(t *testing.T) {
	t.Parallel()
	const channel = `{"channels": [{"channelId": "c"}], "channelUsers": [{"userId": "a"}, {"userId": "b"}]`
	const inChannel = channel + `, "channel": [{"channelId": "c"}], "userIds": ["a", "b"]`
	for name, tc := range map[string]struct {
		event      string
		kind       events.ObjectKind
		data, want string
	}{
		"channel":         {"channel.updated", events.KindChannel, channel + `}`, inChannel + `}`},
		"without users":   {"channel.updated", events.KindChannel, `{"channels": []}`, `{"channels": [], "channel": [], "userIds": []}`},
		"added members":   {"channel.membersAdded", events.KindChannel, channel + `}`, inChannel + `, "adderId": "sender"}`},
		"removed members": {"channel.membersRemoved", events.KindChannel, channel + `}`, inChannel + `, "removerId": "sender"}`},
		"banned members":  {"channel.banned", events.KindChannel, channel + `}`, inChannel + `, "actorId": "sender"}`},
		"follow": {
			"follow.created", events.KindFollow, `{"follows": [{"from": "a", "to": "b"}]}`,
			`{"follows": [{"from": "a", "to": "b"}], "from": "a", "to": "b"}`,
		},
		"flagged post":      {"post.flagged", events.KindPost, `{"posts": []}`, `{"posts": [], "flaggedUserId": "sender"}`},
		"unflagged post":    {"post.unflagged", events.KindPost, `{}`, `{"flaggedUserId": "sender"}`},
		"flagged comment":   {"comment.flagged", events.KindComment, `{}`, `{"flaggedUserId": "sender"}`},
		"unflagged comment": {"comment.unflagged", events.KindComment, `{}`, `{"flaggedUserId": "sender"}`},
		"updated post":      {"post.updated", events.KindPost, `{"posts": []}`, `{"posts": []}`},
		"flagged message":   {"message.flagged", events.KindMessage, `{}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var data map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(tc.data), &data))
			found, err := json.Marshal(withAliases(network.WebhookDelivery{Name: tc.event, SenderID: "sender"}, events.Change{Kind: tc.kind}, data))
			require.NoError(t, err)
			require.JSONEq(t, tc.want, string(found))
			given, err := json.Marshal(data)
			require.NoError(t, err)
			require.JSONEq(t, tc.data, string(given), "the data may be shared")
		})
	}
	require.Equal(t, "first", pathOf(events.Change{Topics: []string{"first", "second"}}))
	require.Empty(t, pathOf(events.Change{}))
}
