package importer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fill replaces each * of a pattern by a text.
func fill(pattern, text string) string { return strings.ReplaceAll(pattern, "*", text) }

// TestBadLines checks that lines which cannot be imported say what is wrong and what is allowed.
func TestBadLines(t *testing.T) {
	i := New(optionsOf(t))
	const post = `{"type":"post","id":"` + climbingInFile + `","userId":"ada","data":{*}}`
	const message = `{"type":"message","id":"` + climbingInFile + `","userId":"ada","data":{*}}`
	const conversation = `{"type":"conversation","userId":"ada","data":{"userIds":[*]}}`
	for line, reason := range map[string]string{
		`{`:                            "the line must be one JSON object",
		`[]`:                           "the line must be one JSON object",
		`{"type":"user"} {}`:           "the line must be one JSON object",
		`{"type":1}`:                   "type: must be a string",
		`{"type":"user","data":1}`:     "data: must be an object",
		`{"type":"user","name":"Ada"}`: `unknown field "name": the fields are type, id, userId, region, createdAt, updatedAt and data`,
		`{"type":"room"}`:              "type: must be user, community, member, post, channel, channelMember, conversation, message",
		`{"type":"user"}`:              "userId: must not be empty",
		`{"type":"user","userId":"ada","id":"` + climbing + `"}`: "id: must not be set for the type user",
		`{"type":"user","userId":"` + climbing +
			`"}`: "userId: must not have the form of an internal id",
		`{"type":"user","userId":"ADMIN_ada"}`: "userId: must not start with ADMIN_ or " +
			"DELETED_",
		`{"type":"user","userId":"ada "}`:                                       "userId: must not start or end with a space",
		`{"type":"user","userId":"ada","region":"mars"}`:                        "region: must be us, eu or sg",
		`{"type":"user","userId":"ada","createdAt":"yesterday"}`:                "createdAt: must be a date-time such as",
		`{"type":"user","userId":"ada","createdAt":"1969-12-31T23:59:59Z"}`:     "createdAt: must be a date-time such as",
		`{"type":"user","userId":"ada","createdAt":"2026-11-20T12:00:00.001Z"}`: "createdAt: must be a date-time such as",
		`{"type":"user","userId":"ada","updatedAt":"2026-11-20T11:59:59.999Z"}`: "updatedAt: must not be before createdAt",
		`{"type":"user","userId":"ada","data":{"roles":["global-admin"]}}`: "data.roles: is not imported; a user " +
			"has displayName",
		`{"type":"user","userId":"ada","data":{"displayName":7}}`:             "data.displayName: must be a string",
		`{"type":"user","userId":"ada","data":{"avatarCustomUrl":"ftp://x"}}`: "data.avatarCustomUrl: ",
		`{"type":"community","userId":"ada"}`: "id: must be 24 lowercase hexadecimal " +
			"digits",
		`{"type":"community","userId":"ada","id":"` + strings.ToUpper(climbing) +
			`"}`: "id: must be 24 lowercase hexadecimal digits",
		`{"type":"community","userId":"ada","id":"02` + strings.Repeat("0", 22) +
			`"}`: "id: must be 24 lowercase hexadecimal digits",
		`{"type":"community","userId":"ada","id":"` + climbing +
			`","region":"us"}`: "id: begins with the digits of the region eu, but the object belongs to us",
		`{"type":"community","userId":"ada","id":"` + climbing + `"}`: "data.displayName: ",
		`{"type":"member","userId":"ada","region":"eu"}`: "region: must not be set for the type " +
			"member",
		`{"type":"member","userId":"ada"}`: "data.communityId: must be 24 " +
			"lowercase hexadecimal digits",
		`{"type":"member","userId":"ada","data":{"communityId":7}}`: "data.communityId: must be a string",
		`{"type":"member","userId":"ada","data":{"communityId":"` + climbing +
			`","role":"owner"}}`: "data.role: must be member, moderator or banned",
		fill(post, ``): "data.data.text: a post needs text or an attachment",
		fill(post,
			`"dataType":"poll","data":{"text":"x"}`): "data.dataType: must be text or a custom name with a dot",
		fill(post,
			`"data":{"text":"x","images":["file"]}`): "data.data: must not refer to files, which are not imported",
		fill(post, `"dataType":"a.b","data":{"fileId":"`+climbing+
			`"}`): "data.data: must not refer to files, which are not imported",
		fill(post,
			`"data":{"text":"x"},"targetType":"content","targetId":"x"`): "data.targetType: must be user or community",
		fill(post,
			`"data":{"text":"x"},"targetType":"community","targetId":"x"`): "data.targetId: must be 24 lowercase hexadecimal digits",
		fill(post,
			`"data":{"text":"x"},"attachments":[]`): "data.attachments: is not imported; a post has targetType",
		fill(post,
			`"data":{"text":"a\u0000b"}`): "must be valid UTF-8 without NUL characters",
		`{"type":"member","userId":"ada","updatedAt":"2026-11-20T11:59:59Z"}`: "updatedAt: must not be set for " +
			"the type member",
		`{"type":"channel","userId":"ada","data":{}}`: "data.channelId: must not be " +
			"empty, nor have the form of an internal id",
		`{"type":"channel","userId":"ada","data":{"channelId":"` + climbing +
			`"}}`: "data.channelId: must not be empty, nor have the form of an internal id",
		`{"type":"channel","userId":"ada","data":{"channelId":"a","type":"live"}}`: "data.type: must be community or " +
			"broadcast",
		`{"type":"channel","userId":"ada","data":{"channelId":"a","type":"broadcast","isPublic":true}}`: "data.isPublic: only allowed for " +
			"type community",
		`{"type":"channelMember","userId":"ada","createdAt":"2026-11-20T11:59:59Z"}`: "createdAt: must not be set for the type " +
			"channelMember",
		`{"type":"channelMember","userId":"ada"}`:                                         "data.channelId: must be the channelId of a channel",
		`{"type":"channelMember","userId":"ada","data":{"channelId":"a","role":"owner"}}`: "data.role: must be member, moderator or banned",
		`{"type":"conversation","userId":"ada","data":{"userIds":["ada"]}}`:               "data.userIds: must have 1 to 10 users besides userId",
		fill(conversation, `"1","2","3","4","5","6","7","8","9","10","11"`):               "data.userIds: must have 1 to 10 users besides userId",
		fill(message, ``): "data: must have either channelId or userIds",
		fill(message, `"channelId":"a","userIds":["bob"]`): "data: must have either channelId or userIds",
		fill(message, `"userIds":"bob"`):                   "data.userIds: must be a list of strings",
		fill(message, `"userIds":["ada"]`):                 "data.userIds: must have 1 to 10 users besides userId",
		fill(message, `"channelId":"a"`):                   "data.data.text: must not be empty in a text message",
		fill(message,
			`"channelId":"a","dataType":"image"`): "data.dataType: must be text or custom: files are not imported",
		fill(message, `"channelId":"a","data":{"text":"a","fileId":"`+climbing+
			`"}`): "data.data: must not refer to files, which are not imported",
		fill(message, `"channelId":"a","data":{"text":"a"},"parentId":"x"`): "data.parentId: must be 24 lowercase hexadecimal digits",
		fill(message, `"channelId":"`+climbing+`"`):                         "data.channelId: must be the channelId of a channel",
	} {
		_, err := i.parse(1, []byte(line))
		require.Error(t, err, line)
		require.Contains(t, newLineError("file", 1, err).Error(), "file:1: ", line)
		require.Contains(t, reasonOf(err), reason, line)
	}
	for _, line := range []string{
		fill(conversation, `"1","2","3","4","5","6","7","8","9","10","ada"`),
		`{"type":"channel","userId":"ada","data":{"channelId":"a","type":"broadcast"}}`,
	} {
		_, err := i.parse(1, []byte(line))
		require.NoError(t, err, line)
	}
}

