package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/network"
)

// FuzzParseDeliveryID checks that an accepted id of a delivery is equal to the one of the delivery that it names.
func FuzzParseDeliveryID(f *testing.F) {
	for _, id := range []string{"", "us-4711", "us--1", "xx-1", "eu-99999999999999999999", "sg-", "us-0x1"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		home, seq, err := parseDeliveryID(id)
		if err != nil {
			return
		}
		require.Contains(t, region.All(), home)
		again, same, err := parseDeliveryID(deliveryID(located{network.WebhookDelivery{Seq: seq}, home}))
		require.NoError(t, err)
		require.Equal(t, home, again)
		require.Equal(t, seq, same)
	})
}
