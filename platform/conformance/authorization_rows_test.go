package conformance

import (
	"slices"
	"testing"
)

// authorizationRows says for every operation who may call it. A new service adds its rows here.
func authorizationRows() []row {
	return slices.Concat(
		sessionRows(), userRows(), userFlagRows(), followRows(), roleRows(),
		settingRows(), moderationListRows(), categoryRows(),
		communityRows(), memberRows(), joinRequestRows(), invitationRows(),
		postRows(), postFlagRows(), commentRows(), commentFlagRows(), reactionRows(), pollRows(), pinRows(), scheduleRows(), feedRows(),
		storyRows(), liveRows(), fileRows(),
		channelRows(), messageRows(), markerRows(),
	)
}

// nothing is a request without fields.
func noFields(*testing.T, *fixture) object { return object{} }

// in makes a request about a community: the open one, or the private one.
func aCommunity(field string, private bool) func(*testing.T, *fixture) object {
	return func(_ *testing.T, g *fixture) object {
		if private {
			return object{field: g.private}
		}
		return object{field: g.open}
	}
}

// somebody makes a request about a user, new each time.
func aUser(field string, more ...object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(object{field: g.user(t).UserID}, more...)
	}
}

// readable are the verdicts on reading what stands in the private community.
var communityReaders = codesFor(400301, 0, 0, 400304, 0)

// changed gives a request about a post or comment another text.
func changed(request func(*testing.T, *fixture) object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(request(t, g), object{"data": object{"text": "other words"}})
	}
}
