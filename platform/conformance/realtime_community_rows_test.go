package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// topicAbove returns the part of a path before one of its levels.
func topicAbove(path, level string) string {
	above, _, _ := strings.Cut(path, level)
	return above
}

// awaitRefusal waits until a principal may not subscribe to topics with the connection that did before: what a server has read of its
// access is kept for a moment.
func (w *eventWalk) awaitRefusal(t *testing.T, who principal, topics ...string) {
	t.Helper()
	for _, l := range w.present {
		for _, topic := range topics {
			if l.who == who {
				refused := func() bool { return !l.mqtt.Subscribe(t, topic) }
				require.Eventually(t, refused, apptest.Patience, 50*time.Millisecond, "%s subscribes to %s", who, topic)
			}
		}
	}
}

// communityMembers are the principals who are members of a community when they subscribe.
var communityMembers = []principal{stranger, member, moderator, bannedMember, author, mutedUser, blockedUser}

// newClub creates a community with its members.
func (w *eventWalk) newClub(t *testing.T, public bool, fields ...object) string {
	t.Helper()
	boss := w.users[owner]
	fields = append(fields, object{"isPublic": public, "userIds": userIDs(w.all(communityMembers...)...)})
	id := newCommunity(t, boss, fields...)
	promote(t, boss, id, w.users[moderator])
	return id
}

// enterClub has all principals listen to topics of a community, and then removes one of them and bans one.
func (w *eventWalk) enterClub(t *testing.T, id string, topics map[string]audience) {
	t.Helper()
	boss := w.users[owner]
	w.enter(t, place{topics: topics, settles: func() {
		w.settle(t, func() { w.call(t, boss, "MemberService/RemoveMembers", w.members(id, stranger)) }, "community.userRemoved")
		w.settle(t, func() { w.call(t, boss, "MemberService/BanMembers", w.members(id, bannedMember)) }, "community.userBanned")
	}})
}

// inClub are those who may read what is published in a community.
func (w *eventWalk) inClub(t *testing.T, id string) audience {
	t.Helper()
	return readersOf(t, postsPath+"?targetType=community&targetId="+id)
}

// enterCommunity creates a community and has all principals listen to everything in it. It returns its id.
func (w *eventWalk) enterCommunity(t *testing.T, public bool, fields ...object) string {
	t.Helper()
	id := w.newClub(t, public, fields...)
	w.enterClub(t, id, map[string]audience{communityTopic(w.users[owner], id) + "/#": w.inClub(t, id)})
	return id
}

// members builds a request for a member of a community.
func (w *eventWalk) members(communityID string, who principal) object {
	return object{"communityId": communityID, "userIds": userIDs(w.users[who])}
}

// walkCommunity are the events of a community and of its content.
func walkCommunity(t *testing.T, w *eventWalk, public bool) {
	t.Helper()
	id := w.enterCommunity(t, public)
	p := contentPlace{targetType: "community", targetID: id, cleaner: w.users[moderator], cleans: only(moderator), teller: w.users[owner]}
	walkPosts(t, w, p)
	walkComments(t, w, p)
	walkStories(t, w, p)
	walkMeetings(t, w, p)
	walkMembers(t, w, id, public)
}

// walkMembers are the events about a community and its members, who receive what concerns them also when it ends their access.
func walkMembers(t *testing.T, w *eventWalk, id string, public bool) {
	t.Helper()
	boss, own := w.users[owner], w.users[newcomer]
	sees := w.inClub(t, id)
	told := sees.and(only(newcomer))
	role := with(w.members(id, newcomer), object{"roles": []string{"community-moderator"}})
	for _, row := range []struct {
		by        *apptest.Client
		operation string
		body      object
		name      string
	}{
		{boss, "AddMembers", w.members(id, newcomer), "community.userAdded"},
		{boss, "AddMemberRoles", role, "community.roleAdded"},
		{boss, "RemoveMemberRoles", role, "community.roleRemoved"},
		{own, "LeaveCommunity", object{"communityId": id}, "community.left"},
		{boss, "AddMembers", w.members(id, newcomer), "community.userAdded"},
		{boss, "RemoveMembers", w.members(id, newcomer), "community.userRemoved"},
		{boss, "BanMembers", w.members(id, newcomer), "community.userBanned"},
		{boss, "UnbanMembers", w.members(id, newcomer), "community.userUnbanned"},
	} {
		w.happens(t, func() { w.call(t, row.by, "MemberService/"+row.operation, row.body) }, event{row.name, told})
	}
	if public {
		w.happens(t, func() { w.call(t, own, "MemberService/JoinCommunity", object{"communityId": id}) }, event{"community.joined", told})
	}
	w.happens(t, func() {
		w.call(t, boss, "CommunityService/UpdateCommunity", object{"communityId": id, "displayName": "new"})
	}, event{"community.updated", sees})
	w.happens(t, func() { w.call(t, boss, "CommunityService/DeleteCommunity", object{"communityId": id}) }, event{"community.deleted", sees})
	create := func() {
		boss.Do(t, http.MethodPost, communitiesPath, object{"displayName": "another", "isPublic": public}).OK(t)
	}
	w.happens(t, create, event{"community.created", only(owner)}) // before others can subscribe
}
