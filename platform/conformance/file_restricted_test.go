package conformance

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
)

// fileReaders are the users around a file in a private place: its author, who uploaded it, the moderator of the place,
// a member, and an outsider.
type fileReaders struct{ author, moderator, member, outsider *apptest.Client }

// privatePlace is a place with a file.
type privatePlace struct {
	path string // of an operation whose response contains the file
	end  func() // ends the membership of the member
}

// privatePlaces returns functions that create a private place with an image.
var privatePlaces = map[string]func(*testing.T, *fileReaders, string) privatePlace{
	"post in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		return privatePlace{
			path: "/api/v3/posts/" + newPost(t, u.author, community, pictured(id)),
			end:  func() { banMember(t, u.moderator, community, u.member) },
		}
	},
	"edited post in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		post := newPost(t, u.author, community)
		u.author.Do(t, http.MethodPut, postsPath+"/"+post, pictured(id)).OK(t)
		return privatePlace{path: "/api/v3/posts/" + post, end: func() { leave(t, community, u.member) }}
	},
	"custom post in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		custom := object{"dataType": "my.type", "data": object{"fileId": id}}
		return privatePlace{path: "/api/v3/posts/" + newPost(t, u.author, community, custom), end: func() { leave(t, community, u.member) }}
	},
	"comment in a hidden community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, object{"isDiscoverable": false})
		comment := newComment(t, u.author, newPost(t, u.moderator, community), pictured(id))
		return privatePlace{path: commentsPath + "/" + comment, end: func() { banMember(t, u.moderator, community, u.member) }}
	},
	"story in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		story := u.author.Do(t, http.MethodPost, storiesPath, object{
			"targetType": "community", "targetId": community, "dataType": "image", "data": object{"fileId": id},
			"referenceId": "c56a4180-65aa-42ec-a945-5fd21dec0538",
		}).OK(t).String(t, "stories.0.storyId")
		return privatePlace{path: storiesPath + "/" + story, end: func() { leave(t, community, u.member) }}
	},
	"poll in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		poll := newPoll(t, u.author, object{"answers": []object{{"data": "x"}, {"dataType": "image", "fileId": id}}})
		post := newPost(t, u.author, community, object{"dataType": "poll", "data": object{"text": "x", "pollId": poll}})
		return privatePlace{path: "/api/v3/posts/" + post, end: func() { banMember(t, u.moderator, community, u.member) }}
	},
	"room in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		room := text(newRoom(t, u.author, object{"thumbnailFileId": id}), "roomId")
		newPost(t, u.author, community, object{"dataType": "room", "data": object{"text": "x", "roomId": room}})
		return privatePlace{path: roomsPath + "/" + room, end: func() { banMember(t, u.moderator, community, u.member) }}
	},
	"stream in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		stream := u.author.Do(t, http.MethodPost, streamsPath, object{"title": "x", "thumbnailFileId": id}).OK(t).String(t,
			"videoStreamings.0.streamId")
		newPost(t, u.author, community, object{"dataType": "liveStream", "data": object{"text": "x", "streamId": stream}})
		return privatePlace{path: streamsPath + "/" + stream, end: func() { leave(t, community, u.member) }}
	},
	"new thumbnail of a room in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		room := text(newRoom(t, u.author), "roomId")
		newPost(t, u.author, community, object{"dataType": "room", "data": object{"text": "x", "roomId": room}})
		u.author.Do(t, http.MethodPut, roomsPath+"/"+room, object{"thumbnailFileId": id}).OK(t)
		return privatePlace{path: roomsPath + "/" + room, end: func() { leave(t, community, u.member) }}
	},
	"event in a private community": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, nil)
		event := newEvent(t, u.author, with(eventIn(community), object{"coverImageFileId": id}))
		return privatePlace{path: eventsPath + "/" + event, end: func() { leave(t, community, u.member) }}
	},
	"community that becomes private": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		community := newPrivate(t, u, object{"isPublic": true})
		post := newPost(t, u.author, community, pictured(id))
		u.moderator.Do(t, http.MethodPut, communitiesPath+"/"+community, object{"isPublic": false}).OK(t)
		return privatePlace{path: "/api/v3/posts/" + post, end: func() { leave(t, community, u.member) }}
	},
	"message in a channel": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		c := newChatOf(t, u.moderator, nil, u.author, u.member)
		return privatePlace{path: messagesPath + "/" + sendImage(t, u.author, c.id, id), end: func() {
			u.moderator.Do(t, http.MethodPut, c.path("/users/ban"), object{"userIds": []string{u.member.UserID}}).OK(t)
		}}
	},
	"message in a deleted subchannel": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		c := newChatOf(t, u.moderator, nil, u.author, u.member)
		feed := u.moderator.Do(t, http.MethodPost, subchannelsPath, object{"channelId": c.id, "name": "s"}).OK(t).String(t,
			"messageFeeds.0.messageFeedId")
		return privatePlace{path: messagesPath + "/" + sendImage(t, u.author, feed, id), end: func() {
			u.moderator.Do(t, http.MethodDelete, subchannelsPath+"/"+feed, nil).OK(t)
		}}
	},
	"message in a conversation": func(t *testing.T, u *fileReaders, id string) privatePlace {
		t.Helper()
		c := u.author.Do(t, http.MethodPost, conversationPath,
			object{"type": "conversation", "userIds": userIDs(u.member, u.moderator), "isDistinct": false}).
			OK(t).String(t, "channels.0._id")
		message := sendImage(t, u.author, c, id)
		return privatePlace{path: messagesPath + "/" + message, end: func() {
			u.author.Do(t, http.MethodDelete, messagesPath+"/"+message, nil).OK(t)
		}}
	},
}

