package conformance

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// channelSet is a set of channels in all three regions with a tag of their own, alternately public and private
// channels of the boss.
type channelSet struct {
	tag             string
	boss, stranger  *apptest.Client
	all             []string // in the order of creation
	public, private []string
}

var shelfNames = []string{"Mauve", "azure", "Zinc", "cyan", "Écru", "beige", "azurite"}

func newChannelSet(t *testing.T) *channelSet {
	t.Helper()
	s := &channelSet{tag: apptest.UserID("tag"), boss: newUser(t, region.EU, "boss"), stranger: newUser(t, region.SG, "stranger")}
	for i, name := range shelfNames {
		id := newChannel(t, s.boss.At(region.All()[i%3]), object{"displayName": name, "tags": []string{s.tag, name}, "isPublic": i%2 == 0})
		s.all = append(s.all, id)
		if i%2 == 0 {
			s.public = append(s.public, id)
		} else {
			s.private = append(s.private, id)
		}
	}
	return s
}

// listing returns how a client lists the set.
func (s *channelSet) listing(by *apptest.Client) listing {
	return listing{by: by, path: channelsPath, list: "channels", id: "channelId"}.with("tags[]", s.tag)
}

func TestListChannels(t *testing.T) {
	t.Parallel()
	s := newChannelSet(t)
	mine := s.listing(s.boss)
	mine.requirePages(t, 2, reversed(s.all))
	for _, code := range region.All() {
		mine.by = s.boss.At(code)
		mine.with("sortBy", "lastCreated").requirePages(t, 3, reversed(s.all))
	}
	mine.with("sortBy", "firstCreated").requirePages(t, 2, s.all)
	mine.with("filter", "member").requirePages(t, 2, reversed(s.all))
	mine.with("filter", "notMember").requireOrder(t, []string{})
	mine.with("types[]", "community", "broadcast").requireOrder(t, reversed(s.all))
	mine.with("types[]", "standard").requireOrder(t, reversed(s.all))
	mine.with("types[]", "live", "conversation").requireOrder(t, []string{})
	mine.with("excludeTags[]", "Mauve", "beige").requireOrder(t, reversed(slices.Concat(s.all[1:5], s.all[6:])))
	mine.with("keyword", "AZ").requireOrder(t, []string{s.all[1], s.all[6]})
	mine.with("keyword", "azure").requireOrder(t, []string{s.all[1]})
	mine.with("keyword", "éc").requireOrder(t, []string{s.all[4]})
	mine.with("keyword", "%").requireOrder(t, []string{})
	mine.requireLimits(t)

	theirs := s.listing(s.stranger)
	theirs.requirePages(t, 1, reversed(s.public))
	theirs.with("filter", "notMember").requirePages(t, 1, reversed(s.public))
	theirs.with("filter", "member").requireOrder(t, []string{})
	theirs.with("keyword", "az").requireOrder(t, []string{s.all[6]})
	s.stranger.Do(t, http.MethodPost, channelPath(s.public[1])+"/join", nil).OK(t)
	theirs.requireOrder(t, reversed(s.public))
	theirs.with("filter", "member").requireOrder(t, []string{s.public[1]})
	theirs.with("filter", "notMember").requireOrder(t, reversed(slices.Concat(s.public[:1], s.public[2:])))

	everything := s.listing(admin(t))
	everything.requirePages(t, 2, reversed(s.all))
	everything.with("sortBy", "firstCreated").requirePages(t, 3, s.all)
	everything.with("filter", "member").requireOrder(t, []string{})
	requireAttempts(t, []attempt{
		{"other type", s.boss, http.MethodGet, channelsPath + "?types[]=square", nil, invalid("types[0]")},
		{
			"11 tags", s.boss, http.MethodGet, channelsPath + "?" + url.Values{"tags[]": slices.Repeat([]string{"x"}, 11)}.Encode(), nil,
			invalid("tags"),
		},
		{"other filter", s.boss, http.MethodGet, channelsPath + "?filter=some", nil, invalid("filter")},
		{"other sort", s.boss, http.MethodGet, channelsPath + "?sortBy=size", nil, invalid("sortBy")},
		{"NUL", s.boss, http.MethodGet, channelsPath + "?keyword=%00", nil, invalid("keyword")},
	})
}

