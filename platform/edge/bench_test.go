package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/edge"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// feed returns a page of n posts with their users and memberships.
func feed(n int) *plazav1.ListPostsResponse {
	now := timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC))
	page := &plazav1.ListPostsResponse{Paging: &plazav1.Paging{Next: "token"}}
	for i := range n {
		id := fmt.Sprintf("01%022x", i)
		data, _ := structpb.NewStruct(map[string]any{"title": "A title", "text": strings.Repeat("Words of a post. ", 8)})
		page.Posts = append(page.Posts, &plazav1.Post{
			PostId: id, PrivateId: id, Data: data, Path: "n/community/c/post/" + id, PostedUserId: "user", PostedUserPublicId: "user",
			PostedUserInternalId: id, TargetId: id, TargetPublicId: id, TargetInternalId: id, TargetType: "community",
			DataType: "text", StructureType: "text", FeedId: id, CreatedAt: now, UpdatedAt: now, EditedAt: now,
			Reactions: map[string]int32{"like": 3, "love": 1}, ReactionsCount: 4, CommentsCount: 2, Comments: []string{id, id},
			Tags: []string{"a", "b"},
		})
		page.Users = append(page.Users, &plazav1.User{
			UserId: "user", PrivateId: id, UserInternalId: id, UserPublicId: "user", DisplayName: "A User", CreatedAt: now, UpdatedAt: now,
			Path: "n/user/" + id,
		})
		page.CommunityUsers = append(page.CommunityUsers, &plazav1.CommunityUser{UserId: "user", CommunityId: id, CreatedAt: now, UpdatedAt: now})
	}
	return page
}

// BenchmarkFeed compares the edge with plain handlers that write the same page of 20 posts.
func BenchmarkFeed(b *testing.B) {
	f := &fake{post: feed(20)}
	handler, err := edge.New(edge.Options{Services: f.services()})
	require.NoError(b, err)
	const path = "/api/v5/posts?targetId=t&targetType=community&options%5Blimit%5D=20"
	written := serve(b, handler, "GET", path, "")
	var plain any
	require.NoError(b, json.Unmarshal(written, &plain))
	b.Logf("%d bytes", len(written))

	b.Run("edge", func(b *testing.B) { measure(b, handler, "GET", path, "") })
	b.Run("bare, encoding/json of maps", func(b *testing.B) {
		measure(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(plain)
		}), "GET", path, "")
	})
	b.Run("bare, encoding/json of structs", func(b *testing.B) {
		measure(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(f.post)
		}), "GET", path, "")
	})
	b.Run("bare, protojson", func(b *testing.B) {
		measure(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			data, _ := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(f.post)
			_, _ = w.Write(data)
		}), "GET", path, "")
	})
	b.Run("bare, bytes", func(b *testing.B) {
		measure(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(written)
		}), "GET", path, "")
	})
}

// BenchmarkFlag is a small write, which must be decoded and validated.
func BenchmarkFlag(b *testing.B) {
	f := &fake{}
	handler, err := edge.New(edge.Options{Services: f.services()})
	require.NoError(b, err)
	const path, body = "/api/v3/comments/010000000000000000000000/flag", `{"reason":"Others","detail":"because"}`
	b.Run("edge", func(b *testing.B) { measure(b, handler, "POST", path, body) })
	b.Run("bare, encoding/json", func(b *testing.B) {
		measure(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request plazav1.FlagCommentRequest
			data, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(data, &request)
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(commentAnswer("c"))
		}), "POST", path, body)
	})
}

func measure(b *testing.B, handler http.Handler, method, path, body string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		serve(b, handler, method, path, body)
	}
}

func serve(b *testing.B, handler http.Handler, method, path, body string) []byte {
	b.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(body)))
	if recorder.Code != http.StatusOK {
		b.Fatal(recorder.Code, recorder.Body.String())
	}
	return recorder.Body.Bytes()
}

// BenchmarkTracing compares requests without tracing, and with a tracer that samples some of them. Sampled spans are dropped,
// because the export runs in the background.
func BenchmarkTracing(b *testing.B) {
	for name, ratio := range map[string]float64{"off": -1, "0%": 0, "1%": 0.01, "100%": 1} {
		b.Run(name, func(b *testing.B) {
			f := &fake{post: feed(1)}
			options := edge.Options{Services: f.services()}
			if ratio >= 0 {
				options.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.TraceIDRatioBased(ratio)),
					sdktrace.WithSpanProcessor(dropped{})).Tracer("")
			}
			handler, err := edge.New(options)
			require.NoError(b, err)
			measure(b, handler, "GET", "/api/v5/posts?targetId=t&targetType=community", "")
		})
	}
}

// dropped drops spans.
type dropped struct{}

func (dropped) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (dropped) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (dropped) Shutdown(context.Context) error                  { return nil }
func (dropped) ForceFlush(context.Context) error                { return nil }
