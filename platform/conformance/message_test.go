package conformance

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	messagesPath    = "/api/v5/messages"
	subchannelsPath = "/api/v5/message-feeds"
)

var (
	messageFields = resource{
		"messageId": "id", "publicId": "id", "channelId": "id", "channelPublicId": "s", "channelType": "s", "messageFeedId": "id",
		"parentId":  "s",
		"creatorId": "id", "creatorPublicId": "s", "dataType": "s", "data": "o", "fileId": "s", "segment": "i", "childCount": "i",
		"reactionCount": "i",
		"reactions":     "counts", "myReactions": "s[]", "mentionedUsers": "[]", "referenceId": "s", "tags": "s[]", "metadata": "o",
		"flagCount": "i",
		"hashFlag":  "hashFlag?", "editedAt": "ts", "isDeleted": "b", "path": "s", "createdAt": "ts", "updatedAt": "ts",
	}
	messageFeedFields = resource{
		"messageFeedId": "id", "channelId": "id", "channelPublicId": "s", "channelType": "s", "name": "s", "childCount": "i", "creatorId": "s",
		"creatorPublicId": "s", "lastMessageId": "s", "lastMessageTimestamp": "ts", "messagePreviewId": "s", "isDeleted": "b", "editedAt": "ts",
		"path": "s", "createdAt": "ts", "updatedAt": "ts",
	}
	messageAggregate = []string{"messages", "messageFeeds", "users", "files"}
)

// chat is a channel with its default subchannel.
type chat struct {
	id    string // of both
	boss  *apptest.Client
	users []*apptest.Client
}

// newChat creates a public community channel of the boss with members.
func newChat(t *testing.T, boss *apptest.Client, members ...*apptest.Client) *chat {
	t.Helper()
	return newChatOf(t, boss, object{"isPublic": true}, members...)
}

func newChatOf(t *testing.T, boss *apptest.Client, fields object, members ...*apptest.Client) *chat {
	t.Helper()
	body := with(object{"type": "community", "displayName": "chat", "userIds": userIDs(members...)}, fields)
	id := boss.Do(t, http.MethodPost, "/api/v3/channels", body).OK(t).String(t, "channels.0._id")
	return &chat{id: id, boss: boss, users: members}
}

// path returns the path of an operation on the channel.
func (c *chat) path(suffix string) string { return "/api/v3/channels/" + c.id + suffix }

// sendMessage sends a text to the default subchannel.
func (c *chat) sendMessage(t *testing.T, by *apptest.Client, what string, more ...object) *apptest.Response {
	t.Helper()
	nextMillisecond()
	body := object{"messageFeedId": c.id, "dataType": "text", "data": object{"text": what}}
	return by.Do(t, http.MethodPost, messagesPath, with(body, more...))
}

// newMessage sends a text and returns the id of its message.
func (c *chat) newMessage(t *testing.T, by *apptest.Client, what string, more ...object) string {
	t.Helper()
	return text(requireMessage(t, c.sendMessage(t, by, what, more...)), "messageId")
}

// requireMessage checks an answer with one message and returns the message.
func requireMessage(t *testing.T, r *apptest.Response) object {
	t.Helper()
	a := requireAggregate(t, r, "", messageAggregate)
	m := a.one("messages")
	a.requireHas("messages", "users", text(m, "creatorPublicId"))
	a.requireHas("messages", "messageFeeds", text(m, "messageFeedId"))
	return m
}

func getMessage(t *testing.T, by *apptest.Client, id string) object {
	t.Helper()
	return requireMessage(t, by.Do(t, http.MethodGet, messagesPath+"/"+id, nil))
}

