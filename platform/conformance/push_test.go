package conformance

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	devicePath  = "/v1/notification"
	settingPath = "/api/v3/notification/setting"
)

// pushed is what the tests look at of a push notification.
type pushed struct {
	Provider, Token, Title, Body string
	Data                         map[string]string
}

// pushesTo returns the notifications that were pushed to a token by the servers of a region, the first one first. One that was sent
// again has the same id, by which the device shows it once, and counts once.
func pushesTo(t *testing.T, code region.Code, token string) []pushed {
	t.Helper()
	return pushesOn(t, apptest.Shared(t), code, token)
}

// pushesOn is pushesTo for a network.
func pushesOn(t *testing.T, n *apptest.Network, code region.Code, token string) []pushed {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.OpsURL(code)+"/pushes", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var all struct {
		Pushes []struct {
			pushed

			ID string
		}
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&all))
	var to []pushed
	sent := map[string]bool{}
	for _, p := range slices.Backward(all.Pushes) {
		require.NotEmpty(t, p.ID)
		if p.Token == token && !sent[p.ID] {
			sent[p.ID] = true
			to = append(to, p.pushed)
		}
	}
	return to
}

// deviceToken returns the token of the device of a client in these tests.
func deviceToken(c *apptest.Client) string { return "token-of-" + c.UserID }

// register registers a device for a client.
func register(t *testing.T, clients ...*apptest.Client) {
	t.Helper()
	for _, c := range clients {
		c.Do(t, http.MethodPost, devicePath, object{
			"userId": c.UserID, "deviceId": "as a public client names it", "platform": "android",
			"token": deviceToken(c),
		}).OK(t)
	}
}

// requirePushes waits until exactly these texts were pushed to a client of a region, in any order of the same time.
func requirePushes(t *testing.T, code region.Code, c *apptest.Client, want ...string) []pushed {
	t.Helper()
	var got []pushed
	require.Eventually(t, func() bool {
		got = pushesTo(t, code, deviceToken(c))
		return len(got) >= len(want)
	}, apptest.Patience, 50*time.Millisecond, "want %v, got %v", want, got)
	texts := make([]string, len(got))
	for i, p := range got {
		texts[i] = p.Title + " | " + p.Body
	}
	require.ElementsMatch(t, want, texts)
	return got
}

// TestPushes does across regions what is pushed, and checks the devices of those whom it concerns.
func TestPushes(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us, "Eva": eu, "Sam": sg})
	community := newCommunity(t, us, object{"displayName": "Climbers"})
	join(t, community, eu, sg)
	register(t, us, eu, sg)

	post := newPost(t, eu, community, mentioning(us), object{"data": object{"text": "Off to\n the crag"}})
	requirePushes(t, region.US, us, "Eva | Mentioned you in a post")
	got := requirePushes(t, region.SG, sg, "Climbers | Eva: Off to the crag")
	require.Equal(t, pushed{
		Provider: "fcm", Token: deviceToken(sg), Title: "Climbers", Body: "Eva: Off to the crag",
		Data: map[string]string{"targetType": "community", "targetId": community, "postId": post},
	}, got[0])
	newComment(t, us, post)
	requirePushes(t, region.EU, eu, "Uma | Commented on your post")
	follow(t, sg, us)
	requirePushes(t, region.US, us, "Eva | Mentioned you in a post", "Sam | Started following you")
	require.Len(t, pushesTo(t, region.EU, deviceToken(eu)), 1, "users are not told about what they did themselves")
}

// TestPushesOfItemsInACommunity checks that the settings of a community apply to what a user's tray has of it.
func TestPushesOfItemsInACommunity(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us, "Sam": sg})
	community := newCommunity(t, us)
	join(t, community, eu, sg)
	post, wall := newPost(t, eu, community), newWallPost(t, eu)
	register(t, eu)
	eu.Do(t, http.MethodPost, settingPath, object{"level": "community", "communityId": community, "notifiableEvents": []object{
		{"name": "post.reacted", "isPushNotifiable": false},
		{"name": "comment.created", "isPushNotifiable": true, "listenFromRoleIds": []string{"community-moderator"}},
	}}).OK(t)
	react := func(by *apptest.Client, id string) {
		t.Helper()
		by.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": id, "referenceType": "post", "reactionName": "like"}).OK(t)
	}
	react(us, post)
	requireTray(t, eu, trayItem{"reaction_on_post", "reaction", post, "Uma reacted to your post", 1})
	newComment(t, sg, post)
	require.Eventually(t, func() bool { return len(trayOf(t, eu)) == 2 }, apptest.Patience, 20*time.Millisecond)
	newComment(t, us, post)
	react(sg, wall)
	requirePushes(t, region.EU, eu, "Uma | Commented on your post", "Sam | Reacted to your post")
}

