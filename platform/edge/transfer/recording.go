package transfer

import (
	"net/http"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/service/room"
)

// Recordings redirects to the recordings of rooms, for players that know only the ids of the room and the recording.
type Recordings struct {
	Rooms      *room.Service
	RateLimits *edge.RateLimits
}

// Streams returns the operations, for edge.Options.
func (r *Recordings) Streams() []edge.Stream {
	const procedures, path = "/plaza.v1.RoomService/", "/api/v1/rooms/{roomId}/recorded/{playbackId}/"
	return []edge.Stream{
		{Procedure: procedures + "WatchRoomRecording", Method: http.MethodGet, Path: path + "watch", Serve: r.watch},
		{Procedure: procedures + "GetRoomRecordingThumbnail", Method: http.MethodGet, Path: path + "thumbnail", Serve: r.thumbnail},
	}
}

func (r *Recordings) watch(w http.ResponseWriter, request *http.Request) error {
	return r.redirect(w, request, room.Recording.Address)
}

func (r *Recordings) thumbnail(w http.ResponseWriter, request *http.Request) error {
	return r.redirect(w, request, room.Recording.Thumbnail)
}

// redirect redirects to an address of the recording that a request names.
func (r *Recordings) redirect(w http.ResponseWriter, request *http.Request, addressOf func(room.Recording) (string, error)) error {
	ctx, err := r.RateLimits.AdmitRequest(request.Context(), request.Header)
	if err != nil {
		return err
	}
	recording, err := r.Rooms.Recording(ctx, request.PathValue("roomId"), request.PathValue("playbackId"))
	if err != nil {
		return err
	}
	address, err := addressOf(recording)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store") // the caller may lose access
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusFound)
	return nil
}