// newPrivate creates a private community of the moderator with the author and the member.
func newPrivate(t *testing.T, u *fileReaders, fields object) string {
	t.Helper()
	community := newCommunity(t, u.moderator, with(object{
		"isPublic": false, "isDiscoverable": true, "userIds": userIDs(u.author, u.member),
	}, fields))
	u.moderator.Do(t, http.MethodPost, communitiesPath+"/"+community+"/users/roles",
		object{"roles": []string{"community-moderator"}, "userIds": userIDs(u.author)}).OK(t)
	return community
}

func pictured(id string) object {
	return object{"attachments": []object{{"type": "image", "fileId": id}}}
}

// addressIn returns the path of a file's address in the response to a request.
func addressIn(t *testing.T, c *apptest.Client, path, fileID string) string {
	t.Helper()
	files := c.Do(t, http.MethodGet, path, nil).OK(t).List(t, "files")
	at := slices.IndexFunc(files, func(f any) bool { return f.(object)["fileId"] == fileID })
	require.GreaterOrEqual(t, at, 0, "%s: %v", path, files)
	return pathOf(t, files[at].(object))
}

// TestRestrictedFiles puts a public image into each private place, and has everyone try to read it: by its id, by the
// address in the response with the object, and by a reference of their own.
func TestRestrictedFiles(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for name, create := range privatePlaces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &fileReaders{
				author: newUser(t, region.EU, "author"), moderator: newUser(t, region.US, "moderator"),
				member: newUser(t, region.SG, "member"), outsider: newUser(t, region.SG, "outsider"),
			}
			uploaded, other := upload(t, u.author, "image", "a.png", pngOf(t, 700, 500)), upload(t, u.author, "image", "b.png", pngOf(t, 9, 9))
			id, plain := text(uploaded, "fileId"), pathOf(t, uploaded)
			require.NotContains(t, plain, "/download/", "it is not in use yet")
			place := create(t, u, id)
			address, elsewhere := addressIn(t, u.member, place.path, id), n.Anonymous(region.SG)
			require.Equal(t, address, addressIn(t, u.member, place.path, id), "caches keep it")
			require.NotEqual(t, address, addressIn(t, u.author, place.path, id))

			full := elsewhere.Do(t, http.MethodGet, address, nil).OK(t)
			require.Contains(t, full.Header.Get("Cache-Control"), "private")
			small := elsewhere.Do(t, http.MethodGet, address+"?size=small", nil).OK(t)
			require.Less(t, len(small.Body), len(full.Body))
			part := elsewhere.With("Range", "bytes=1-3").Do(t, http.MethodGet, address, nil)
			require.Equal(t, http.StatusPartialContent, part.Status)
			require.Equal(t, "PNG", string(part.Body))
			require.Equal(t, http.StatusNotModified,
				elsewhere.With("If-None-Match", full.Header.Get("Etag")).Do(t, http.MethodGet, address, nil).Status)
			for _, c := range []*apptest.Client{u.author, u.moderator, u.member, n.Admin(region.SG)} {
				c.Do(t, http.MethodGet, plain, nil).OK(t)
				own := c.Do(t, http.MethodGet, filesPath+"/"+id, nil).OK(t)
				elsewhere.Do(t, http.MethodGet, pathOf(t, own.JSON(t).(object)), nil).OK(t)
			}
			elsewhere.Do(t, http.MethodGet, addressIn(t, n.Admin(region.EU), place.path, id), nil).OK(t)

			expired := failure{status: 403, code: 400300}
			custom := newWallPost(t, u.outsider, object{"dataType": "my.type", "data": object{"a": "b"}})
			last := address[len(address)-9:]
			tampered := strings.TrimSuffix(address, last) + strings.Map(func(r rune) rune { return 'A' + (r-'A'+1)%26 }, last[:1]) + last[1:]
			requireAttempts(t, []attempt{
				{"anonymous, by the id", elsewhere, http.MethodGet, plain, nil, unauthorized},
				{"outsider, by the id", u.outsider, http.MethodGet, plain, nil, forbidden},
				{"outsider, facts", u.outsider, http.MethodGet, filesPath + "/" + id, nil, forbidden},
				{"outsider, the signature of network files", u.outsider, http.MethodGet, plain + "?t=1.AA", nil, forbidden},
				{"outsider, reference", u.outsider, http.MethodPost, postsPath, with(object{"data": object{"text": "x"}}, pictured(id)), notFound},
				{
					"outsider, custom post", u.outsider, http.MethodPost, postsPath,
					object{"dataType": "my.type", "data": object{"fileId": id}},
					notFound,
				},
				{"outsider, edited custom post", u.outsider, http.MethodPut, postsPath + "/" + custom, object{"data": object{"fileId": id}}, notFound},
				{"outsider, avatar", u.outsider, http.MethodPut, "/api/v3/users", object{"avatarFileId": id}, notFound},
				{"outsider, room", u.outsider, http.MethodPost, roomsPath, object{"title": "x", "thumbnailFileId": id}, notFound},
				{"tampered path", elsewhere, http.MethodGet, tampered, nil, expired},
				{"shortened path", elsewhere, http.MethodGet, strings.TrimSuffix(address, last), nil, expired},
				{"another file", elsewhere, http.MethodGet, strings.Replace(address, id, text(other, "fileId"), 1), nil, expired},
				{"no proof", elsewhere, http.MethodGet, plain + "/x", nil, expired},
			})

			kept := addressIn(t, u.author, place.path, id)
			place.end()
			requireAttempts(t, []attempt{
				{"former member, kept address", elsewhere, http.MethodGet, address, nil, expired},
				{"former member, by the id", u.member, http.MethodGet, plain, nil, forbidden},
				{"former member, facts", u.member, http.MethodGet, filesPath + "/" + id, nil, forbidden},
				{"author, by the id", u.author, http.MethodGet, plain, nil, failure{}},
			})
			if !strings.Contains(name, "conversation") && !strings.Contains(name, "deleted") { // there the message is gone
				elsewhere.Do(t, http.MethodGet, kept, nil).OK(t)
			}
		})
	}
}

