package file

import (
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/media"
)

// videoUses are the uses of videos whose settings have another name.
var videoUses = map[string]string{"": "post", "chat": "message"}

// requireVideosAllowed returns 400300 for videos of a use for which the network does not allow any. There are no settings for
// clips.
func (u *Upload) requireVideosAllowed(feedType string) error {
	use := feedType
	if name, ok := videoUses[feedType]; ok {
		use = name
	}
	rules, ok := u.videos[use]
	if ok && !rules.Allowed && slices.ContainsFunc(u.files, func(f media.File) bool { return f.Type == "video" }) {
		return fail.Forbidden(fmt.Sprintf("This network does not allow videos for the feedType %s", use))
	}
	return nil
}