func TestMessage(t *testing.T) {
	t.Parallel()
	author, reader := newUser(t, region.EU, "author"), newUser(t, region.US, "reader")
	c := newChat(t, author, reader)
	r := c.sendMessage(t, author, "hello", object{
		"referenceId": "LOCAL_0b4ad8d9-57d5-4b8c-93f3-d3f7f5e0a6b1", "tags": []string{"a", "b"}, "metadata": object{"k": object{"deep": 1}},
		"mentionedUsers": []object{{"type": "user", "userIds": []string{reader.UserID, "nobody"}}},
	})
	m := requireMessage(t, r)
	require.Equal(t, object{"text": "hello"}, m["data"])
	require.Equal(t, "text", m["dataType"])
	require.InDelta(t, 1, m["segment"], 0)
	require.Equal(t, c.id, m["channelId"])
	require.Equal(t, c.id, m["messageFeedId"])
	require.Equal(t, author.UserID, m["creatorPublicId"])
	require.Equal(t, author.InternalID, m["creatorId"])
	require.Equal(t, "LOCAL_0b4ad8d9-57d5-4b8c-93f3-d3f7f5e0a6b1", m["referenceId"])
	require.Equal(t, []any{"a", "b"}, m["tags"])
	require.Equal(t, object{"k": object{"deep": 1.0}}, m["metadata"])
	require.Equal(t, author.Network.NetworkID+"/chat/"+c.id+"/"+c.id+"/"+text(m, "messageId"), m["path"])
	require.Equal(t, []any{object{"type": "user", "userIds": []any{reader.InternalID}, "userPublicIds": []any{reader.UserID}}},
		m["mentionedUsers"])
	require.ElementsMatch(t, []string{author.UserID, reader.UserID}, r.Strings(t, "users", "userId"))
	require.Equal(t, m["messageId"], r.String(t, "messageFeeds.0.messagePreviewId"))

	id := text(m, "messageId")
	for i := range region.All() {
		require.Equal(t, m, getMessage(t, reader.At(region.All()[i]), id), "the same at every region")
	}
	nextMillisecond()
	tagged := requireMessage(t, author.Do(t, http.MethodPut, messagesPath+"/"+id, object{"tags": []string{"e"}}))
	require.Equal(t, []any{"e"}, tagged["tags"])
	for _, field := range []string{"data", "metadata", "mentionedUsers"} {
		require.Equal(t, m[field], tagged[field], "what is not named stays: "+field)
	}
	edited := requireMessage(t, author.Do(t, http.MethodPut, messagesPath+"/"+id,
		object{"data": object{"text": "bye"}, "metadata": object{"k": 2}, "tags": []string{"c"}}))
	require.Equal(t, object{"text": "bye"}, edited["data"])
	require.Equal(t, object{"k": 2.0}, edited["metadata"])
	require.Equal(t, []any{"c"}, edited["tags"])
	require.Empty(t, edited["mentionedUsers"], "those of the old text went with it")
	require.Greater(t, text(edited, "editedAt"), text(m, "editedAt"))
	require.Equal(t, m["createdAt"], edited["createdAt"])
	described := requireMessage(t, author.Do(t, http.MethodPut, messagesPath+"/"+id, object{"metadata": object{"k": 3}}))
	require.Equal(t, edited["data"], described["data"])
	require.Equal(t, edited["tags"], described["tags"])

	for range 2 { // the second answer is the same
		gone := requireMessage(t, author.Do(t, http.MethodDelete, messagesPath+"/"+id, nil))
		require.Equal(t, true, gone["isDeleted"])
		require.Empty(t, gone["data"])
		require.Empty(t, gone["metadata"])
		require.Empty(t, gone["tags"])
		require.InDelta(t, 1, gone["segment"], 0, "it keeps its place")
		require.Equal(t, gone, getMessage(t, reader, id))
	}
	requireRefused(t, author.Do(t, http.MethodPut, messagesPath+"/"+id, object{"data": object{"text": "x"}}), http.StatusNotFound, 400400)
	require.InDelta(t, 2, requireMessage(t, c.sendMessage(t, reader, "next"))["segment"], 0)
	author.Do(t, http.MethodDelete, messagesPath+"/"+id+"?permanent=true", nil).OK(t)
	requireRefused(t, reader.Do(t, http.MethodGet, messagesPath+"/"+id, nil), http.StatusNotFound, 400400)
	requireRefused(t, reader.Do(t, http.MethodGet, messagesPath+"/nothing", nil), http.StatusNotFound, 400400)
}

func TestMessagesByID(t *testing.T) {
	t.Parallel()
	author, stranger := newUser(t, region.EU, "author"), newUser(t, region.US, "stranger")
	open, hidden := newChat(t, author, stranger), newChatOf(t, author, object{"isPublic": false})
	first, second, secret := open.newMessage(t, author, "1"), open.newMessage(t, stranger, "2"), hidden.newMessage(t, author, "3")
	list := func(by *apptest.Client) []string {
		t.Helper()
		r := by.Do(t, http.MethodGet, messagesPath+"/list?messageIds[]="+
			strings.Join([]string{second, secret, first, second, "x"}, "&messageIds[]="), nil)
		requireAggregate(t, r, "", messageAggregate)
		return r.Strings(t, "messages", "messageId")
	}
	require.Equal(t, []string{second, secret, first}, list(author))
	require.Equal(t, []string{second, first}, list(stranger))
}

