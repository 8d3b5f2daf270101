package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestDeliveryAnswer checks each field of the answer about a delivery.
func TestDeliveryAnswer(t *testing.T) {
	t.Parallel()
	sent, at, expires := servicetest.Noon, servicetest.Noon.Add(time.Minute), servicetest.Noon.Add(time.Hour)
	d := located{home: region.SG, WebhookDelivery: network.WebhookDelivery{
		Seq: 4711, ID: "event", Name: "post.created", ObjectID: "object", SenderID: "sender", SentAt: sent, State: network.DeliveryWaiting,
		Attempts: 3,
		At:       at, ExpiresAt: expires, Status: 503, Error: "busy", TookMS: 70,
	}}
	require.Equal(t, &plazav1.WebhookDelivery{
		DeliveryId: "sg-4711", EventId: "event", Event: "post.created", ObjectId: "object", State: network.DeliveryWaiting, Attempts: 3,
		At: timestamppb.New(at), SentAt: timestamppb.New(sent), Status: 503, Error: "busy", DurationMilliseconds: 70,
	}, deliveryToProto(d))
}

// TestWebhookAnswer checks each field of the answer about a webhook.
func TestWebhookAnswer(t *testing.T) {
	t.Parallel()
	created, changed := servicetest.Noon, servicetest.Noon.Add(time.Minute)
	for _, enabled := range []bool{true, false} {
		h := network.Webhook{
			ID: "id", Name: "name", URL: "https://example.com", Events: []string{"post.created"}, Secret: []byte("secret"), IsEnabled: enabled,
			IsManaged: !enabled,
			CreatedAt: created, ChangedAt: changed, Origin: "eu",
		}
		require.Equal(t, &plazav1.Webhook{
			WebhookId: "id", Name: "name", Url: "https://example.com", Events: []string{"post.created"}, IsEnabled: enabled, IsManaged: !enabled,
			CreatedAt: timestamppb.New(created), UpdatedAt: timestamppb.New(changed),
		}, toProto(h))
	}
}