// TestChannelsByName sorts by the beginning of the name, which is shorter for private channels, and then by id.
func TestChannelsByName(t *testing.T) {
	t.Parallel()
	s := newChannelSet(t)
	for _, by := range []*apptest.Client{s.boss, s.stranger, admin(t)} {
		l := s.listing(by).with("sortBy", "displayName")
		all := l.ids(t, l.page(t, url.Values{"options[limit]": {"100"}}))
		require.ElementsMatch(t, map[bool][]string{true: s.public, false: s.all}[by == s.stranger], all)
		l.requirePages(t, 1, all)
	}
	l := s.listing(s.stranger).with("sortBy", "displayName")
	l.requireOrder(t, []string{s.all[6], s.all[0], s.all[2], s.all[4]})
}

// TestDeletedChannels checks that deleted channels are listed for their members and for those who see every channel.
func TestDeletedChannels(t *testing.T) {
	t.Parallel()
	s := newChannelSet(t)
	gone := []string{s.public[0], s.private[0]}
	for _, id := range gone {
		s.boss.Do(t, http.MethodDelete, channelPath(id), nil).OK(t)
	}
	rest := slices.DeleteFunc(slices.Clone(s.all), func(id string) bool { return slices.Contains(gone, id) })
	for _, by := range []*apptest.Client{s.boss, admin(t)} {
		l := s.listing(by).with("sortBy", "firstCreated")
		l.requireOrder(t, s.all)
		l.with("isDeleted", "false").requirePages(t, 2, rest)
		l.with("isDeleted", "true").requireOrder(t, gone)
	}
	theirs := s.listing(s.stranger).with("sortBy", "firstCreated")
	theirs.requireOrder(t, s.public[1:])
	theirs.with("isDeleted", "true").requireOrder(t, []string{})
}

// TestChannelsByActivity checks that a message moves its channel to the front, at most once every few seconds.
func TestChannelsByActivity(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss := n.NewUser(t, region.EU, "boss")
	first, second := newChat(t, boss), newChat(t, boss)
	execute(t, n, `UPDATE channels SET last_activity = last_activity - interval '1 hour'`)
	l := listing{by: boss, path: channelsPath, list: "channels", id: "channelId"}
	l.requireOrder(t, []string{second.id, first.id})
	first.newMessage(t, boss, "hello")
	l.requireOrder(t, []string{first.id, second.id})
	before := getChannel(t, boss, first.id)["lastActivity"]
	first.newMessage(t, boss, "and again")
	require.Equal(t, before, getChannel(t, boss, first.id)["lastActivity"], "a busy channel is no second hot row")
}

// TestReadStateOfChannelUsers checks that everyone sees what each member has read, and which message mentioned each member last.
func TestReadStateOfChannelUsers(t *testing.T) {
	t.Parallel()
	boss, first, second := newUser(t, region.EU, "boss"), newUser(t, region.US, "first"), newUser(t, region.SG, "second")
	chat, other := newChat(t, boss, first, second), newChat(t, boss, first, second)
	mention := func(c *apptest.Client) object {
		return object{"mentionedUsers": []object{{"type": "user", "userIds": []string{c.UserID}}}}
	}
	chat.newMessage(t, boss, "1")
	chat.newMessage(t, boss, "2", mention(first))
	chat.newMessage(t, first, "3", mention(second))
	chat.newMessage(t, boss, "4")
	other.newMessage(t, second, "1", mention(boss))
	second.Do(t, http.MethodPost, channelPath(chat.id)+"/seen", object{"readToSegment": 1}).OK(t)
	want := map[string][]any{boss.UserID: {4.0, 0.0}, first.UserID: {3.0, 2.0}, second.UserID: {1.0, 3.0}}
	for i, by := range []*apptest.Client{boss, first, second, admin(t)} {
		require.Eventually(t, func() bool {
			found := map[string][]any{}
			for _, u := range by.At(region.All()[i%3]).Do(t, http.MethodGet, channelUsersPath(chat.id), nil).OK(t).List(t, "channelUsers") {
				found[text(u.(object), "userId")] = []any{u.(object)["readToSegment"], u.(object)["lastMentionedSegment"]}
			}
			return reflect.DeepEqual(want, found)
		}, apptest.Patience, tick)
	}
	for _, by := range []*apptest.Client{boss, first, second} {
		for i, field := range []string{"readToSegment", "lastMentionedSegment"} {
			require.Equal(t, want[by.UserID][i], channelUser(t, by, chat.id)[field], field)
		}
	}
}