func TestRepliesToMessages(t *testing.T) {
	t.Parallel()
	author, other := newUser(t, region.SG, "author"), newUser(t, region.US, "other")
	c, elsewhere := newChat(t, author, other), newChat(t, author)
	parent := c.newMessage(t, author, "question")
	first := c.newMessage(t, other, "answer", object{"parentId": parent})
	c.newMessage(t, author, "thanks", object{"parentId": parent})
	require.InDelta(t, 2, getMessage(t, other, parent)["childCount"], 0)
	require.Equal(t, parent, getMessage(t, other, first)["parentId"])
	other.Do(t, http.MethodDelete, messagesPath+"/"+first, nil).OK(t)
	require.InDelta(t, 1, getMessage(t, other, parent)["childCount"], 0)
	requireRefused(t, c.sendMessage(t, other, "x", object{"parentId": first}), http.StatusNotFound, 400400)
	reply := c.newMessage(t, other, "again", object{"parentId": parent})
	requireRefused(t, c.sendMessage(t, other, "x", object{"parentId": reply}), http.StatusUnprocessableEntity, 500000)
	requireRefused(t, elsewhere.sendMessage(t, author, "x", object{"parentId": parent}), http.StatusNotFound, 400400)
	requireRefused(t, c.sendMessage(t, author, "x", object{"parentId": "nothing"}), http.StatusNotFound, 400400)
}

// TestMessagesNameTheirChannel sends to a channel of each type: the message and its subchannel contain the channel's type and public id.
func TestMessagesNameTheirChannel(t *testing.T) {
	t.Parallel()
	author, other := newUser(t, region.EU, "author"), newUser(t, region.US, "other")
	for kind, by := range map[string]*apptest.Client{"community": author, "broadcast": admin(t), "live": author, "conversation": author} {
		body, path := object{"type": kind, "displayName": "chat", "userIds": userIDs(author, other)}, channelsPath
		switch kind {
		case "live":
			body = object{"type": kind, "roomId": newRoom(t, author)["roomId"], "displayName": "chat"}
		case "conversation":
			body, path = object{"type": kind, "userIds": userIDs(other)}, conversationPath
		default:
			body["channelId"] = apptest.UserID("chat")
		}
		channel := requireChannel(t, by.Do(t, http.MethodPost, path, body))
		require.Equal(t, kind, channel["type"])
		want := object{"channelType": kind, "channelId": channel["_id"], "channelPublicId": channel["channelId"]}
		c := &chat{id: text(channel, "_id"), boss: by}
		if kind == "broadcast" {
			c.promote(t, author)
		}
		r := c.sendMessage(t, author, "hello")
		require.Subset(t, requireMessage(t, r), want, kind)
		require.Subset(t, r.Get(t, "messageFeeds.0"), want, kind)
		if kind == "community" {
			f := requireSubchannel(t, author.Do(t, http.MethodPost, subchannelsPath, object{"channelId": channel["_id"], "name": "owls"}))
			require.Subset(t, f, want, "of a subchannel")
		}
	}
}

// TestMessageOfEveryType sends messages with files of every type. The answers include the files.
func TestMessageOfEveryType(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	c := newChat(t, author)
	write := func(fields object) *apptest.Response {
		t.Helper()
		return author.Do(t, http.MethodPost, messagesPath, with(object{"messageFeedId": c.id}, fields))
	}
	audio := author.Upload(t, "audio", "a.mp3", []byte("ID3 sound")).OK(t).String(t, "0.fileId")
	for dataType, file := range map[string]string{
		"image": fileOf(t, "image"), "file": fileOf(t, "file"), "video": fileOf(t, "video"),
		"audio": audio,
	} {
		m := requireMessage(t, write(object{"dataType": dataType, "fileId": file, "data": object{"caption": ""}}))
		require.Equal(t, file, m["fileId"])
		require.Equal(t, object{"caption": "", "fileId": file}, m["data"])
		edited := requireMessage(t, author.Do(t, http.MethodPut, messagesPath+"/"+text(m, "messageId"), object{"data": object{"caption": "c"}}))
		require.Equal(t, object{"caption": "c", "fileId": file}, edited["data"])
		requireRefused(t, write(object{"dataType": dataType}), http.StatusUnprocessableEntity, 500000)
		requireRefused(t, write(object{"dataType": dataType, "fileId": region.NewID(region.EU)}), http.StatusNotFound, 400400)
	}
	requireRefused(t, write(object{"dataType": "image", "fileId": fileOf(t, "video")}), http.StatusUnprocessableEntity, 500000)
	custom := object{"anything": []any{1.0, "two", object{"three": true}}}
	require.Equal(t, custom, requireMessage(t, write(object{"dataType": "custom", "data": custom}))["data"])
	require.Equal(t, "text", requireMessage(t, write(object{"data": object{"text": "x"}}))["dataType"])
	for name, body := range map[string]object{
		"no text":        {"dataType": "text"},
		"empty text":     {"data": object{"text": ""}},
		"text is number": {"data": object{"text": 5}},
		"unknown type":   {"dataType": "imagemap", "data": object{"text": "x"}},
		"long tag":       {"data": object{"text": "x"}, "tags": []string{strings.Repeat("x", 101)}},
		"mention type":   {"data": object{"text": "x"}, "mentionedUsers": []object{{"type": "community"}}},
		"NUL":            {"data": object{"text": "a\x00b"}},
	} {
		r := write(body)
		require.Equal(t, http.StatusUnprocessableEntity, r.Status, "%s: %s", name, r.Short())
	}
}

