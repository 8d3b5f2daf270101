package room

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
)

// Recording is a recording of a room.
type Recording media.RoomRecording

// Recording returns a recording of a room that the caller may see.
func (s *Service) Recording(ctx context.Context, roomID, playbackID string) (Recording, error) {
	_, room, err := s.rooms.Load(ctx, roomID)
	if err != nil {
		return Recording{}, err
	}
	for i, r := range room.Recordings {
		if view.PlaybackID(i) == playbackID {
			return Recording(r), nil
		}
	}
	return Recording{}, fail.NotFound()
}

// Address returns the address of the recording.
func (r Recording) Address() (string, error) { return r.URL, nil }

// Thumbnail returns the address of the thumbnail, which not every recording has.
func (r Recording) Thumbnail() (string, error) {
	if r.ThumbnailURL == "" {
		return "", fail.NotFound()
	}
	return r.ThumbnailURL, nil
}
