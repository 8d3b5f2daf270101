// Package view converts rows of the store into messages of the API, and loads the rows that a response refers to.
package view

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Builder converts the rows of one network.
type Builder struct {
	// NetworkID is the id of the network, 24 hexadecimal characters. Every path starts with it.
	NetworkID string
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Media holds the addresses of the network's media server.
	Media Media
	// FileURL returns the address of a file's content for a caller to whom the file is shown as a part of an object; nil
	// leaves addresses empty.
	FileURL func(f media.File, object FileObject, caller *auth.Caller) string
	// Catalog holds the custom roles; nil means that there are only built-in ones.
	Catalog *auth.Catalog
}

func (b *Builder) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

func ts(t time.Time) *timestamppb.Timestamp { return timestamppb.New(t) }

func tsOrNil(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return ts(*t)
}

func tsUnlessZero(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return ts(t)
}

// tsUnlessNever returns nil for times of the year 1 and before, which the store uses for "never".
func tsUnlessNever(t time.Time) *timestamppb.Timestamp {
	if t.Year() <= 1 {
		return nil
	}
	return ts(t)
}

// isoTime formats a time for fields of type string.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// count converts a count to the type of the wire, clamped to [0, 2³¹-1].
func count(n int64) int32 { return int32(max(0, min(n, 1<<31-1))) }
