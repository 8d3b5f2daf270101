package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/region"
)

// What there is of a user: marks are the names of what the user made, or what others made on the user's wall.
const (
	userMark     = "user"
	clubPost     = "post in a shared community"
	wallPost     = "post on the own wall"
	guestPost    = "post of a third user on the wall"
	clubComment  = "comment in a shared community"
	wallComment  = "comment of a third user on the wall"
	clubStory    = "story in a shared community"
	wallStory    = "story on the own wall"
	chatMessage  = "message in a shared channel"
	wallMeeting  = "event on the own wall"
	clubRoom     = "room in a shared community"
	wallRoom     = "room on the own wall"
	clubStream   = "stream in a shared community"
	wallStream   = "stream on the own wall"
	ownCommunity = "community"
	anyAnswer    = "status" // no object, but whether the operation succeeds
)

// onWall are the marks that the wall of a user decides about.
var onWall = map[string]bool{
	wallPost: true, guestPost: true, wallComment: true, wallStory: true,
	wallMeeting: true, wallRoom: true, wallStream: true, anyAnswer: true,
}

// side is one of two users, one of whom blocks the other.
type side struct {
	by    *apptest.Client
	marks map[string]string
}

// id returns the public id of the user.
func (s side) id() string { return s.by.UserID }

// blockWorld is a network in which anna and ben meet everywhere before anna blocks ben. The server of sg does not reach anna's home, eu.
type blockWorld struct {
	n                         *apptest.Network
	boss, third               *apptest.Client
	anna, ben                 side
	club, word                string
	chat                      *chat
	topic, meeting, room      string // of the boss
	message, poll, pollAnswer string // of the boss
}

// unreachableDatabase is an address that refuses connections.
const unreachableDatabase = "postgresql://plaza@127.0.0.1:1/plaza?connect_timeout=1"

func newBlockWorld(t *testing.T) *blockWorld {
	t.Helper()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		if cfg.Region == region.SG {
			cfg.DatabaseURLEU = dburl.MustParse(unreachableDatabase)
		}
	}))
	n.Admin(region.EU).Do(t, http.MethodPut, socialPath, object{"showEveryonePost": true}).OK(t)
	user := func(code region.Code, name string) *apptest.Client { return n.NewUser(t, code, name).At(region.EU) }
	w := &blockWorld{
		n: n, boss: user(region.US, "boss"), third: user(region.EU, "third"), word: newWord(t),
		anna: side{user(region.EU, "anna"), map[string]string{}}, ben: side{user(region.US, "ben"), map[string]string{}},
	}
	w.club = newCommunity(t, w.boss, object{"userIds": userIDs(w.anna.by, w.ben.by, w.third)})
	w.chat = newChat(t, w.boss, w.anna.by, w.ben.by, w.third)
	promote(t, w.boss, w.club, w.anna.by)
	promote(t, w.boss, w.club, w.ben.by)
	w.topic, w.meeting = newPost(t, w.boss, w.club), newEvent(t, w.boss, eventIn(w.club))
	w.message, w.room = w.chat.newMessage(t, w.boss, "hello"), text(newRoom(t, w.boss), "roomId")
	newPost(t, w.boss, w.club, object{"dataType": "room", "data": object{"roomId": w.room}})
	made := w.boss.Do(t, http.MethodPost, pollsPath,
		object{"question": "Which?", "answers": []object{{"data": "this"}, {"data": "that"}}}).OK(t)
	w.poll, w.pollAnswer = made.String(t, "polls.0.pollId"), made.String(t, "polls.0.answers.0.id")
	newPost(t, w.boss, w.club, object{"dataType": "poll", "data": object{"text": "x", "pollId": w.poll}})
	follow(t, w.anna.by, w.ben.by, w.third)
	follow(t, w.ben.by, w.anna.by, w.third)
	follow(t, w.third, w.anna.by, w.ben.by)
	w.write(t, w.anna)
	w.write(t, w.ben)
	return w
}

// write makes everything that there is of a user.
func (w *blockWorld) write(t *testing.T, s side) {
	t.Helper()
	by, m := s.by, s.marks
	m[userMark], m[anyAnswer] = by.UserID, ""
	m[clubPost] = newPost(t, by, w.club, textOf(w.word, w.word))
	m[wallPost] = newWallPost(t, by, textOf(w.word, w.word))
	m[guestPost] = newWallPost(t, w.third, object{"targetId": by.UserID}, textOf(w.word, w.word))
	m[clubComment] = newComment(t, by, w.topic)
	m[wallComment] = newComment(t, w.third, m[wallPost])
	m[clubStory] = newStory(t, by, w.club)
	m[wallStory] = newWallStory(t, by)
	m[chatMessage] = w.chat.newMessage(t, by, "hello")
	m[wallMeeting] = newEvent(t, by, with(eventIn(by.UserID), object{"originType": "user"}))
	m[ownCommunity] = newCommunity(t, by, object{"displayName": w.word, "userIds": userIDs(w.boss)})
	for mark, target := range map[string]object{clubRoom: {"targetId": w.club}, wallRoom: {"targetType": "user", "targetId": by.UserID}} {
		m[mark] = text(newRoom(t, by), "roomId")
		newPost(t, by, w.club, target, object{"dataType": "room", "data": object{"text": "x", "roomId": m[mark]}})
	}
	for mark, target := range map[string]object{clubStream: {"targetId": w.club}, wallStream: {"targetType": "user", "targetId": by.UserID}} {
		m[mark] = text(newStream(t, by), "streamId")
		newPost(t, by, w.club, target, object{"dataType": "liveStream", "data": object{"text": "x", "streamId": m[mark]}})
	}
	for _, reacted := range []object{
		{"referenceType": "post", "referenceId": w.topic},
		{"referenceType": "message", "referenceId": w.message},
	} {
		by.Do(t, http.MethodPost, "/api/v2/reactions", with(reacted, object{"reactionName": "like"})).OK(t)
	}
	by.Do(t, http.MethodPut, votesPath(w.poll), answering(w.pollAnswer)).OK(t)
	rsvp(t, by, http.MethodPost, w.meeting, "going").OK(t)
	require.Equal(t, http.StatusAccepted, by.Do(t, http.MethodPost, presencePath+"/heartbeat", nil).Status)
	watch(t, by, w.room)
	by.Do(t, http.MethodPut, "/api/v1/markers/channels/"+w.chat.id+"/mark-read", object{}).OK(t)
}