// jsonOf returns a custom object whose JSON has exactly n bytes.
func jsonOf(t *testing.T, n int) object {
	t.Helper()
	o := object{"k": ""}
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	o["k"] = strings.Repeat("x", n-len(raw))
	return o
}

// TestMessageLimits sends messages at their limits and beyond: a text is limited in characters, regardless of their
// bytes, and custom content in bytes of JSON.
func TestMessageLimits(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	c := newChat(t, author)
	const most, mostBytes = 20_000, 100 * 1024
	for _, letter := range []string{"x", "é", "漢", "\U0001F600"} {
		id := c.newMessage(t, author, strings.Repeat(letter, most))
		require.Equal(t, strings.Repeat(letter, most), getMessage(t, author, id)["data"].(object)["text"])
		for _, r := range []*apptest.Response{
			c.sendMessage(t, author, strings.Repeat(letter, most+1)),
			author.Do(t, http.MethodPut, messagesPath+"/"+id, object{"data": object{"text": strings.Repeat(letter, most+1)}}),
		} {
			requireRefused(t, r, http.StatusUnprocessableEntity, 500000)
			require.Equal(t, "Parameters validation error!", r.String(t, "message"))
		}
	}
	custom := func(data object) *apptest.Response {
		t.Helper()
		return author.Do(t, http.MethodPost, messagesPath, object{"messageFeedId": c.id, "dataType": "custom", "data": data})
	}
	m := requireMessage(t, custom(jsonOf(t, mostBytes)))
	require.Equal(t, jsonOf(t, mostBytes), m["data"])
	for _, r := range []*apptest.Response{
		custom(jsonOf(t, mostBytes+1)),
		author.Do(t, http.MethodPut, messagesPath+"/"+text(m, "messageId"), object{"data": jsonOf(t, mostBytes+1)}),
		c.sendMessage(t, author, "x", object{"metadata": jsonOf(t, mostBytes+1)}),
		c.sendMessage(t, author, "x", object{"data": with(jsonOf(t, mostBytes+1), object{"text": "x"})}),
	} {
		requireRefused(t, r, http.StatusUnprocessableEntity, 500000)
		require.Equal(t, "Parameters validation error!", r.String(t, "message"))
	}
}

// TestCreateMessageIsIdempotent sends a message several times with the same reference. It is stored once, and every
// request returns it.
func TestCreateMessageIsIdempotent(t *testing.T) {
	t.Parallel()
	author, other := newUser(t, region.EU, "author"), newUser(t, region.US, "other")
	c := newChat(t, author, other)
	const times = 8
	answers := make(chan *apptest.Response, times)
	for i := range times {
		go func() {
			answers <- c.sendMessage(t, author.At(region.All()[i%3]), "once", object{"referenceId": "LOCAL_1"})
		}()
	}
	first := text(requireMessage(t, <-answers), "messageId")
	for range times - 1 {
		require.Equal(t, first, text(requireMessage(t, <-answers), "messageId"))
	}
	again := requireMessage(t, c.sendMessage(t, author, "another text", object{"referenceId": "LOCAL_1"}))
	require.Equal(t, object{"text": "once"}, again["data"])
	theirs := requireMessage(t, c.sendMessage(t, other, "mine", object{"referenceId": "LOCAL_1"}))
	require.NotEqual(t, first, theirs["messageId"], "a name is its author's")
	require.InDelta(t, 2, theirs["segment"], 0, "what was not stored took no segment")
}
