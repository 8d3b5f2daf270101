package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestBlankNamesAreRefused checks that ids and names need a visible character.
func TestBlankNamesAreRefused(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	author := newUser(t, region.EU, "author")
	id := newPost(t, author, newCommunity(t, author))
	device := n.Anonymous(region.EU).With("x-api-key", n.APIKey)
	for _, blank := range []string{" ", "   ", "\t\n", "\u00a0\u2003"} {
		requireFailure(t, invalid("userId"), device.Do(t, http.MethodPost, "/api/v5/sessions", object{"userId": blank, "deviceId": "d"}))
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			body := object{"referenceType": "post", "referenceId": id, "reactionName": blank}
			requireFailure(t, invalid("reactionName"), author.Do(t, method, "/api/v2/reactions", body))
		}
	}
	author.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": id, "reactionName": " like it "}).OK(t)
}