// TestBounds checks that the bounds of the API apply to lines: a row at each bound, and one past it.
func TestBounds(t *testing.T) {
	i := New(optionsOf(t))
	const user, community = `{"type":"user","userId":"ada","data":{*}}`,
		`{"type":"community","id":"` + climbingInFile + `","userId":"ada","data":{*}}`
	const post = `{"type":"post","id":"` + climbingInFile + `","userId":"ada","data":{*}}`
	const message = `{"type":"message","id":"` + climbingInFile + `","userId":"ada","data":{"channelId":"a",*}}`
	for _, c := range []struct {
		pattern, field string
		limit          int
		allowed        string
	}{
		{fill(user, `"displayName":"*"`), "displayName", 100, "at most 100 characters"},
		{fill(user, `"description":"*"`), "description", 500, "at most 500 characters"},
		{`{"type":"user","userId":"*"}`, "userId", 50, "at most 50 characters"},
		{fill(community, `"displayName":"*"`), "displayName", 1000, "at most 1,?000 characters"},
		{fill(community, `"displayName":"a","description":"*"`), "description", 5000, "at most 5,?000 characters"},
		{fill(community, `"displayName":"a","tags":["*"]`), "tags", 100, "at most 100 characters"},
		{fill(post, `"data":{"text":"*"}`), "text", 50_000, "at most 50,?000 characters"},
		{fill(post, `"data":{"text":"a","title":"*"}`), "title", 150, "at most 150 characters"},
		{fill(post, `"data":{"text":"a"},"tags":["*"]`), "tags", 24, "at most 24 characters"},
		{fill(post, `"data":{"text":"a"},"hashtags":["*"]`), "hashtags", 100, "at most 100 characters"},
		{fill(message, `"data":{"text":"*"}`), "text", 20_000, "at most 20,?000 characters"},
		{fill(message, `"data":{"text":"a"},"tags":["*"]`), "tags", 100, "at most 100 characters"},
		{`{"type":"channel","userId":"ada","data":{"channelId":"*"}}`, "channelId", 100, "at most 100 characters"},
		{`{"type":"channel","userId":"ada","data":{"channelId":"a","displayName":"*"}}`, "displayName", 100, "at most 100 characters"},
		{`{"type":"conversation","userId":"ada","data":{"userIds":["bob"],"displayName":"*"}}`, "displayName", 100, "at most 100 characters"},
	} {
		t.Run(fmt.Sprint(c.field, c.limit), func(t *testing.T) {
			_, err := i.parse(1, []byte(fill(c.pattern, strings.Repeat("a", c.limit))))
			require.NoError(t, err)
			_, err = i.parse(1, []byte(fill(c.pattern, strings.Repeat("a", c.limit+1))))
			require.Error(t, err)
			require.Contains(t, reasonOf(err), c.field)
			require.Regexp(t, c.allowed, reasonOf(err))
		})
	}
}

