package edge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestRESTRequests(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	w := start(t)
	for _, tc := range []struct {
		name, method, path, body, contentType string
		want                                  proto.Message
	}{
		{
			name: "bracket parameters", method: "GET",
			path: "/api/v3/comments?referenceId=p&options[limit]=3&dataTypes[values][0]=text&dataTypes[values][1]=image&dataTypes[matchType]=any",
			want: &plazav1.ListCommentsRequest{
				ReferenceId: "p", Options: &plazav1.PageOptions{Limit: proto.Int32(3)},
				DataTypes: &plazav1.CommentDataTypes{Values: []string{"text", "image"}, MatchType: "any"},
			},
		},
		{
			name: "encoded bracket parameters", method: "GET",
			path: "/api/v3/comments?referenceId=p&options%5Blimit%5D=3&dataTypes%5bvalues%5d%5B0%5D=text",
			want: &plazav1.ListCommentsRequest{
				ReferenceId: "p", Options: &plazav1.PageOptions{Limit: proto.Int32(3)},
				DataTypes: &plazav1.CommentDataTypes{Values: []string{"text"}},
			},
		},
		{
			name: "empty brackets are lists", method: "GET", path: "/api/v3/users/list?userIds[]=a&userIds[]=b",
			want: &plazav1.BatchGetUsersRequest{UserIds: []string{"a", "b"}},
		},
		{
			name: "indices are lists", method: "GET", path: "/api/v3/users/list?userIds[0]=a&userIds[1]=b",
			want: &plazav1.BatchGetUsersRequest{UserIds: []string{"a", "b"}},
		},
		{
			name: "ids encoded twice in a list", method: "GET", path: "/api/v3/users/list?userIds[]=a%2540b%252Fc&userIds[]=50%25",
			want: &plazav1.BatchGetUsersRequest{UserIds: []string{"a@b/c", "50%"}},
		},
		{
			name: "null is absent", method: "GET", path: "/api/v3/user-feeds/u?hasFlag=null&options[limit]=null",
			want: &plazav1.ListUserFeedRequest{UserId: "u"},
		},
		{
			name: "false is not absent", method: "GET", path: "/api/v3/user-feeds/u?hasFlag=false",
			want: &plazav1.ListUserFeedRequest{UserId: "u", HasFlag: new(false)},
		},
		{
			name: "unknown parameters", method: "GET", path: "/api/v3/user-feeds/u?nothing=1&nothing[else]=2&a[b&=x&options.=1&userId.=3&connect=v1",
			want: &plazav1.ListUserFeedRequest{UserId: "u"},
		},
		{
			name: "encoded id in the path", method: "GET", path: "/api/v3/users/a%2Fb%20c%3Ad%25e%40%C3%A9",
			want: &plazav1.GetUserRequest{UserId: "a/b c:d%e@é"},
		},
		{
			name: "colon in the path", method: "GET", path: "/api/v3/users/a:b",
			want: &plazav1.GetUserRequest{UserId: "a:b"},
		},
		{
			name: "an id that is spelled like a route", method: "GET", path: "/api/v3/users/%6Cist",
			want: &plazav1.GetUserRequest{UserId: "list"},
		},
		{
			name: "trailing slash", method: "PUT", path: "/api/v3/users/", body: `{"userId":"u"}`, contentType: "application/json",
			want: &plazav1.UpdateUserRequest{UserId: "u"},
		},
		{
			name: "no body, form", method: "POST", path: "/api/v3/comments/c/flag", contentType: form,
			want: &plazav1.FlagCommentRequest{CommentId: "c"},
		},
		{
			name: "no body, no variables", method: "PUT", path: "/api/v3/users", contentType: form,
			want: &plazav1.UpdateUserRequest{},
		},
		{
			name: "no body, no content type", method: "POST", path: "/api/v3/communities/c/join",
			want: &plazav1.JoinCommunityRequest{CommunityId: "c"},
		},
		{
			name: "JSON without content type", method: "POST", path: "/api/v3/comments/c/flag", body: `{"reason":"Others"}`,
			want: &plazav1.FlagCommentRequest{CommentId: "c", Reason: "Others"},
		},
		{
			name: "JSON as text", method: "POST", path: "/api/v3/comments/c/flag", body: `{"reason":"Others"}`, contentType: "text/plain",
			want: &plazav1.FlagCommentRequest{CommentId: "c", Reason: "Others"},
		},
		{
			name: "JSON as gRPC", method: "POST", path: "/api/v3/comments/c/flag", body: `{"reason":"Others"}`, contentType: "application/grpc",
			want: &plazav1.FlagCommentRequest{CommentId: "c", Reason: "Others"},
		},
		{
			name: "the path wins over the body", method: "POST", path: "/api/v3/comments/c/flag", body: `{"commentId":"other","comment_id":"x"}`,
			want: nil, // duplicate names are an error
		},
		{
			name: "the path wins over the body, once", method: "POST", path: "/api/v3/comments/c/flag", body: `{"commentId":"other"}`,
			want: &plazav1.FlagCommentRequest{CommentId: "c"},
		},
		{
			name: "the path wins over the query", method: "POST", path: "/api/v3/comments/c/flag?commentId=other&comment_id=x",
			want: &plazav1.FlagCommentRequest{CommentId: "c"},
		},
		{
			name: "unknown fields of the body", method: "POST", path: "/api/v3/comments/c/flag", body: `{"nothing":{"a":[1]},"reason":"Others"}`,
			want: &plazav1.FlagCommentRequest{CommentId: "c", Reason: "Others"},
		},
		{
			name: "null in the body is absent", method: "PUT", path: "/api/v3/users", body: `{"userId":"u","displayName":null}`,
			want: &plazav1.UpdateUserRequest{UserId: "u"},
		},
		{
			name: "DELETE with a body", method: "DELETE", path: "/api/v3/communities/c/users", body: `{"communityId":"c","userIds":["a","b"]}`,
			want: &plazav1.RemoveMembersRequest{CommunityId: "c", UserIds: []string{"a", "b"}},
		},
		{
			name: "DELETE with a list in the query", method: "DELETE", path: "/api/v3/communities/c/users?userIds[]=a&userIds[]=b",
			want: &plazav1.RemoveMembersRequest{CommunityId: "c", UserIds: []string{"a", "b"}},
		},
		{
			name: "DELETE with an undeclared body", method: "DELETE", path: "/api/v4/posts/p",
			body: `{"postId":"x","permanent":true,"nothing":null}`,
			want: &plazav1.DeletePostRequest{PostId: "p", Permanent: true},
		},
		{
			name: "DELETE with a query", method: "DELETE", path: "/api/v4/posts/p?postId=x&permanent=true",
			want: &plazav1.DeletePostRequest{PostId: "p", Permanent: true},
		},
		{
			name: "GET with a body", method: "GET", path: "/api/v3/users/u", body: `{"userId":"x"}`, contentType: "application/json",
			want: &plazav1.GetUserRequest{UserId: "u"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var headers []string
			if tc.contentType != "" {
				headers = []string{"Content-Type", tc.contentType}
			}
			before := w.count()
			got := w.call(t, tc.method, tc.path, tc.body, headers...)
			if tc.want == nil {
				require.Equal(t, http.StatusUnprocessableEntity, got.status, got.body)
				require.Equal(t, before, w.count())
				return
			}
			require.Equal(t, http.StatusOK, got.status, got.body)
			requireMessage(t, tc.want, w.request())
		})
	}
}