// TestPushesOfMessages checks who is told about a message in a conversation, and what decides it.
func TestPushesOfMessages(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us, "Eva": eu})
	r := us.Do(t, http.MethodPost, "/api/v3/channels/conversation",
		object{"userIds": []string{eu.UserID, sg.UserID}, "isDistinct": true}).OK(t)
	channel, feed := r.String(t, "channels.0.channelId"), r.String(t, "channels.0.channelInternalId")
	register(t, us, eu, sg)
	// Sam has no settings. What was pushed to Sam shows that a message was delivered before the next setting.
	var toSam []string
	say := func(by *apptest.Client, text string) {
		t.Helper()
		names := map[*apptest.Client]string{us: "Uma", eu: "Eva"}
		defer func() {
			t.Helper()
			toSam = append(toSam, names[by]+" | "+text)
			requirePushes(t, region.SG, sg, toSam...)
		}()
		by.Do(t, http.MethodPost, "/api/v5/messages", object{"messageFeedId": feed, "dataType": "text", "data": object{"text": text}}).OK(t)
	}
	set := func(fields object) {
		t.Helper()
		eu.Do(t, http.MethodPost, settingPath, fields).OK(t)
	}
	say(us, "Hello")
	got := requirePushes(t, region.EU, eu, "Uma | Hello")
	require.Equal(t, channel, got[0].Data["channelId"])
	set(object{"level": "channel", "channelId": channel, "isPushNotifiable": false})
	say(us, "not told: the channel is off")
	set(object{
		"level": "channel", "channelId": channel, "isPushNotifiable": true,
		"notifiableEvents": []object{{"name": "conversation-text-message.created", "isPushNotifiable": false}},
	})
	say(us, "not told: the event is off")
	set(object{
		"level": "channel", "channelId": channel,
		"notifiableEvents": []object{{"name": "conversation-text-message.created", "isPushNotifiable": true}},
	})
	set(object{"level": "user", "notifiableEvents": []object{{"moduleName": "chat", "isPushNotifiable": false}}})
	say(us, "not told: the module is off")
	set(object{
		"level": "user",
		"notifiableEvents": []object{{
			"moduleName": "chat", "isPushNotifiable": true,
			"ignoreFromRoleIds": []string{"channel-member", "channel-moderator"},
		}},
	})
	say(us, "not told: the role is ignored")
	set(object{"level": "user", "isPushNotifiable": false, "notifiableEvents": []object{{"name": "chat", "isPushNotifiable": true}}})
	say(us, "not told: everything is off")
	set(object{"level": "user", "isPushNotifiable": true})
	eu.Do(t, http.MethodPost, archivesPath+"/"+channel, nil).OK(t)
	say(us, "not told: the channel is archived")
	eu.Do(t, http.MethodDelete, archivesPath+"/"+channel, nil).OK(t)
	say(eu, "Hi")
	say(us, "Told again")
	requirePushes(t, region.US, us, "Eva | Hi")
	requirePushes(t, region.EU, eu, "Uma | Hello", "Uma | Told again")
}

// TestDevicesEnd checks that nothing is pushed to a device that was unregistered, signed out, or is another user's now, and to those
// of users who are banned from the network.
func TestDevicesEnd(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us})
	community := newCommunity(t, us, object{"displayName": "Ends"})
	join(t, community, eu, sg)
	register(t, eu, sg)
	newPost(t, us, community, object{"data": object{"text": "first"}})
	requirePushes(t, region.EU, eu, "Ends | Uma: first")
	requirePushes(t, region.SG, sg, "Ends | Uma: first")

	eu.Do(t, http.MethodDelete, devicePath, object{"deviceId": object{}}).OK(t) // as the public client does, whose id is a promise
	last := newUser(t, region.EU, "last")
	join(t, community, last)
	last.Do(t, http.MethodPost, devicePath, object{"platform": "ios", "token": deviceToken(last)}).OK(t)
	banned := newUser(t, region.EU, "banned")
	join(t, community, banned)
	register(t, banned)
	admin(t).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": banned.UserID}).OK(t)
	sg.Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t)
	require.Equal(t, "0", queryText(t, apptest.Shared(t), "SELECT count(*)::text FROM push_devices WHERE user_id = '"+sg.InternalID+"'"))
	newPost(t, us, community, object{"data": object{"text": "second"}})
	got := requirePushes(t, region.EU, last, "Ends | Uma: second")
	require.Equal(t, "apns", got[0].Provider)
	us.Do(t, http.MethodPost, devicePath, object{"platform": "ios", "token": deviceToken(last)}).OK(t)
	register(t, eu)
	newPost(t, us, community, object{"data": object{"text": "third"}})
	requirePushes(t, region.EU, eu, "Ends | Uma: first", "Ends | Uma: third")
	requirePushes(t, region.EU, last, "Ends | Uma: second")
	requirePushes(t, region.SG, sg, "Ends | Uma: first")
	require.Empty(t, pushesTo(t, region.EU, deviceToken(banned)))
}

