package communities

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

const (
	endRooms = `UPDATE rooms SET status = 'terminated', ended_at = $3::timestamptz, updated_at = $3
		WHERE home = $1 AND creator_id = $2 AND is_open`
	endStreams = `UPDATE video_streams SET status = 'ended', ended_at = $3::timestamptz, updated_at = $3
		WHERE home = $1 AND creator_id = $2 AND is_open`

	// fewLive says why these statements do not lock the rows first.
	fewLive = "few of a user's are live, and the transaction updates nothing else"
)

var (
	sqlRoomsEnd       = db.Register("rooms.endOfCreator", endRooms).UpdatesUnlocked(core.SharedRooms, fewLive)
	sqlStreamsEnd     = db.Register("videoStreams.endOfCreator", endStreams).UpdatesUnlocked(core.SharedStreams, fewLive)
	sqlRoomsEndIn     = db.Register("rooms.endInPosts", endRooms+` AND post_id = ANY($4::text[])`).UpdatesUnlocked(core.SharedRooms, fewLive)
	sqlStreamsEndIn   = db.Register("videoStreams.endInPosts", endStreams+` AND post_id = ANY($4::text[])`).UpdatesUnlocked(core.SharedStreams, fewLive)
	sqlBroadcastsOpen = db.Register("rooms.openOfCreators", `SELECT true, id, post_id, status <> 'idle' FROM rooms
			WHERE home = $1 AND creator_id = ANY($2::text[]) AND is_open
		UNION ALL SELECT false, id, post_id, status <> 'idle' FROM video_streams
			WHERE home = $1 AND creator_id = ANY($2::text[]) AND is_open`)
)

// EndBroadcasts ends the rooms and streams of a user that have not ended yet. The media server is not called: clients no
// longer show them as live, and their keys are refused.
func (w Tx) EndBroadcasts(creatorID string, now time.Time) {
	w.Exec(sqlRoomsEnd, creatorID, now)
	w.Exec(sqlStreamsEnd, creatorID, now)
}

// EndBroadcastsIn is EndBroadcasts for those that are part of posts.
func (w Tx) EndBroadcastsIn(creatorID string, postIDs []string, now time.Time) {
	w.Exec(sqlRoomsEndIn, creatorID, now, postIDs)
	w.Exec(sqlStreamsEndIn, creatorID, now, postIDs)
}

// OpenBroadcast is a room or a stream that has not ended.
type OpenBroadcast struct {
	IsRoom  bool
	ID      string
	PostID  string // of the post that shows it; empty without one
	Started bool
}

// OpenBroadcasts reads the rooms and streams of users of a home that have not ended.
func (r ReadBatch) OpenBroadcasts(home region.Code, creatorIDs []string, into *[]OpenBroadcast) {
	r.Add(home, sqlBroadcastsOpen, db.Rows(into), creatorIDs)
}

// TopicCommunityBan is the outbox topic of bans from a community.
const TopicCommunityBan = "communityBan"

// CommunityBan is the payload of TopicCommunityBan.
type CommunityBan struct {
	CommunityID string    `json:"communityId"`
	UserIDs     []string  `json:"userIds"` // internal ids of one home
	At          time.Time `json:"at"`
}

// EmitBans emits an outbox row for each home of the users that changes ban from a community.
func (w Tx) EmitBans(communityID string, changes []MemberChange, now, firstTry time.Time) []core.OutboxRow {
	var banned []string
	for _, c := range changes {
		if c.New.IsBanned() && !c.Old.IsBanned() {
			banned = append(banned, c.New.UserID)
		}
	}
	var rows []core.OutboxRow
	byHome := w.ByHome(banned)
	for _, home := range region.All() {
		if ids := byHome[home]; len(ids) > 0 {
			rows = append(rows, w.Emit(TopicCommunityBan, CommunityBan{communityID, ids, now}, now, firstTry))
		}
	}
	return rows
}
