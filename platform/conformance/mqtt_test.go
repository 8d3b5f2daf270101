package conformance

import (
	"net/http"
	"slices"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// connected returns a connection with subscriptions, whose events are compared with those of a stream.
func connected(t *testing.T, c *apptest.Client, filters ...string) *apptest.MQTTClient {
	t.Helper()
	return c.ConnectMQTT(t).RequireSubscribe(t, filters...).Compare(t, c, filters...)
}

// communityTopic returns the topic of a community.
func communityTopic(c *apptest.Client, id string) string {
	return c.Network.NetworkID + "/social/community/" + id
}

// TestMQTTPostEvents has users of every region connected in every region.
func TestMQTTPostEvents(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	community := newCommunity(t, author)
	topic := communityTopic(author, community)
	var readers []*apptest.MQTTClient
	for i, code := range region.All() {
		reader := newUser(t, code, "reader")
		abroad := reader.At(region.All()[(i+1)%len(region.All())])
		readers = append(readers, connected(t, reader, topic+"/post/+"), connected(t, abroad, topic+"/#"))
	}
	post := newPost(t, author, community)
	author.Do(t, http.MethodPut, "/api/v4/posts/"+post, object{"data": object{"text": "edited"}}).OK(t)
	author.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": post, "reactionName": "like"}).OK(t)
	author.Do(t, http.MethodDelete, "/api/v2/reactions", object{"referenceType": "post", "referenceId": post, "reactionName": "like"}).OK(t)
	author.Do(t, http.MethodDelete, "/api/v3/posts/"+post, nil).OK(t)
	for _, reader := range readers {
		for _, name := range []string{"post.created", "post.updated", "post.addReaction", "post.removeReaction", "post.deleted"} {
			e := next(t, reader)
			require.Equal(t, name, e.EventType)
			require.Equal(t, topic+"/post/"+post, e.Topic)
			require.Equal(t, e.Topic, e.Path)
			require.Equal(t, author.InternalID, e.SenderID)
			r := e.Response()
			require.Equal(t, post, r.String(t, "data.posts.0.postId"))
			require.Equal(t, community, r.String(t, "data.communities.0.communityId"))
			if name == "post.addReaction" {
				require.Equal(t, "like", r.String(t, "data.reactor.reactionName"))
				require.Equal(t, author.UserID, r.String(t, "data.reactor.userId"))
			}
		}
	}
}

// TestMQTTRefusals lists who may not connect, and what users may not subscribe to.
func TestMQTTRefusals(t *testing.T) {
	t.Parallel()
	user, other := newUser(t, region.US, "user"), newUser(t, region.EU, "other")
	for name, change := range map[string]func(*mqtt.ClientOptions){
		"no token":             func(o *mqtt.ClientOptions) { o.SetPassword("") },
		"another user's token": func(o *mqtt.ClientOptions) { o.SetPassword(other.Token) },
		"the public id":        func(o *mqtt.ClientOptions) { o.SetUsername(user.UserID) },
		"an administrator": func(o *mqtt.ClientOptions) {
			o.SetPassword(admin(t).Token)
		},
	} {
		o := user.MQTTOptions()
		change(o)
		token := mqtt.NewClient(o).Connect()
		token.Wait()
		require.Error(t, token.Error(), name)
	}
	private := newCommunity(t, other, object{"isPublic": false})
	channel := newChatOf(t, other, object{"isPublic": false})
	n := user.Network.NetworkID
	m := user.ConnectMQTT(t)
	for _, filter := range []string{
		"#", "+/#", "other/#", n + "/#", n + "/+", n + "/social/#", n + "/social/community/+/post/+", "$SYS/#", "$share/g/" + n,
		communityTopic(user, private), communityTopic(user, private) + "/post/#", n + "/chat/" + channel.id + "/#",
		n + "/smartfeed/" + other.InternalID + "/messages", n + "/marker/user/" + other.InternalID,
		n + "/membership/" + other.InternalID + "/+/+",
		n + "/membership/+/+/+", n + "/user/+",
	} {
		require.False(t, m.Subscribe(t, filter), filter)
	}
	for _, filter := range []string{
		n, n + "/user/" + user.InternalID, n + "/user/" + other.InternalID, n + "/videostreaming", n + "/marker/user/" + user.InternalID,
		n + "/smartfeed/" + user.InternalID + "/channels", n + "/membership/" + user.InternalID + "/+/+",
		n + "/membership/+/" + user.InternalID + "/+",
		n + "/social/user/" + other.InternalID + "/post/+",
	} {
		require.True(t, m.Subscribe(t, filter), filter)
	}
}

// TestMQTTAccessEnds subscribes to a private community, and checks that nothing arrives after the membership or the
// session has ended.
func TestMQTTAccessEnds(t *testing.T) {
	t.Parallel()
	owner, member, removed := newUser(t, region.EU, "owner"), newUser(t, region.SG, "member"), newUser(t, region.EU, "removed")
	community := newCommunity(t, owner, object{"isPublic": false})
	add(t, owner, community, member, removed)
	topic := communityTopic(owner, community)
	stays := member.ConnectMQTT(t).RequireSubscribe(t, topic+"/post/#")
	leaves := removed.ConnectMQTT(t).RequireSubscribe(t, topic+"/post/#", owner.Network.NetworkID+"/user/"+removed.InternalID)
	first := newPost(t, owner, community)
	e, _ := leaves.Until(t, "post.created")
	require.Equal(t, first, e.Response().String(t, "data.posts.0.postId"))
	owner.Do(t, http.MethodDelete, "/api/v3/communities/"+community+"/users", object{"userIds": userIDs(removed)}).OK(t)
	leaves.Until(t, "community.userRemoved")
	require.Eventually(t, func() bool { return !leaves.Subscribe(t, topic+"/post/+") }, apptest.Patience, 100*time.Millisecond,
		"access is kept for two seconds")
	require.Eventually(t, func() bool { // posts of that time may still arrive
		post := newPost(t, owner, community)
		removed.Do(t, http.MethodPut, "/api/v3/users", object{"userId": removed.UserID, "displayName": "Again"}).OK(t)
		_, before := leaves.Until(t, "user.updated") // from the same log as that of the post
		return !slices.ContainsFunc(before, func(e apptest.MQTTEvent) bool { return e.Response().String(t, "data.posts.0.postId") == post })
	}, apptest.Patience, 100*time.Millisecond)
	_, _ = stays.Until(t, "post.created")
	member.Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t)
	<-stays.Lost
}
