package conformance

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// binding is one path of an operation.
type binding struct {
	procedure string
	verb      string
	path      string
	whole     bool                 // whether all of the operation is deprecated
	outdated  *plazav1.Deprecation // nil where the path is not deprecated
}

func (b binding) name() string { return b.verb + " " + b.path }

// bindings returns all paths of all operations, from the descriptors.
func bindings() []binding {
	var all []binding
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				all = append(all, bindingsOf(methods.Get(j))...)
			}
		}
		return true
	})
	return all
}

func bindingsOf(method protoreflect.MethodDescriptor) []binding {
	options := method.Options().(*descriptorpb.MethodOptions)
	rule, _ := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
	outdated, _ := proto.GetExtension(options, plazav1.E_Deprecation).(*plazav1.Deprecation)
	var all []binding
	for _, r := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		b := binding{procedure: "/" + string(method.Parent().FullName()) + "/" + string(method.Name()), whole: options.GetDeprecated()}
		for verb, path := range map[string]string{
			http.MethodGet: r.GetGet(), http.MethodPost: r.GetPost(), http.MethodPut: r.GetPut(), http.MethodDelete: r.GetDelete(),
			http.MethodPatch: r.GetPatch(),
		} {
			if path != "" {
				b.verb, b.path = verb, path
			}
		}
		if outdated != nil && (b.whole || slices.Contains(outdated.GetPaths(), b.name())) {
			b.outdated = outdated
		}
		all = append(all, b)
	}
	return all
}

// TestDeprecationHeaders calls every path of every operation with unknown ids. Deprecated paths say since when and
// until when in successes and refusals alike; other paths do not.
func TestDeprecationHeaders(t *testing.T) {
	t.Parallel()
	caller := newUser(t, region.EU, "caller")
	var deprecated []string
	for _, b := range bindings() {
		path := b.path
		for strings.Contains(path, "{") {
			before, rest, _ := strings.Cut(path, "{")
			_, after, _ := strings.Cut(rest, "}")
			path = before + unknownID + after
		}
		r := caller.With("Authorization", "").Do(t, b.verb, path, nil)
		if b.outdated == nil {
			require.Empty(t, r.Header.Values("Deprecation"), b.name())
			require.Empty(t, r.Header.Values("Sunset"), b.name())
			continue
		}
		deprecated = append(deprecated, b.name())
		since, err := time.Parse(time.DateOnly, b.outdated.GetSince())
		require.NoError(t, err, b.name())
		require.Equal(t, []string{"@" + strconv.FormatInt(since.Unix(), 10)}, r.Header.Values("Deprecation"), b.name())
		sunset, err := time.Parse(http.TimeFormat, r.Header.Get("Sunset"))
		require.NoError(t, err, b.name())
		require.Equal(t, b.outdated.GetSunset(), sunset.Format(time.DateOnly), b.name())
	}
	slices.Sort(deprecated)
	require.Equal(t, []string{
		"DELETE /api/v3/comments/{comment_id}",
		"DELETE /api/v3/posts/{post_id}",
		"GET /api/v3/authentication/token",
		"GET /api/v3/user-feeds/{user_id}",
		"POST /api/v3/posts",
		"POST /api/v3/sessions",
		"POST /api/v4/sessions",
	}, deprecated)
}

// TestDeprecationOverEveryProtocol checks that successes carry the headers too and that every protocol does so for a
// deprecated operation.
func TestDeprecationOverEveryProtocol(t *testing.T) {
	t.Parallel()
	caller := newUser(t, region.US, "caller")
	const since, sunset = "@1731456000", "Fri, 31 Dec 2027 00:00:00 GMT"
	r := caller.Do(t, http.MethodGet, "/api/v3/user-feeds/"+caller.UserID, nil).OK(t)
	require.Equal(t, since, r.Header.Get("Deprecation"))
	require.Equal(t, sunset, r.Header.Get("Sunset"))
	connect := caller.Do(t, http.MethodPost, "/plaza.v1.FeedService/ListUserFeed", object{"userId": caller.UserID}).OK(t)
	require.Equal(t, since, connect.Header.Get("Deprecation"))
	require.Equal(t, sunset, connect.Header.Get("Sunset"))
	body := object{"data": object{"text": "x"}}
	require.Equal(t, since, caller.Do(t, http.MethodPost, "/api/v3/posts", body).OK(t).Header.Get("Deprecation"))
	require.Empty(t, caller.Do(t, http.MethodPost, "/api/v4/posts", body).OK(t).Header.Get("Deprecation"))
	require.Empty(t, caller.Do(t, http.MethodPost, "/plaza.v1.PostService/CreatePost", body).OK(t).Header.Get("Deprecation"),
		"only a path of it is")
}
