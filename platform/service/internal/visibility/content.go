package visibility

import "github.com/plaza-social/plaza/platform/region"

// OnContent is the target type of posts on something that is kept outside the platform, such as an article, by an id of
// the client's.
//
// Such a post is stored at the home of its author: each home has one target of this type, without a row, and the
// client's id is the target's public id. Every caller may read these posts, every user may write them, and only the
// network's moderators moderate them.
const OnContent = "content"

// ContentTarget returns the internal id of the content target of a home; no random id equals it.
func ContentTarget(home region.Code) string { return region.FixedID(home) }