// TestRestrictedFileElsewhere refers to a restricted file in public as well: as an avatar, in a public community, in a post there that
// waits for approval, and by another user who may read it.
func TestRestrictedFileElsewhere(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	u := &fileReaders{
		author: newUser(t, region.EU, "author"), moderator: newUser(t, region.US, "moderator"),
		member: newUser(t, region.SG, "member"), outsider: newUser(t, region.SG, "outsider"),
	}
	community, open := newPrivate(t, u, nil), newCommunity(t, u.author)
	put := func() (id, plain string) {
		f := upload(t, u.author, "image", "a.png", pngOf(t, 9, 9))
		newPost(t, u.author, community, pictured(text(f, "fileId")))
		return text(f, "fileId"), pathOf(t, f)
	}
	face, plain := put()
	u.author.Do(t, http.MethodPut, "/api/v3/users", object{"avatarFileId": face}).OK(t)
	n.Anonymous(region.SG).Do(t, http.MethodGet, plain, nil).OK(t)
	n.Anonymous(region.SG).Do(t, http.MethodGet, addressIn(t, u.outsider, "/api/v3/users/"+u.author.UserID, face), nil).OK(t)

	logo, plain := put()
	u.author.Do(t, http.MethodPut, communitiesPath+"/"+open, object{"avatarFileId": logo}).OK(t)
	n.Anonymous(region.SG).Do(t, http.MethodGet, plain, nil).OK(t)
	icon, plain := put()
	u.author.Do(t, http.MethodPost, channelsPath, object{"type": "community", "avatarFileId": icon}).OK(t)
	n.Anonymous(region.SG).Do(t, http.MethodGet, plain, nil).OK(t)

	shown, plain := put()
	post := newPost(t, u.author, open, pictured(shown))
	r := n.Anonymous(region.SG).Do(t, http.MethodGet, plain, nil).OK(t)
	require.Contains(t, r.Header.Get("Cache-Control"), "public")
	u.outsider.Do(t, http.MethodGet, addressIn(t, u.outsider, "/api/v3/posts/"+post, shown), nil).OK(t)
	u.author.Do(t, http.MethodDelete, "/api/v4/posts/"+post, nil).OK(t)
	requireFailure(t, unauthorized, n.Anonymous(region.SG).Do(t, http.MethodGet, plain, nil))
	requireFailure(t, forbidden, u.outsider.Do(t, http.MethodGet, plain, nil))

	signed := text(upload(t, u.author, "image", "a.png", pngOf(t, 9, 9), "accessType", "network"), "fileId")
	newPost(t, u.author, community, pictured(signed))
	newPost(t, u.author, open, pictured(signed))
	requireFailure(t, unauthorized, n.Anonymous(region.SG).Do(t, http.MethodGet, filesPath+"/"+signed+"/download", nil))
	u.outsider.Do(t, http.MethodGet, filesPath+"/"+signed+"/download", nil).OK(t)

	reviewing := newCommunity(t, u.moderator, object{"needApprovalOnPostCreation": true, "userIds": userIDs(u.author)})
	waiting, plain := put()
	post = newPost(t, u.author, reviewing, pictured(waiting))
	requireFailure(t, forbidden, u.outsider.Do(t, http.MethodGet, plain, nil))
	u.moderator.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/approve", nil).OK(t)
	u.outsider.Do(t, http.MethodGet, plain, nil).OK(t)

	forwarded, plain := put()
	post = newWallPost(t, u.member, pictured(forwarded))
	requireFailure(t, unauthorized, n.Anonymous(region.SG).Do(t, http.MethodGet, plain, nil))
	n.Anonymous(region.SG).Do(t, http.MethodGet, addressIn(t, u.outsider, "/api/v3/posts/"+post, forwarded), nil).OK(t)

	sticker := n.File(t, "image", 7)
	newPost(t, u.author, community, pictured(sticker))
	n.Anonymous(region.SG).Do(t, http.MethodGet, filesPath+"/"+sticker+"/download", nil).OK(t)
}

