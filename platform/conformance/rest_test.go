package conformance

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestQuerySpellings requests one page with each way in which clients write parameters.
func TestQuerySpellings(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	for range 3 {
		newWallPost(t, boss, object{"attachments": attached(t, boss.Network, "image", "video")})
	}
	path := "/api/v3/user-feeds/" + boss.UserID
	for _, query := range []string{
		"options[limit]=2", "options%5Blimit%5D=2", "options.limit=2", "limit=2", "options[limit]=2&limit=3",
		"options[limit]=2&options[type]=pagination", "options[limit]=2&unknown[deep][0]=x", "options[limit]=2&hasFlag=null",
		"options[limit]=2&&", "sortBy=lastCreated&options[limit]=2",
	} {
		t.Run(query, func(t *testing.T) {
			require.Len(t, boss.Do(t, http.MethodGet, path+"?"+query, nil).OK(t).List(t, "data.posts"), 2)
		})
	}
	for _, query := range []string{
		"dataTypes[]=image&dataTypes[]=video", "dataTypes[0]=image&dataTypes[1]=video", "dataTypes=image&dataTypes=video",
		"dataTypes%5B%5D=image&dataTypes%5B%5D=video",
	} {
		t.Run(query, func(t *testing.T) {
			require.Len(t, boss.Do(t, http.MethodGet, path+"?"+query, nil).OK(t).List(t, "data.posts"), 6)
		})
	}
	for _, query := range []string{"options[limit]=%zz", "%zz=1"} {
		requireFailure(t, badRequest, boss.Do(t, http.MethodGet, path+"?"+query, nil))
	}
}

// TestTrailingSlash checks that a slash at the end of a path has no meaning. It has a network of its own, because lists
// of the shared one change between two requests.
func TestTrailingSlash(t *testing.T) {
	t.Parallel()
	boss := apptest.Start(t).NewUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	post := newPost(t, boss, id)
	for _, path := range []string{
		"/api/v3/users", "/api/v3/users/" + boss.UserID, "/api/v3/communities", communitiesPath + "/" + id, "/api/v3/roles",
		categoriesPath, "/api/v3/posts/" + post, "/api/v3/posts/" + post + "/isflagbyme", moderationPath, membersPath(id),
		joinPath(id), "/api/v3/sessions",
	} {
		plain, slashed := boss.Do(t, http.MethodGet, path, nil).OK(t), boss.Do(t, http.MethodGet, path+"/", nil).OK(t)
		require.JSONEq(t, string(plain.Body), string(slashed.Body), path)
	}
}

// TestDoubleEncodedIDs sends the ids of …/list calls encoded twice, as public clients do.
func TestDoubleEncodedIDs(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, id := range []string{"a b/c%d@é", "100%", "50%25", "a+b", "x&y=z", "[0]", "日本", "%41"} {
		id = apptest.UserID(id)
		odd := n.SignIn(t, region.EU, id)
		twice := url.QueryEscape(url.PathEscape(id))
		once := url.QueryEscape(id)
		for _, query := range []string{"userIds[]=" + twice, "userIds%5B%5D=" + twice, "userIds[0]=" + twice} {
			r := odd.Do(t, http.MethodGet, "/api/v3/users/list?"+query, nil).OK(t)
			require.Equal(t, []string{id}, r.Strings(t, "users", "userId"), query)
		}
		if !strings.Contains(id, "%25") && !strings.Contains(id, "%41") { // these two look as if they were encoded twice
			r := odd.Do(t, http.MethodGet, "/api/v3/users/list?userIds[]="+once, nil).OK(t)
			require.Equal(t, []string{id}, r.Strings(t, "users", "userId"))
		}
		require.Equal(t, id, odd.Do(t, http.MethodGet, "/api/v3/users/"+url.PathEscape(id), nil).OK(t).String(t, "users.0.userId"))
	}
}

// TestBodyContentTypes checks that the content type of a body is ignored and that a POST may have no body.
func TestBodyContentTypes(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	post := newWallPost(t, boss)
	for _, contentType := range []string{
		"application/x-www-form-urlencoded", "application/json", "application/json; charset=utf-8", "text/plain", "nonsense", "",
		"application/proto", "application/grpc", "multipart/form-data",
	} {
		t.Run(contentType, func(t *testing.T) {
			c := boss.With("Content-Type", contentType)
			c.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/flag", nil).OK(t)
			c.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/flag", "").OK(t)
			c.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/flag", `{"reason":"Others"}`).OK(t)
			r := c.Do(t, http.MethodPost, postsPath, `{"data":{"text":"é 日本 \ud83d\ude00"}}`).OK(t)
			require.Equal(t, "é 日本 😀", r.String(t, "posts.0.data.text"))
			require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		})
	}
	requireAttempts(t, []attempt{
		{"unfinished", boss, http.MethodPost, postsPath, `{"data":`, badRequest},
		{"no JSON", boss, http.MethodPost, postsPath, `data=x`, badRequest},
		{"two values", boss, http.MethodPost, postsPath, `{"data":{"text":"x"}}{}`, badRequest},
		{"array", boss, http.MethodPost, postsPath, `[]`, invalid("body")},
		{"text", boss, http.MethodPost, postsPath, `"x"`, invalid("body")},
		{"unfinished, in a DELETE", boss, http.MethodDelete, "/api/v4/posts/" + post, `{"permanent":`, badRequest},
		{"unknown fields", boss, http.MethodPost, postsPath, `{"data":{"text":"x"},"unknown":{"deep":[1]}}`, failure{}},
		{"a body where none belongs", boss, http.MethodGet, "/api/v3/users", `{"x":1}`, failure{}},
	})
	r := boss.Do(t, http.MethodPost, postsPath, "{\"data\":{\"text\":\"\xff\"}}")
	require.Contains(t, []int{400, 422}, r.Status, "text that is not UTF-8")
	r.Error(t)
}