// TestSeenChannels moves the caller's markers of the default subchannels, only forward.
func TestSeenChannels(t *testing.T) {
	t.Parallel()
	boss, reader := newUser(t, region.EU, "boss"), newUser(t, region.US, "reader")
	chat, other := newChat(t, boss, reader), newChat(t, boss)
	for range 3 {
		chat.newMessage(t, boss, "hello")
	}
	readTo := func() int {
		t.Helper()
		return int(channelUser(t, reader, chat.id)["readToSegment"].(float64))
	}
	require.Eventually(t, func() bool { return readTo() == 0 && unread(t, reader) == 3 }, apptest.Patience, tick,
		"the outbox tells the reader's home")
	require.InDelta(t, 3, channelUser(t, boss, chat.id)["readToSegment"], 0, "authors have read what they wrote")
	seen := func(segments ...object) *apptest.Response {
		t.Helper()
		return reader.At(region.SG).Do(t, http.MethodPost, channelsPath+"/seen", object{"channels": segments})
	}
	for _, c := range []struct{ to, want int }{{2, 2}, {1, 2}, {100, 3}} {
		seen(object{"channelId": chat.id, "readToSegment": c.to}, object{"channelId": chat.id, "readToSegment": 0},
			object{"channelId": other.id, "readToSegment": 7}, object{"channelId": "none", "readToSegment": 1}).OK(t)
		require.Equal(t, c.want, readTo())
		require.Equal(t, 3-c.want, unread(t, reader))
	}
	chat.newMessage(t, boss, "one more")
	require.Eventually(t, func() bool { return unread(t, reader) == 1 }, apptest.Patience, tick)
	reader.Do(t, http.MethodPost, channelPath(chat.id)+"/seen", object{"readToSegment": 4}).OK(t)
	require.Equal(t, 0, unread(t, reader))
	requireAttempts(t, []attempt{
		{"nothing", reader, http.MethodPost, channelsPath + "/seen", object{}, invalid("channels")},
		{"below zero", reader, http.MethodPost, channelPath(chat.id) + "/seen", object{"readToSegment": -1}, invalid("readToSegment")},
		{"admin", admin(t), http.MethodPost, channelPath(chat.id) + "/seen", object{"readToSegment": 1}, forbidden},
	})

	chat.newMessage(t, boss, "and one")
	require.Eventually(t, func() bool { return unread(t, reader) == 1 }, apptest.Patience, tick)
	reader.Do(t, http.MethodDelete, chat.path("/leave"), nil).OK(t)
	require.Eventually(t, func() bool { return unread(t, reader) == 0 }, apptest.Patience, tick, "what one cannot read is not unread")
	reader.Do(t, http.MethodPost, chat.path("/join"), nil).OK(t)
	chat.newMessage(t, boss, "back?")
	require.Eventually(t, func() bool { return unread(t, reader) == 1 }, apptest.Patience, tick)
	boss.Do(t, http.MethodDelete, channelPath(chat.id), nil).OK(t)
	require.Eventually(t, func() bool { return unread(t, reader) == 0 }, apptest.Patience, tick, "nor what is deleted")
}

// unread returns the number of messages that a user has not read in all channels.
func unread(t *testing.T, c *apptest.Client) int {
	t.Helper()
	return c.Do(t, http.MethodGet, markersPath+"/userMarker", nil).OK(t).Int(t, "userMarkers.0.unreadCount")
}