// TestPrivateWall restricts the files on walls of a network with private profiles.
func TestPrivateWall(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"userPrivacySetting": "private"}).OK(t)
	author, outsider := n.NewUser(t, region.EU, "author"), n.NewUser(t, region.SG, "outsider")
	f := upload(t, author, "image", "a.png", pngOf(t, 9, 9))
	post := author.NewPost(t, author.UserID, with(object{"targetType": "user"}, pictured(text(f, "fileId"))))
	address := addressIn(t, author, "/api/v3/posts/"+post, text(f, "fileId"))
	outsider.Do(t, http.MethodGet, address, nil).OK(t)
	requireFailure(t, forbidden, outsider.Do(t, http.MethodGet, pathOf(t, f), nil))
	ofStory := upload(t, author, "image", "b.png", pngOf(t, 9, 9))
	newWallStory(t, author, object{"dataType": "image", "data": object{"fileId": text(ofStory, "fileId")}})
	requireFailure(t, forbidden, outsider.Do(t, http.MethodGet, pathOf(t, ofStory), nil))
	require.Equal(t, address, expiring(t, n, address, 0))
	requireFailure(t, forbidden, outsider.Do(t, http.MethodGet, expiring(t, n, address, -2*config.Default().FileURLTTL.Std()), nil))
}

