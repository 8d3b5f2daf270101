package conformance

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestFormerMembersLoseTheirRooms takes a co-host's access to the community of a room in every way, and checks that the
// room is gone for them and that the media server's report with their key is refused. A ban from the network ends the
// key only, because it ends every call.
func TestFormerMembersLoseTheirRooms(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	media := mediaServer(n)
	for name, end := range map[string]func(boss, coHost *apptest.Client, community string){
		"banned": func(boss, coHost *apptest.Client, community string) { banMember(t, boss, community, coHost) },
		"removed": func(boss, coHost *apptest.Client, community string) {
			boss.Do(t, http.MethodDelete, membersPath(community), object{"userIds": []string{coHost.UserID}}).OK(t)
		},
		"left": func(_, coHost *apptest.Client, community string) {
			coHost.Do(t, http.MethodDelete, communitiesPath+"/"+community+"/leave", nil).OK(t)
		},
		"banned from the network": func(_, coHost *apptest.Client, _ string) {
			n.Admin(region.EU).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": coHost.UserID}).OK(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			host, coHost := n.NewUser(t, region.EU, "host"), n.NewUser(t, region.US, "cohost")
			community := newCommunity(t, host, object{"isPublic": false, "isDiscoverable": false, "userIds": []string{coHost.UserID}})
			id := text(newRoom(t, host, object{"type": "coHosts", "participants": []string{coHost.UserID}}), "roomId")
			host.Do(t, http.MethodPost, "/api/v4/posts", object{
				"targetType": "community", "targetId": community, "dataType": "room", "data": object{"text": "x", "roomId": id},
			}).OK(t)
			listed := func() []string {
				return coHost.Do(t, http.MethodGet, roomsPath+"?options[limit]=100", nil).OK(t).Strings(t, "rooms", "roomId")
			}
			_, key := sendCredentials(t, coHost, id)
			require.Contains(t, listed(), id)
			end(host, coHost, community)
			refused := media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport("started", key))
			requireFailure(t, forbidden, refused)
			if name != "banned from the network" {
				requireFailure(t, notFound, coHost.Do(t, http.MethodGet, roomsPath+"/"+id, nil))
				requireFailure(t, notFound, coHost.Do(t, http.MethodGet, roomsPath+"/"+id+"/token", nil))
				require.NotContains(t, listed(), id)
			}
			_, key = sendCredentials(t, host, id)
			media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport("started", key)).OK(t)
		})
	}
}

// TestBannedStreamerCannotStart checks the same for the creator of a video stream in a public community, who is banned
// from the community or from the network.
func TestBannedStreamerCannotStart(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	for name, ban := range map[string]func(boss, streamer *apptest.Client, community string){
		"from the community": func(boss, streamer *apptest.Client, community string) { banMember(t, boss, community, streamer) },
		"from the network": func(_, streamer *apptest.Client, _ string) {
			n.Admin(region.SG).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": streamer.UserID}).OK(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			boss, streamer := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "streamer")
			community := newCommunity(t, boss, object{"userIds": []string{streamer.UserID}})
			stream := newStream(t, streamer)
			id, key := text(stream, "streamId"), streamKey(t, stream)
			streamer.Do(t, http.MethodPost, "/api/v4/posts", object{
				"targetType": "community", "targetId": community, "dataType": "liveStream", "data": object{"text": "x", "streamId": id},
			}).OK(t)
			ban(boss, streamer, community)
			requireFailure(t, forbidden, mediaServer(n).Do(t, http.MethodPost, mediaStreamsPath+id+"/events",
				object{"event": "started", "streamKey": key}))
		})
	}
}