// TestUnregisterOtherDevice ends the pushes to a device of the user that is named, and then those to the device of the session.
func TestUnregisterOtherDevice(t *testing.T) {
	t.Parallel()
	user := apptest.UserID("owner")
	tokens := func() string {
		return queryText(t, apptest.Shared(t),
			"SELECT COALESCE(string_agg(token, ' ' ORDER BY token), '') FROM push_devices WHERE token LIKE '"+user+"%'")
	}
	var sessions []*apptest.Client
	for _, name := range []string{"one", "two"} {
		c := signInOn(t, region.EU, user, user+name)
		c.Do(t, http.MethodPost, devicePath, object{"platform": "android", "token": user + name}).OK(t)
		sessions = append(sessions, c)
	}
	require.Equal(t, user+"one "+user+"two", tokens())
	sessions[1].Do(t, http.MethodDelete, devicePath, object{"deviceId": "unknown"}).OK(t)
	sessions[1].Do(t, http.MethodDelete, devicePath, object{"deviceId": user + "one"}).OK(t)
	require.Equal(t, user+"two", tokens())
	sessions[1].Do(t, http.MethodDelete, devicePath, nil).OK(t)
	require.Empty(t, tokens())
}

func TestRegisterDeviceChecks(t *testing.T) {
	t.Parallel()
	c := newUser(t, region.US, "device")
	valid := func(change object) object {
		return with(object{"userId": c.UserID, "platform": "android", "token": "t"}, change)
	}
	require.JSONEq(t, `{"status":"success","success":true,"data":{"success":true}}`,
		string(c.Do(t, http.MethodPost, devicePath, valid(nil)).OK(t).Body))
	for field, value := range map[string]any{
		"platform": "windows", "token": strings.Repeat("x", 1001), "provider": "mail",
		"deviceId": strings.Repeat("x", 151), "userId": strings.Repeat("x", 51),
	} {
		requireFailure(t, invalid(field), c.Do(t, http.MethodPost, devicePath, valid(object{field: value})))
	}
	requireFailure(t, invalid("token"), c.Do(t, http.MethodPost, devicePath, valid(object{"platform": "web"})))
	requireFailure(t, notAllowed, c.Do(t, http.MethodPost, devicePath, valid(object{"userId": "another"})))
	c.Do(t, http.MethodPost, devicePath,
		valid(object{"platform": "web", "token": `{"endpoint": "https://push.example/1", "keys": {"auth": "YQ", "p256dh": "YQ"}}`})).OK(t)
}

// TestNotificationSettings checks what settings show, and whose settings cannot be read.
func TestNotificationSettings(t *testing.T) {
	t.Parallel()
	c, other := newUser(t, region.SG, "settings"), newUser(t, region.EU, "other")
	community := newCommunity(t, other)
	get := func(query string) *apptest.Response { return c.Do(t, http.MethodGet, settingPath+"?"+query, nil) }
	r := get("level=user").OK(t)
	require.Equal(t, []string{"chat", "social", "video-streaming"}, r.Strings(t, "notifiableEvents", "moduleName"))
	require.True(t, r.Bool(t, "isPushNotifiable") && r.Bool(t, "isUserEnabled"))
	c.Do(t, http.MethodPost, settingPath, object{"level": "community", "communityId": community, "notifiableEvents": []object{
		{"name": "post.created", "isPushNotifiable": true, "listenFromRoleIds": []string{"community-moderator"}},
		{"name": "post.reacted", "isPushNotifiable": false},
	}}).OK(t)
	c.Do(t, http.MethodPost, settingPath, object{"level": "user", "isPushNotifiable": false}).OK(t)
	r = get("level=community&communityId=" + community).OK(t)
	require.True(t, r.Bool(t, "isPushNotifiable"))
	require.False(t, r.Bool(t, "isUserEnabled"))
	event := r.List(t, "notifiableEvents")[0]
	require.Equal(t, object{
		"name": "post.created", "moduleName": "social", "isPushNotifiable": true, "isNetworkEnabled": true,
		"listenFromRoleIds": []any{"community-moderator"}, "ignoreFromRoleIds": []any{},
	}, event.(map[string]any))
	require.False(t, r.Bool(t, "notifiableEvents.1.isPushNotifiable"))
	require.True(t, c.At(region.US).Do(t, http.MethodGet, settingPath+"?level=user", nil).OK(t).Has(t, "isPushNotifiable"))

	secret := newCommunity(t, other, object{"isPublic": false, "isDiscoverable": false})
	requireFailure(t, notFound, get("level=community&communityId="+secret))
	requireFailure(t, notFound, get("level=channel&channelId=unknown"))
	requireFailure(t, invalid("communityId"), get("level=community"))
	requireFailure(t, invalid("channelId"), get("level=channel"))
	requireFailure(t, invalid("level"), get("level=post"))
	requireFailure(t, invalid("notifiableEvents"),
		c.Do(t, http.MethodPost, settingPath, object{
			"level": "community", "communityId": community,
			"notifiableEvents": []object{{"moduleName": "chat"}},
		}))
	requireFailure(t, invalid("notifiableEvents[0].name"),
		c.Do(t, http.MethodPost, settingPath, object{"level": "user", "notifiableEvents": []object{{"name": "unknown"}}}))
}