// expiring returns the address of a restricted file with another expiry, signed with the key of the network.
func expiring(t *testing.T, n *apptest.Network, address string, later time.Duration) string {
	t.Helper()
	const signed = 30 // bytes before the signature, of which 1 to 4 are the expiry in seconds
	rest, proof := path.Split(address)
	raw, err := base64.RawURLEncoding.DecodeString(proof)
	require.NoError(t, err)
	raw = raw[:signed]
	binary.BigEndian.PutUint32(raw[1:], narrow.To[uint32](int64(binary.BigEndian.Uint32(raw[1:]))+int64(later/time.Second)))
	ring, err := auth.OpenKeyring(n.Keys.Signing)
	require.NoError(t, err)
	fileID := path.Base(path.Dir(path.Clean(rest)))
	mac, err := ring.SignFileAddress(append([]byte(n.NetworkID+"\n"+fileID+"\n"), raw...), time.Now())
	require.NoError(t, err)
	return rest + base64.RawURLEncoding.EncodeToString(append(raw, mac...))
}

// leave ends the membership of a client in a community.
func leave(t *testing.T, communityID string, c *apptest.Client) {
	t.Helper()
	c.Do(t, http.MethodDelete, communitiesPath+"/"+communityID+"/leave", nil).OK(t)
}

// TestDefaultAccessType uploads files before and after the setting changes, in every region.
func TestDefaultAccessType(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	u, boss := n.NewUser(t, region.EU, "u"), n.Admin(region.US)
	accessType := func(c *apptest.Client, fields ...string) string {
		return c.Upload(t, "file", "a", []byte("x"), fields...).OK(t).String(t, "0.accessType")
	}
	require.Equal(t, "public", boss.Do(t, http.MethodGet, settingsPath, nil).OK(t).String(t, "defaultAccessType"))
	require.Equal(t, "public", accessType(u))
	requireFailure(t, invalid("defaultAccessType"), boss.Do(t, http.MethodPut, settingsPath, object{"defaultAccessType": "private"}))
	boss.Do(t, http.MethodPut, settingsPath, object{"defaultAccessType": "network"}).OK(t)
	for _, r := range region.All() {
		require.Equal(t, "network", accessType(u.At(r)))
		require.Equal(t, "public", accessType(u.At(r), "accessType", "public"))
	}
	requireFailure(t, invalid("accessType"), u.Upload(t, "file", "a", []byte("x"), "accessType", "private"))
}