// TestBanEndsBroadcasts bans the creator of a live stream and a live room from the network. Both end, and those of others go
// on.
func TestBanEndsBroadcasts(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	admin := n.Admin(region.SG)
	states := func(stream, room string) [2]string {
		return [2]string{
			admin.Do(t, http.MethodGet, streamsPath+"/"+stream, nil).OK(t).String(t, "videoStreamings.0.status"),
			admin.Do(t, http.MethodGet, "/api/v1/rooms/"+room, nil).OK(t).String(t, "rooms.0.status"),
		}
	}
	broadcast := func(c *apptest.Client) (stream, room string) {
		row := newStream(t, c)
		stream = text(row, "streamId")
		mediaServer(n).Do(t, http.MethodPost, mediaStreamsPath+stream+"/events", object{"event": "started", "streamKey": streamKey(t, row)}).OK(t)
		return stream, text(newRoom(t, c), "roomId")
	}
	bad, good := n.NewUser(t, region.EU, "bad"), n.NewUser(t, region.EU, "good")
	badStream, badRoom := broadcast(bad)
	goodStream, goodRoom := broadcast(good)
	require.Equal(t, [2]string{"live", "idle"}, states(badStream, badRoom))
	admin.Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": bad.UserID}).OK(t)
	require.Equal(t, [2]string{"ended", "terminated"}, states(badStream, badRoom))
	require.Equal(t, [2]string{"live", "idle"}, states(goodStream, goodRoom))
	admin.Do(t, http.MethodPost, "/api/v2/users/unban", object{"userId": bad.UserID}).OK(t)
	require.Equal(t, [2]string{"ended", "terminated"}, states(badStream, badRoom), "they do not start again")
}

// TestCommunityBanEndsBroadcasts bans a streamer from a community whose home is elsewhere. The live stream and the room
// in it end; those in another community and those of another member go on.
func TestCommunityBanEndsBroadcasts(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	boss, bad, good := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "bad"), n.NewUser(t, region.US, "good")
	users := object{"userIds": []string{bad.UserID, good.UserID}}
	club, other := newCommunity(t, boss, users), newCommunity(t, boss, users)
	broadcast := func(c *apptest.Client, community string) (states func() []string) {
		stream, room := text(newStream(t, c), "streamId"), text(newRoom(t, c), "roomId")
		for dataType, data := range map[string]object{"liveStream": {"text": "x", "streamId": stream}, "room": {"text": "x", "roomId": room}} {
			c.Do(t, http.MethodPost, "/api/v4/posts",
				object{"targetType": "community", "targetId": community, "dataType": dataType, "data": data}).OK(t)
		}
		return func() []string {
			admin := n.Admin(region.SG)
			return []string{
				admin.Do(t, http.MethodGet, streamsPath+"/"+stream, nil).OK(t).String(t, "videoStreamings.0.status"),
				admin.Do(t, http.MethodGet, "/api/v1/rooms/"+room, nil).OK(t).String(t, "rooms.0.status"),
			}
		}
	}
	banned, elsewhere, others := broadcast(bad, club), broadcast(bad, other), broadcast(good, club)
	banMember(t, boss, club, bad)
	require.Equal(t, []string{"ended", "terminated"}, banned())
	require.Equal(t, []string{"idle", "idle"}, elsewhere())
	require.Equal(t, []string{"idle", "idle"}, others())
}

// TestBannedMemberReceivesNoEvents bans a member of a community and checks that events of the community do not reach the
// open event stream, which goes on with others.
func TestBannedMemberReceivesNoEvents(t *testing.T) {
	t.Parallel()
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	club, other := newCommunity(t, boss, object{"userIds": []string{member.UserID}}),
		newCommunity(t, boss, object{"userIds": []string{member.UserID}})
	events := member.Listen(t, addedStream, "")
	first := newUser(t, region.SG, "seen")
	add(t, boss, club, first)
	for users := []string(nil); !slices.Contains(users, first.UserID); { // events about the creation may come before
		_, users = addedTo(t, events.Next(t))
	}
	banMember(t, boss, club, member)
	require.Eventually(t, func() bool { // the ban has reached the member's home
		mine := member.Do(t, http.MethodGet, "/api/v3/communities?filter=member", nil).OK(t)
		return len(mine.List(t, "communities")) == 1
	}, apptest.Patience, 20*time.Millisecond)
	add(t, boss, club, newUser(t, region.SG, "unseen"))
	add(t, boss, other, newUser(t, region.SG, "seen"))
	seen, _ := addedTo(t, events.Next(t))
	require.Equal(t, other, seen)
}
