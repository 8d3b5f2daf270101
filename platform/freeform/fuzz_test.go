package freeform

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FuzzUnmarshalJSON compares the messages that UnmarshalJSON and protojson decode.
func FuzzUnmarshalJSON(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"a":[1,{"b":"c"}]},"data":{}}`, `{"metadata":{"#":3}}`, `{"metadata":null}`, `{"metadata":{"a":1e-7,"a":2}}`, `{"data":{"a":"\ud800"}}`,
		`{"data":{"x":1},"data":{"y":2}}`, `[]`, `{"data":[{}]}`, `{"metadata":{"a":"\u0000"}}`, `{"metadata":{"a":-0.0}}`, `{"other":{"data":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, got := &plazav1.CreatePostRequest{}, &plazav1.CreatePostRequest{}
		wanted := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, want)
		err := UnmarshalJSON(raw, got)
		if invalid := (*InvalidError)(nil); errors.As(err, &invalid) {
			return // protojson accepts more
		}
		if wanted != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		binary, err := MarshalBinary(nil, got)
		require.NoError(t, err)
		again := &plazav1.CreatePostRequest{}
		require.NoError(t, proto.Unmarshal(binary, again))
		require.True(t, proto.Equal(want, again), "want %v\ngot  %v", want, again)
	})
}
