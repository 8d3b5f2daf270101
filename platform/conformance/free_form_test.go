package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestNumbersKeepTheirDigits writes numbers that no float holds, and reads them in every form in which a client receives objects.
func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	const given, want = `{"n":9007199254740993,"d":0.10,"e":1.5e3,"z":-0}`, `"n":9007199254740993`
	author, reader := newUser(t, region.EU, "author"), newUser(t, region.SG, "reader")
	community := newCommunity(t, author)
	stream := author.Listen(t, "/realtime/post.created", "")
	created := author.Do(t, http.MethodPost, postsPath,
		`{"data":{"text":"a"},"targetType":"community","targetId":"`+community+`","metadata":`+given+`}`).OK(t)
	id := created.String(t, "posts.0.postId")
	author.Do(t, http.MethodPut, "/api/v3/users", `{"userId":"`+author.UserID+`","metadata":`+given+`}`).OK(t)
	chat := newChatOf(t, author, object{"isPublic": true}, reader)
	message := author.Do(t, http.MethodPost, messagesPath, `{"messageFeedId":"`+chat.id+`","dataType":"custom","data":`+given+`}`).OK(t)
	for name, body := range map[string]string{
		"the answer to its creation": string(created.Body),
		"a post":                     string(reader.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil).OK(t).Body),
		"a list":                     string(reader.Do(t, http.MethodGet, postsPath+"?targetType=community&targetId="+community, nil).OK(t).Body),
		"over Connect":               string(reader.Do(t, http.MethodPost, "/plaza.v1.PostService/GetPost", object{"postId": id}).OK(t).Body),
		"an event":                   stream.Next(t).Data,
		"a user":                     string(reader.Do(t, http.MethodGet, "/api/v3/users/"+author.UserID, nil).OK(t).Body),
		"the answer to a message":    string(message.Body),
		"a message": string(reader.Do(t, http.MethodGet, messagesPath+"/"+message.String(t, "messages.0.messageId"),
			nil).OK(t).Body),
	} {
		for _, number := range []string{want, `"d":0.10`, `"e":1500`, `"z":0`} {
			require.Contains(t, body, number, name)
		}
	}
}

// TestRefusedObjects sends free-form objects that cannot be stored as they are. The answer names the value and the cause.
func TestRefusedObjects(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	for raw, detail := range map[string]string{
		`{"a":1,"b":{"c":1,"c":2}}`: "metadata.b.c: must not occur twice",
		`{"a":["x","\ud800"]}`:      "metadata.a[1]: must be valid UTF-8, without halves of surrogate pairs",
		`{"a":"\u0000"}`:            "metadata.a: must be valid UTF-8 without NUL characters",
		`{"a":1e500}`:               "metadata.a: must have at most 400 digits",
		`{"a":` + strings.Repeat("[", 120) + strings.Repeat("]", 120) + `}`: "body: must not be nested more than 100 levels deep",
	} {
		r := author.Do(t, http.MethodPost, postsPath, `{"data":{"text":"a"},"metadata":`+raw+`}`)
		requireFailure(t, failure{status: http.StatusUnprocessableEntity, code: 500000}, r)
		require.Equal(t, detail, r.String(t, "data.detail.0"))
	}
	require.Zero(t, postsOf(t, author))
}