// TestDeleteWithBody names what to delete in a JSON body.
func TestDeleteWithBody(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	l := listing{by: boss, path: "/api/v5/posts", query: url.Values{"targetId": {id}, "isDeleted": {"true"}}, list: "posts", id: "postId"}
	gone, kept := newPost(t, boss, id), newPost(t, boss, id)
	boss.Do(t, http.MethodDelete, "/api/v4/posts/"+gone, object{"postId": gone, "permanent": true}).OK(t)
	boss.Do(t, http.MethodDelete, "/api/v4/posts/"+kept, object{"postId": kept, "permanent": false}).OK(t)
	l.requireOrder(t, []string{kept})
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice := newUser(t, region.EU, "alice")
	for _, by := range []*apptest.Client{alice, n.Anonymous(region.US)} {
		for _, path := range []string{
			"/", "/api", "/api/v3", "/api/v9/users", "/api/v3/user", "/api/v3/users/x/y/z", "/nothing", "/api/v3//users",
			"/api/v3/communities/x/unknown", "/favicon.ico", "/%2e%2e/etc/passwd", "/plaza.v1.UserService",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
				requireFailure(t, notFound, by.Do(t, method, path, nil))
			}
		}
		for path, method := range map[string]string{
			"/api/v3/users": http.MethodDelete, "/api/v5/sessions": http.MethodGet, "/api/v3/posts/x": http.MethodPost,
			"/api/v3/posts/x/flag": http.MethodGet, tokenPath: http.MethodPatch,
		} {
			r := by.Do(t, method, path, nil)
			require.Equal(t, http.StatusMethodNotAllowed, r.Status, "%s %s", method, path)
			require.NotEmpty(t, r.Header.Get("Allow"))
			code, message := r.Error(t)
			require.Equal(t, 400000, code)
			require.Equal(t, "Bad Request.", message)
		}
	}
	head := alice.Do(t, http.MethodHead, "/api/v3/users", nil).OK(t)
	require.Empty(t, head.Body)
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	body := func(size int) string {
		const frame = `{"data":{"text":"x"},"unknown":""}`
		return strings.Replace(frame, `""`, `"`+strings.Repeat("y", size-len(frame))+`"`, 1)
	}
	const limit = 1 << 20
	alice.Do(t, http.MethodPost, postsPath, body(limit)).OK(t)
	requireFailure(t, tooLarge, alice.Do(t, http.MethodPost, postsPath, body(limit+1)))
	// Without a Content-Length, the size is known only while the body arrives.
	reader, writer := io.Pipe()
	go func() { _, err := io.WriteString(writer, body(limit+1)); writer.CloseWithError(err) }()
	request := alice.Request(t, http.MethodPost, postsPath, nil)
	request.Body = reader
	answer, err := alice.Network.HTTP().Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
	var e struct {
		Status string
		Code   int
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&e))
	require.Equal(t, "error", e.Status)
	require.Equal(t, 500000, e.Code)
	header := alice.With("X-Long", strings.Repeat("x", 100<<10)).Do(t, http.MethodGet, "/api/v3/users", nil)
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, header.Status)
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	const name = "X-Request-Id"
	require.Equal(t, "my-id.1", alice.With(name, "my-id.1").Do(t, http.MethodGet, "/api/v3/users", nil).OK(t).Header.Get(name))
	require.Equal(t, "my-id.2", alice.With(name, "my-id.2").Do(t, http.MethodGet, "/nothing", nil).Header.Get(name))
	seen := map[string]bool{}
	for _, given := range []string{"", "with space", `"quoted"`, strings.Repeat("x", 1000), "ünïcode"} {
		made := alice.With(name, given).Do(t, http.MethodGet, "/api/v3/users", nil).OK(t).Header.Get(name)
		require.NotEmpty(t, made)
		require.NotEqual(t, given, made)
		require.False(t, seen[made])
		seen[made] = true
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	alice := apptest.Start(t).NewUser(t, region.EU, "alice") // the roles of the shared network change
	plain := alice.Do(t, http.MethodGet, "/api/v3/roles", nil).OK(t)
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	for accept, want := range map[string]string{
		"gzip": "gzip", "gzip, deflate, br": "gzip", "br;q=1, gzip;q=0.5": "gzip", "*": "gzip", "gzip;q=0": "", "br": "", "identity": "",
	} {
		t.Run(accept, func(t *testing.T) {
			r := alice.With("Accept-Encoding", accept).Do(t, http.MethodGet, "/api/v3/roles", nil).OK(t)
			require.Equal(t, want, r.Header.Get("Content-Encoding"))
			require.Contains(t, strings.Join(r.Header.Values("Vary"), ","), "Accept-Encoding")
			body := r.Body
			if want != "" {
				reader, err := gzip.NewReader(strings.NewReader(string(body)))
				require.NoError(t, err)
				body, err = io.ReadAll(reader)
				require.NoError(t, err)
			}
			require.JSONEq(t, string(plain.Body), string(body))
		})
	}
	small := alice.With("Accept-Encoding", "gzip").Do(t, http.MethodGet, verifyPath, nil).OK(t)
	require.Empty(t, small.Header.Get("Content-Encoding"), "a small answer fits a packet as it is")
	requireFailure(t, notFound, alice.With("Accept-Encoding", "gzip").Do(t, http.MethodGet, "/nothing", nil))
}

