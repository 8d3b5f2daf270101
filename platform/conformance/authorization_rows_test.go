package conformance

import (
	"slices"
	"testing"
)

// authorizationRows returns for every operation who may call it. A new service adds its rows here.
func authorizationRows() []row {
	return slices.Concat(
		sessionRows(), userRows(), userFlagRows(), erasureRows(), exportRows(), moveRows(), followRows(), roleRows(),
		settingRows(), moderationListRows(), flagRows(), categoryRows(), productRows(),
		communityRows(), memberRows(), joinRequestRows(), invitationRows(),
		postRows(), postFlagRows(), commentRows(), commentFlagRows(), reactionRows(), pollRows(), pinRows(), scheduleRows(), feedRows(),
		storyRows(), liveRows(), eventRows(), fileRows(),
		channelRows(), messageRows(), markerRows(), searchRows(), notificationRows(), linkPreviewRows(), webhookRows(),
	)
}

// noFields builds an empty request.
func noFields(*testing.T, *fixture) object { return object{} }

// aCommunity builds a request for the open or the private community.
func aCommunity(field string, private bool) func(*testing.T, *fixture) object {
	return func(_ *testing.T, g *fixture) object {
		if private {
			return object{field: g.private}
		}
		return object{field: g.open}
	}
}

// aUser builds a request for a new user.
func aUser(field string, more ...object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(object{field: g.user(t).UserID}, more...)
	}
}

// communityReaders are the result codes of reads in the private community.
var communityReaders = codesFor(400301, 0, 0, 400304, 0)

// changed adds a new text to a request for a post or comment.
func changed(request func(*testing.T, *fixture) object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(request(t, g), object{"data": object{"text": "other words"}})
	}
}
