package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestChannelMessages uses the operations of older clients on the messages of a channel.
func TestChannelMessages(t *testing.T) {
	t.Parallel()
	const path = "/api/v3/messages"
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	c := newChatOf(t, boss, nil, member)
	channel := boss.Do(t, http.MethodGet, c.path(""), nil).OK(t).String(t, "channels.0.channelPublicId")
	send := func(text string, more object) string {
		body := with(object{"channelId": channel, "type": "text", "data": object{"text": text}, "tags": []string{text}}, more)
		return member.Do(t, http.MethodPost, path, body).OK(t).String(t, "messages.0.messageId")
	}
	first, mentioned := send("a", object{"messageId": "mine"}), []object{{"type": "user", "userIds": []string{boss.UserID}}}
	require.Equal(t, first, send("a", object{"messageId": "mine"}), "the client's id makes it idempotent")
	second, third := send("b", object{"parentId": first}), send("c", object{"mentionees": mentioned})
	list := func(query string) *apptest.Response {
		return boss.Do(t, http.MethodGet, path+"?channelId="+channel+query, nil).OK(t)
	}
	for query, want := range map[string][]string{
		"":                                    {third, second, first},
		"&options[first]=2":                   {first, second},
		"&options[after]=1&options[first]=5":  {second, third},
		"&options[last]=1":                    {third},
		"&options[before]=3&options[last]=1":  {second},
		"&tags=a&tags=c":                      {third, first},
		"&excludeTags=a":                      {third, second},
		"&parentId=" + first:                  {second},
		"&filterByParentId=true":              {third, first},
		"&type=image":                         {},
		"&isDeleted=false&options[limit]=100": {third, second, first},
	} {
		require.ElementsMatch(t, want, list(query).Strings(t, "messages", "messageId"), query)
	}
	page := list("&options[after]=1&options[first]=1")
	require.Equal(t, []string{second}, page.Strings(t, "messages", "messageId"))
	next := list("&options[token]=" + page.String(t, "paging.next"))
	require.Equal(t, []string{third}, next.Strings(t, "messages", "messageId"), "a token continues in the same direction")
	require.Equal(t, []string{second}, list("&options[token]="+next.String(t, "paging.prev")).Strings(t, "messages", "messageId"))

	at := path + "/" + third
	changed := member.Do(t, http.MethodPut, at, object{"data": object{"text": "d"}, "mentionees": mentioned}).OK(t)
	require.Equal(t, boss.UserID, changed.String(t, "messages.0.mentionedUsers.0.userPublicIds.0"))
	require.Equal(t, "d", boss.Do(t, http.MethodGet, at, nil).OK(t).String(t, "messages.0.data.text"))
	require.Len(t, boss.Do(t, http.MethodGet, path+"/list?messageIds="+first+"&messageIds="+third, nil).OK(t).List(t, "messages"), 2)
	flagged := func() bool {
		answer := boss.Do(t, http.MethodGet, at+"/isFlaggedByMe", nil).OK(t)
		require.Equal(t, "success", answer.String(t, "status"))
		return answer.Bool(t, "data.result")
	}
	boss.Do(t, http.MethodPost, at+"/flag", nil).OK(t)
	require.True(t, flagged())
	boss.Do(t, http.MethodDelete, at+"/unflag", nil).OK(t)
	require.False(t, flagged())
	boss.Do(t, http.MethodPost, at+"/flag", nil).OK(t)
	requireFailure(t, forbidden, member.Do(t, http.MethodDelete, at+"/clearFlags", nil))
	boss.Do(t, http.MethodDelete, at+"/clearFlags", nil).OK(t)
	require.False(t, flagged())
	require.True(t, member.Do(t, http.MethodDelete, at, nil).OK(t).Bool(t, "data.success"))
	require.Equal(t, []string{third}, list("&isDeleted=true").Strings(t, "messages", "messageId"))
	requireFailure(t, notFound, boss.Do(t, http.MethodGet, path+"?channelId=unknown", nil))
}
