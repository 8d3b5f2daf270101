package flag

import (
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
)

var errTwoPlaces = fail.Validation("communityId: cannot be given together with channelId")

// placeFilter is the part of a request that selects the items of one place.
type placeFilter interface {
	GetCommunityId() string
	GetChannelId() string
}

// readPlace adds to a request the checks that the caller may see the items of a place, or of all places if the filter
// names none. It returns the internal id of the place.
func readPlace(r *service.Request, filter placeFilter) string {
	switch communityID, channelID := filter.GetCommunityId(), filter.GetChannelId(); {
	case communityID != "" && channelID != "":
		r.Check(func() error { return errTwoPlaces })
	case communityID != "":
		target := &visibility.Target{}
		visibility.ReadTarget(r, "community", communityID, target)
		r.Check(func() error { return requireCommunity(r.Caller, *target) })
		return communityID
	case channelID != "":
		access := &chat.Access{}
		chat.ReadChannel(r, channelID, access)
		r.Check(func() error { return requireChannel(r.Caller, *access) })
		return chat.ChannelID(r.Deps, channelID)
	default:
		r.Check(func() error { return auth.Require(r.Caller, auth.ViewModerationFeed, auth.Scope{}) })
	}
	return ""
}

// requireCommunity returns an error unless the caller may see the items of a community.
func requireCommunity(caller *auth.Caller, target visibility.Target) error {
	if err := target.RequireSee(caller); err != nil {
		return err
	}
	if auth.Allowed(caller, auth.ViewModerationFeed, auth.Scope{}) {
		return nil
	}
	return auth.Require(caller, auth.ModeratePostAndComment, target.Scope(""))
}

// requireChannel returns an error unless the caller may see the items of a channel.
func requireChannel(caller *auth.Caller, access chat.Access) error {
	if auth.Allowed(caller, auth.ViewModerationFeed, auth.Scope{}) {
		return access.CanSee(caller)
	}
	return access.RequireModerate(caller, auth.DeleteMessage)
}