// TestPushesToManyMembers checks that members beyond the 500 who are notified by one outbox row are notified of a post and a message.
func TestPushesToManyMembers(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	us, eu, sg := newUserPerRegion(t, n) // in the order of their ids
	rename(t, map[string]*apptest.Client{"Uma": us})
	community := newCommunity(t, us, object{"displayName": "Crowd"})
	join(t, community, eu, sg)
	channel := us.Do(t, http.MethodPost, channelsPath,
		object{"type": "community", "displayName": "Hall", "userIds": []string{eu.UserID, sg.UserID}}).OK(t)
	register(t, sg)
	conn, ids := connectTo(t, n), map[string]string{"user_id": copyID("user_id"), "user_public_id": copyID("user_id")}
	copyRowTimes(t, conn, 600, "community_members", "community_id = '"+community+"' AND user_id = '"+eu.InternalID+"'", ids, nil)
	copyRowTimes(t, conn, 600, "channel_users",
		"channel_id = '"+channel.String(t, "channels.0.channelInternalId")+"' AND user_id = '"+eu.InternalID+"'", ids, nil)
	newPost(t, us, community, object{"data": object{"text": "Hello all"}})
	requirePushes(t, region.SG, sg, "Crowd | Uma: Hello all")
	us.Do(t, http.MethodPost, "/api/v5/messages",
		object{"messageFeedId": channel.String(t, "channels.0.channelInternalId"), "dataType": "text", "data": object{"text": "Welcome"}}).OK(t)
	requirePushes(t, region.SG, sg, "Crowd | Uma: Hello all", "Hall | Uma: Welcome")
}

// TestPushesOfReviews checks what moderators and authors are told about posts that await review, and the modes of communities.
func TestPushesOfReviews(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us, "Eva": eu})
	community := newCommunity(t, us, object{"displayName": "Reviewed", "needApprovalOnPostCreation": true})
	join(t, community, eu, sg)
	register(t, us, eu, sg)
	post := newPost(t, eu, community, object{"data": object{"text": "Look"}})
	requirePushes(t, region.US, us, "Reviewed | Eva: Look")
	us.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/approve", nil).OK(t)
	requirePushes(t, region.EU, eu, "Reviewed | Your post was approved")
	requirePushes(t, region.SG, sg, "Reviewed | Eva: Look")
	// Sam subscribes first. What is pushed to Sam shows that a post was delivered before Eva subscribes.
	subscribe := func(c *apptest.Client) {
		t.Helper()
		c.Do(t, http.MethodPost, settingPath, object{"level": "community", "communityId": community, "isPushNotifiable": true}).OK(t)
	}
	subscribe(sg)
	us.Do(t, http.MethodPut, "/api/v3/communities/"+community, object{
		"communityId": community, "notificationMode": "subscribe", "needApprovalOnPostCreation": false,
	}).OK(t)
	newPost(t, us, community, object{"data": object{"text": "One subscriber"}})
	requirePushes(t, region.SG, sg, "Reviewed | Eva: Look", "Reviewed | Uma: One subscriber")
	subscribe(eu)
	newPost(t, us, community, object{"data": object{"text": "Subscribed"}})
	requirePushes(t, region.EU, eu, "Reviewed | Your post was approved", "Reviewed | Uma: Subscribed")
}
