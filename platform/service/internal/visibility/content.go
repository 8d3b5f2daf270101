package visibility

import "github.com/plaza-social/plaza/platform/region"

// OnContent is the target type of posts under something that is kept elsewhere, such as an article, by an id of the client's.
//
// Such posts live with their authors: each home has one target of this type, which is no row, and the client's id stands as the
// public id of the target. Everybody reads them, and every user writes some; there are no moderators but those of the network.
const OnContent = "content"

// ContentTarget is the internal id of a home's content: no random id is like it.
func ContentTarget(home region.Code) string { return region.FixedID(home) }
