package freeform

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FuzzUnmarshalJSON compares the messages that UnmarshalJSON and protojson decode.
func FuzzUnmarshalJSON(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"a":[1,{"b":"c"}]},"data":{}}`, `{"metadata":{"#":3}}`, `{"metadata":null}`, `{"metadata":{"a":1e-7,"a":2}}`,
		`{"data":{"a":"\ud800"}}`,
		`{"data":{"x":1},"data":{"y":2}}`, `[]`, `{"data":[{}]}`, `{"metadata":{"a":"\u0000"}}`, `{"metadata":{"a":-0.0}}`,
		`{"other":{"data":{}}}`,
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

// FuzzUnmarshalBinary compares the messages that UnmarshalBinary and package proto decode.
func FuzzUnmarshalBinary(f *testing.F) {
	for _, m := range []proto.Message{
		&plazav1.CreatePostRequest{},
		&plazav1.CreatePostRequest{Data: object(f, map[string]any{"text": "a", "list": []any{1.5, nil, true, map[string]any{"": []any{}}}})},
		&plazav1.CreatePostRequest{TargetId: "x", Metadata: object(f, nil), Data: object(f, map[string]any{"\u00e9": -1e-7})},
	} {
		seed, err := proto.Marshal(m)
		require.NoError(f, err)
		f.Add(seed)
		f.Add(append(seed, seed...)) // fields that occur twice are merged
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, got := &plazav1.CreatePostRequest{}, &plazav1.CreatePostRequest{}
		wanted := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, want)
		err := UnmarshalBinary(raw, got)
		if invalid := (*InvalidError)(nil); errors.As(err, &invalid) {
			return // package proto accepts more
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
		require.JSONEq(t, protojson.Format(want), protojson.Format(again)) // not proto.Equal: every number of null is null
	})
}

func object(f *testing.F, fields map[string]any) *structpb.Struct {
	f.Helper()
	s, err := structpb.NewStruct(fields)
	require.NoError(f, err)
	return s
}
