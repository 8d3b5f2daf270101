package fileref

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestErr(t *testing.T) {
	rows := []media.File{
		{ID: "i", Type: "image"},
		{ID: "v", Type: "video"},
		{ID: "c", Type: "clip"},
		{ID: "a", Type: "audio"},
		{ID: "f", Type: "file"},
		{ID: "ending", Type: "image", UnusedSince: new(time.Now())},
	}
	avatar := func(id string) Reference { return Avatar(&id) }
	for _, c := range []struct {
		name string
		refs []Reference
		want error
	}{
		{"none", nil, nil},
		{"image", []Reference{{ID: "i", Kind: "image", Field: "x"}}, nil},
		{"video", []Reference{{ID: "v", Kind: "video", Field: "x"}}, nil},
		{"a clip is a video", []Reference{{ID: "c", Kind: "video", Field: "x"}}, nil},
		{"audio is a file", []Reference{{ID: "a", Kind: "file", Field: "x"}}, nil},
		{"file", []Reference{{ID: "f", Kind: "file", Field: "x"}}, nil},
		{"avatar", []Reference{avatar("i")}, nil},
		{"unknown", []Reference{{ID: "?", Kind: "image", Field: "x"}}, fail.NotFound()},
		{"unknown avatar", []Reference{avatar("?")}, fail.NotFound()},
		{"being deleted", []Reference{{ID: "ending", Kind: "image", Field: "x"}}, fail.NotFound()},
		{"unknown, only mentioned", []Reference{{ID: "?"}}, nil},
		{"being deleted, only mentioned", []Reference{{ID: "ending"}}, fail.NotFound()},
		{"video, only mentioned", []Reference{{ID: "v"}}, nil},
		{"audio for an image", []Reference{{ID: "a", Kind: "image", Field: "x"}}, fail.Validation()},
		{"clip for a file", []Reference{{ID: "c", Kind: "file", Field: "x"}}, fail.Validation()},
		{"image for a video", []Reference{{ID: "i", Kind: "video", Field: "x"}}, fail.Validation()},
		{"video for a file", []Reference{{ID: "v", Kind: "file", Field: "x"}}, fail.Validation()},
		{"video for an avatar", []Reference{avatar("v")}, errAvatar},
		{"the first error counts", []Reference{{ID: "i", Kind: "video", Field: "x"}, {ID: "?", Kind: "image"}}, fail.Validation()},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := (&Check{rows: rows}).Only(c.refs).Err()
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
		})
	}
	err := (&Check{rows: rows}).Only([]Reference{{ID: "i", Kind: "video", Field: "data.video"}}).Err()
	require.Equal(t, []string{"data.video: must be a file of type video"}, fail.From(err).Details)
}

func TestReadSkipsEmptyReferences(t *testing.T) {
	empty := ""
	c := Read(nil, Avatar(nil), Avatar(&empty), Reference{Kind: "image"}) // a nil batch: nothing may be read
	require.Empty(t, c.refs)
	require.NoError(t, c.Err())
}

func TestOfAttachments(t *testing.T) {
	require.Empty(t, OfAttachments(nil))
	require.Equal(t, []Reference{
		{ID: "a", Kind: "image", Field: "attachments[0].fileId"}, {ID: "b", Kind: "video", Field: "attachments[1].fileId"},
	}, OfAttachments([]*plazav1.Attachment{{FileId: "a", Type: "image"}, {FileId: "b", Type: "video"}}))
}