// TestCORS checks that pages of every origin may call the API.
func TestCORS(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice := newUser(t, region.EU, "alice")
	const origin = "https://app.example.com"
	for path, method := range map[string]string{
		"/api/v3/users": http.MethodPut, "/api/v4/sessions": http.MethodDelete, "/api/v5/sessions": http.MethodPost,
		"/plaza.v1.UserService/GetUser": http.MethodPost,
	} {
		r := n.Anonymous(region.EU).With("Origin", origin, "Access-Control-Request-Method", method,
			"Access-Control-Request-Headers", "authorization,content-type,set-access-token-cookie,x-api-key").
			Do(t, http.MethodOptions, path, nil)
		require.Equal(t, http.StatusNoContent, r.Status, path)
		require.Contains(t, []string{"*", origin}, r.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, r.Header.Get("Access-Control-Allow-Methods"), method)
		allowed := strings.ToLower(r.Header.Get("Access-Control-Allow-Headers"))
		for _, name := range []string{"authorization", "content-type", "x-api-key", "set-access-token-cookie"} {
			require.Contains(t, allowed, name)
		}
	}
	for _, r := range []*apptest.Response{
		alice.With("Origin", origin).Do(t, http.MethodGet, "/api/v3/users", nil).OK(t),
		alice.With("Origin", origin).Do(t, http.MethodGet, "/api/v3/users/unknown-user", nil),
		alice.With("Origin", origin).Do(t, http.MethodGet, "/nothing", nil),
	} {
		require.Contains(t, []string{"*", origin}, r.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, strings.ToLower(r.Header.Get("Access-Control-Expose-Headers")), "x-request-id")
	}
}

// TestSecurityHeaders checks that answers must not be sniffed and do not name the server.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for _, path := range []string{"/api/v3/users", "/nothing"} {
		r := alice.Do(t, http.MethodGet, path, nil)
		require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		require.Empty(t, r.Header.Get("Server"))
	}
}

// TestErrorsHideInternals checks that errors do not contain internal details.
func TestErrorsHideInternals(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for _, evil := range []string{"'; DROP TABLE users; --", "../../etc/passwd", "${jndi:ldap://x}", "\u202e", strings.Repeat("[", 500)} {
		for _, path := range []string{
			"/api/v3/users/" + url.PathEscape(evil), "/api/v3/users?keyword=" + url.QueryEscape(evil)[:min(100, len(url.QueryEscape(evil)))],
			"/api/v3/posts/" + url.PathEscape(evil), "/api/v5/posts?targetId=" + url.QueryEscape(evil),
			communitiesPath + "/" + url.PathEscape(evil) + "/users?search=" + url.QueryEscape(evil),
		} {
			r := alice.Do(t, http.MethodGet, path, nil)
			require.Less(t, r.Status, 500, "%s: %s", path, r.Short())
			require.NotContains(t, strings.ToLower(string(r.Body)), "sql", path)
		}
	}
}

// TestRawHTTP writes bytes to the port: malformed requests are refused, and the server keeps running.
func TestRawHTTP(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, c := range []struct{ send, want string }{
		{"nonsense that is longer than the preface of HTTP/2\r\n\r\n", "HTTP/1.1 400 "},
		{"GET /api/v3/users HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "}, // no Host
		{"GET /api/v3/users HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 401 "},
		{"POST /api/v5/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}", "HTTP/1.1 400 "},
	} {
		conn, err := net.Dial("tcp", n.Region(region.EU).APIAddr())
		require.NoError(t, err)
		_, err = io.WriteString(conn, c.send)
		require.NoError(t, err)
		line, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, c.want, "%q", c.send)
		require.NoError(t, conn.Close())
	}
}