func TestCandidates(t *testing.T) {
	require.Equal(t, []string{"01" + climbing[2:], climbing, "03" + climbing[2:]}, candidates(climbingInFile))
	require.Equal(t, []string{climbing}, candidates(climbing))
	for _, id := range []string{"", "x", climbing + "0", climbing[1:], strings.ToUpper(climbing), "5c" + strings.Repeat("0", 22)} {
		require.Empty(t, candidates(id), id)
	}
}

// TestTimes covers the times of a row at their bounds, and those of a row without them.
func TestTimes(t *testing.T) {
	i := New(optionsOf(t))
	const line = `{"type":"user","userId":"ada"*}`
	for times, want := range map[string][2]string{
		``:                                    {"2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"},
		`,"createdAt":"2026-11-20T12:00:00Z"`: {"2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"},
		`,"createdAt":"1970-01-01T00:00:00Z"`: {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		`,"createdAt":"2020-01-01T01:00:00+01:00","updatedAt":"2020-01-01T00:00:00Z"`: {"2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"},
		`,"createdAt":"2020-01-01T00:00:00Z","updatedAt":"2026-11-20T12:00:00Z"`:      {"2020-01-01T00:00:00Z", "2026-11-20T12:00:00Z"},
	} {
		r, err := i.parse(1, []byte(fill(line, times)))
		require.NoError(t, err, times)
		require.Equal(t, want, [2]string{r.createdAt.Format(time.RFC3339), r.updatedAt.Format(time.RFC3339)}, times)
	}
}
