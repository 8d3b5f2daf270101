package edge_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/edge"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FuzzREST checks that no request causes status 500, and that every response is JSON.
func FuzzREST(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/api/v3/comments?referenceId=p&options[limit]=3&dataTypes[values][0]=text", ""},
		{"GET", "/api/v3/users/list?userIds[]=a%2540b", ""},
		{"GET", "/api/v3/users/a%2Fb:c?options.=1&userId.=2&data[x]=1&createdAt=1", ""},
		{"POST", "/api/v4/posts?mentionees=1&data.fields.x=1&metadata=%00", `{"data":{"a":[1]}}`},
		{"POST", "/api/v3/comments/c/flag?comment_id.x=1&reason=%ff", `{"reason":"x"}`},
		{"DELETE", "/api/v4/posts/p", `{"permanent":true,"a":{"b":[1,{"c":null}]}}`},
		{"DELETE", "/api/v3/communities/c/users?userIds=1", `{"userIds":["a"]}`},
		{"PUT", "/api/v3/network-settings/moderation", `{"isReportEnabled":1}`},
		{"POST", "/plaza.v1.CommentService/FlagComment", `{"commentId":"c"}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	handler, err := edge.New(edge.Options{Services: (&fake{post: &plazav1.ListPostsResponse{}}).services()})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, method, target, body string) {
		parsed, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") {
			return
		}
		request, err := http.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
		if err != nil {
			return
		}
		request.URL = parsed
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code == http.StatusUnsupportedMediaType || strings.Contains(target, ".") && recorder.Body.Len() == 0 {
			return // connect's own errors have no body
		}
		require.NotEqual(t, http.StatusInternalServerError, recorder.Code, recorder.Body.String())
		require.True(t, json.Valid(recorder.Body.Bytes()), "%d %s", recorder.Code, recorder.Body.String())
	})
}
