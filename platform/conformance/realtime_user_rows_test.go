package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/region"
)

// walkFollows are the events about follows, which only the two users receive.
func walkFollows(t *testing.T, w *eventWalk, _ bool) {
	t.Helper()
	by, other := w.users[stranger], w.users[author]
	requests := func(on bool) {
		w.n.Admin(region.EU).Do(t, http.MethodPut, socialPath, object{"isFollowWithRequestEnabled": on}).OK(t)
	}
	both := only(stranger, author)
	w.enter(t, place{topics: map[string]audience{
		w.n.NetworkID + "/membership/" + other.InternalID + "/+/+": only(author),
		w.n.NetworkID + "/membership/+/" + by.InternalID + "/+":    only(stranger),
	}})
	followed, follower := object{"userId": other.UserID}, object{"userId": by.UserID}
	act := func(who principal, operation, name string) {
		body := map[principal]object{stranger: followed, author: follower}[who]
		w.happens(t, func() { w.call(t, w.users[who], "FollowService/"+operation, body) }, event{name, both})
	}
	requests(true)
	act(stranger, "FollowUser", "follow.requested")
	act(stranger, "UnfollowUser", "follow.requestCanceled")
	act(stranger, "FollowUser", "follow.requested")
	act(author, "RemoveFollower", "follow.requestDeclined")
	act(stranger, "FollowUser", "follow.requested")
	act(author, "AcceptFollower", "follow.accepted")
	act(author, "RemoveFollower", "follow.followerDeleted")
	requests(false)
	act(stranger, "FollowUser", "follow.created")
	act(stranger, "UnfollowUser", "follow.unfollowed")
}

// walkProfiles are the events about a user, until the user is erased.
func walkProfiles(t *testing.T, w *eventWalk, _ bool) {
	t.Helper()
	user, admin := w.n.NewUser(t, region.SG, "profile").At(region.EU), w.n.Admin(region.EU)
	body := object{"userId": user.UserID}
	sees := readersOf(t, "/api/v3/users/"+user.UserID)
	w.enter(t, place{topics: map[string]audience{w.n.NetworkID + "/user/" + user.InternalID: sees}})
	flags := func(operation string) func() {
		return func() { w.call(t, w.users[member], "UserService/"+operation, body) }
	}
	w.happens(t, func() { w.call(t, user, "UserService/UpdateUser", with(body, object{"displayName": "new"})) }, event{"user.updated", sees})
	w.happens(t, flags("FlagUser"), event{"user.flagged", only(member)})
	w.happens(t, flags("UnflagUser"), event{"user.unflagged", only(member)})
	w.happens(t, flags("FlagUser"), event{"user.flagged", only(member)})
	w.happens(t, func() { w.call(t, admin, "UserService/ClearUserFlags", body) }, event{"user.flagCleared", only()})
	w.happens(t, func() { w.call(t, admin, "UserService/BanUser", body) }, event{"user.didGlobalBan", sees})
	w.happens(t, func() { w.call(t, admin, "ErasureService/EraseUser", body) }, event{"user.deleted", sees})
}
