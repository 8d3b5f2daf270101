package store

import "time"

var (
	sqlRoomsEnd = stmt("rooms.endOfCreator", `UPDATE rooms SET status = 'terminated', ended_at = $3::timestamptz, updated_at = $3
		WHERE home = $1 AND creator_id = $2 AND deleted_at IS NULL AND status IN ('idle', 'live', 'waitingReconnect')`).
		UpdatesUnlocked(sharedRooms, "few of a user's are live, and the job updates nothing else")
	sqlStreamsEnd = stmt("videoStreams.endOfCreator", `UPDATE video_streams SET status = 'ended', ended_at = $3::timestamptz, updated_at = $3
		WHERE home = $1 AND creator_id = $2 AND deleted_at IS NULL AND status IN ('idle', 'live')`).
		UpdatesUnlocked(sharedStreams, "few of a user's are live, and the job updates nothing else")
)

// EndBroadcasts ends the rooms and streams of a user that have not ended yet. The media server is not called: clients no
// longer show them as live, and their keys are refused.
func (w *Tx) EndBroadcasts(creatorID string, now time.Time) {
	w.Exec(sqlRoomsEnd, creatorID, now)
	w.Exec(sqlStreamsEnd, creatorID, now)
}
