package delivery

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// FuzzChange checks that the answer of a pre-hook changes nothing but the fields that it may change.
func FuzzChange(f *testing.F) {
	f.Add(`{"data": {"text": "b"}}`)
	f.Add(`{"postId": "other", "text": "b", "data": null}`)
	f.Add(`{"tags": ["a"], "metadata": {"a": [1, {}]}}`)
	event := prehookEvents()[plazav1connect.PostServiceUpdatePostProcedure]
	f.Fuzz(func(t *testing.T, answer string) {
		var data map[string]json.RawMessage
		if json.Unmarshal([]byte(answer), &data) != nil {
			return
		}
		request := &plazav1.UpdatePostRequest{PostId: "post"}
		before := proto.Clone(request)
		changed, err := change(event, request, data)
		if err != nil || !changed {
			require.True(t, proto.Equal(before, request), "%v", request)
			return
		}
		for _, name := range event.GetChanges() {
			request.ProtoReflect().Clear(request.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name)))
		}
		require.True(t, proto.Equal(before, request), "%v", request)
	})
}

// FuzzCheckURL checks that only addresses with a host are accepted, and no IP addresses that are not public.
func FuzzCheckURL(f *testing.F) {
	for _, address := range []string{
		"https://example.com", "http://[::ffff:127.0.0.1]/", "https://8.8.8.8:443", "https://[fe80::1%25lo]/",
		"ftp://a", "https://a@b",
	} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if CheckURL(address, nil) != nil {
			return
		}
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Contains(t, []string{"http", "https"}, u.Scheme)
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			ip = ip.Unmap()
			require.True(t, ip.IsGlobalUnicast() && !ip.IsPrivate() && !ip.IsLoopback(), address)
		}
	})
}
