// Package view turns rows into the messages of the interface, and gathers what an answer refers to.
package view

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
)

// Builder makes messages of rows for one network.
type Builder struct {
	// NetworkID is 24 hexadecimal characters; it stands at the front of every path.
	NetworkID string
	// Now is the clock by which polls close; time.Now when nil.
	Now func() time.Time
	// Media says where the network's media server is.
	Media Media
	// FileURL is the address of a file's bytes; none when nil.
	FileURL func(store.File) string
	// Catalog holds the roles that administrators made; none when nil.
	Catalog *auth.Catalog
}

func (b *Builder) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

// ts is a time as the wire carries it; nil stays nil.
func ts(t time.Time) *timestamppb.Timestamp { return timestamppb.New(t) }

func tsOrNil(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return ts(*t)
}

// object returns a JSON object of a row. encoding/json is faster than protojson here.
func object(raw []byte) *structpb.Struct {
	var fields map[string]any
	if len(raw) <= 2 || json.Unmarshal(raw, &fields) != nil { // {} or nothing
		return &structpb.Struct{}
	}
	s, err := structpb.NewStruct(fields)
	if err != nil {
		return &structpb.Struct{}
	}
	return s
}

// ObjectJSON is the JSON of an object of a request, as rows hold it; an absent one is empty.
func ObjectJSON(s *structpb.Struct) []byte {
	if s == nil || len(s.GetFields()) == 0 {
		return []byte("{}")
	}
	raw, err := s.MarshalJSON()
	if err != nil {
		return []byte("{}")
	}
	return raw
}

func count(n int64) int32 { return int32(max(0, min(n, 1<<31-1))) }
