package directory

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
)

// ChannelID is the internal id of the channel to which a client gave an id. It is derived from the keyed hash, which names the
// home too: every server finds the channel without a look-up, and two of the same id cannot be.
func (d *Directory) ChannelID(publicID string) string {
	hash := d.named("channel", publicID)
	return region.DerivedID(deciding(hash), hash[1:])
}

// ConversationID is the internal id of the one conversation of users, whoever of them asks. It lives at the home of the first of
// them in the order of internal ids; there is at least one.
func (d *Directory) ConversationID(userIDs []string) string {
	ids := slices.Compact(slices.Sorted(slices.Values(userIDs)))
	home, _ := region.HomeOf(ids[0]) // internal ids are well formed
	return region.DerivedID(home, d.named("conversation", ids...))
}

// named is the keyed hash of what is no user id: no user id holds the byte that parts the texts.
func (d *Directory) named(kind string, texts ...string) []byte {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(kind + "\x00" + strings.Join(texts, "\x00")))
	return mac.Sum(nil)
}
