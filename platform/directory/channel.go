package directory

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
)

// ChannelID returns the internal id of the channel with an id chosen by a client. It is derived from the keyed hash,
// which also determines the home: every server finds the channel without a lookup, and public ids are unique.
func (d *Directory) ChannelID(publicID string) string {
	hash := d.named("channel", publicID)
	return region.DerivedID(deciding(hash), hash[1:])
}

// GuestID returns the internal id of a guest of a kind, who has no account, on a device.
func (d *Directory) GuestID(home region.Code, kind, deviceID string) string {
	return region.DerivedID(home, d.named(kind, deviceID))
}

// PostChannelID returns the internal id of the live channel of a post, which has the home of the post.
func (d *Directory) PostChannelID(postID string) string {
	home, _ := region.HomeOf(postID) // internal ids are valid
	return region.DerivedID(home, d.named("post", postID))
}

// ConversationID returns the internal id of the conversation of users, which does not depend on their order. Its home
// is that of the user with the smallest internal id. userIDs must not be empty.
func (d *Directory) ConversationID(userIDs []string) string {
	ids := slices.Compact(slices.Sorted(slices.Values(userIDs)))
	home, _ := region.HomeOf(ids[0]) // internal ids are valid
	return region.DerivedID(home, d.named("conversation", ids...))
}

// named returns a keyed hash that never equals that of a user id: user ids do not contain the separator byte.
func (d *Directory) named(kind string, texts ...string) []byte {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(kind + "\x00" + strings.Join(texts, "\x00")))
	return mac.Sum(nil)
}