func TestRESTResponses(t *testing.T) {
	w := start(t)

	t.Run("an aggregate", func(t *testing.T) {
		got := w.call(t, "GET", "/api/v3/comments/c", "")
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, "application/json", got.header.Get("Content-Type"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
		require.Empty(t, got.header.Get("Accept-Encoding"))
		require.True(t, strings.HasPrefix(got.body, `{"comments":[{"commentId":"c","_id":"c","path":""`), got.body)
		require.Contains(t, got.body, `"data":{"deep":{"list":[true,null]},"n":1.5,"text":"a <b> & \"c\""},"metadata":null`)
		require.Contains(t, got.body, `"hashFlag":null,"reactions":{"like":1,"love":2},"reactionsCount":0,"myReactions":[],"isDeleted":false`)
		require.Contains(t, got.body, `"createdAt":"2026-01-02T03:04:05.000Z"`)
		require.True(t, strings.HasSuffix(got.body, `"commentChildren":[],"communityUsers":[],"users":[],"roles":[],"files":[]}`), got.body)
	})
	t.Run("a bare string", func(t *testing.T) {
		got := w.call(t, "POST", "/api/v4/authentication/token", `{"userId":"u"}`)
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, `"pz1.\"quoted\""`, got.body)
		require.Equal(t, "application/json", got.header.Get("Content-Type"))
	})
	t.Run("a bare array", func(t *testing.T) {
		got := w.call(t, "GET", "/api/v3/roles/r", "")
		require.Equal(t, http.StatusOK, got.status)
		require.True(t, strings.HasPrefix(got.body, `[{"roleId":"r",`), got.body)
	})
	t.Run("HEAD", func(t *testing.T) {
		got := w.call(t, "HEAD", "/api/v3/comments/c", "")
		require.Equal(t, http.StatusOK, got.status)
		require.Empty(t, got.body)
	})
}
