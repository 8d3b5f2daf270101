package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Of 20,000 streams and as many rooms one in 100 is live, and one in 500 deleted; a user has one of each, user 3 a
// thousand.
var _ = planned((*collector).collectLive,
	`INSERT INTO video_streams (home, id, creator_id, creator_public_id, title, description, thumbnail_file_id, status, resolution, is_secure,
			channel_enabled, metadata, platform_name, platform_version, playback_key, ingest_key, parent_id, created_at, updated_at, deleted_at)
		SELECT HOME(n), ID(vs, n, n), CASE WHEN n % 60 = 3 THEN ID(u, 3, 3) ELSE ID(u, n, n) END, 'user', '', '', '',
			CASE WHEN n % 100 = 3 THEN 'live' WHEN n % 100 = 6 THEN 'error' WHEN n % 100 = 9 THEN 'idle' WHEN n % 2 = 0 THEN 'ended' ELSE 'recorded'
			END,
			'SD', false, true, '{}', '', '', 'k', 'k', CASE WHEN n % 30 = 0 THEN ID(vs, n - 3, n) ELSE '' END, AT(n, 60), AT(n, 60),
			CASE WHEN n % 500 = 0 THEN AT(n, 60) END FROM generate_series(1, 20000) AS n`,
	`INSERT INTO rooms (home, id, creator_id, creator_public_id, type, title, description, thumbnail_file_id, status, live_chat_enabled,
		metadata,
			participants, playback_key, target_type, target_id, parent_id, created_at, updated_at, deleted_at)
		SELECT HOME(n), ID(vr, n, n), ID(u, n, n), 'user', CASE WHEN n % 200 = 3 THEN 'coHosts' ELSE 'directStreaming' END, '', '', '',
			CASE WHEN n % 100 = 3 THEN 'live' WHEN n % 100 = 6 THEN 'error' WHEN n % 100 = 9 THEN 'idle' WHEN n % 2 = 0 THEN 'ended' ELSE 'recorded'
			END,
			true, '{}', '[]', 'k', CASE WHEN n % 3 = 1 THEN 'user' ELSE 'community' END, ID(c, n % 300, 3), CASE WHEN n % 30 = 0 THEN ID(vr, n - 3,
			n) ELSE '' END,
			AT(n, 60), AT(n, 60), CASE WHEN n % 500 = 0 THEN AT(n, 60) END FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectLive() {
	c.collectStreams()
	c.collectRooms()
}

func (c *collector) collectStreams() {
	id := worldID("vs", 3, 3)
	var stream *media.VideoStream
	var streams []media.VideoStream
	c.reads(func(r *store.ReadBatch) { r.VideoStream(id, &stream) })
	c.reads(func(r *store.ReadBatch) { r.VideoStreams([]string{id, worldID("vs", 6, 6)}, &streams) })
	c.reads(func(r *store.ReadBatch) {
		r.ChildStreams([]string{worldID("vs", 27, 27), worldID("vs", 9, 9)}, &streams)
	})
	both(20_000*60/2, func(desc bool, at time.Time, after string) {
		l := media.StreamList{Desc: desc, After: at, AfterID: after, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.ListVideoStreams(l, &streams) })
		l.Deleted = true
		c.reads(func(r *store.ReadBatch) { r.ListVideoStreams(l, &streams) })
		l.Deleted, l.Creators = false, []string{userID(3), userID(6)}
		c.reads(func(r *store.ReadBatch) { r.ListVideoStreams(l, &streams) })
	})
	seen := media.Moderation{ID: id, CreatedAt: worldStart, UpdatedAt: worldStart}
	c.write(func(w *store.Tx) {
		w.InsertVideoStream(media.VideoStream{
			ID: region.NewID(region.US), CreatorID: userID(3), Status: "idle", Resolution: "SD", Metadata: []byte("{}"), ParentID: id,
			CreatedAt: worldStart,
		}, core.ErrConflict)
		w.AttachVideoStream(id, postID(4), "user", "anna", core.ErrConflict)
		w.DetachVideoStream(id, postID(4))
		w.UpdateVideoStream(id, media.StreamChange{Metadata: []byte("{}")}, worldStart, core.ErrConflict)
		w.ModerateVideoStream(id, media.Moderation{}, seen, worldStart, core.ErrConflict)
		w.UpdateStreamBans(id, nil, []string{userID(3), userID(6)}, worldStart, core.ErrConflict)
		w.TransitionVideoStream(media.StreamTransition{ID: id, From: []string{"live"}, To: "ended", EndedAt: &worldStart}, worldStart,
			core.ErrConflict)
		w.SelectVideoStream(id, &stream)
		w.DeleteVideoStream(media.VideoStream{ID: id, ParentID: worldID("vs", 6, 6)}, worldStart, core.ErrConflict)
	})
}

func (c *collector) collectRooms() {
	id := worldID("vr", 3, 3)
	var room *media.Room
	var rooms []media.Room
	var open []communities.OpenBroadcast
	c.reads(func(r *store.ReadBatch) { r.OpenBroadcasts(region.US, []string{userID(3), userID(6)}, &open) })
	c.reads(func(r *store.ReadBatch) { r.Room(id, &room) })
	c.reads(func(r *store.ReadBatch) { r.Rooms([]string{id, worldID("vr", 6, 6)}, &rooms) })
	c.reads(func(r *store.ReadBatch) { r.ChildRooms([]string{worldID("vr", 27, 27), worldID("vr", 6, 6)}, &rooms) })
	both(20_000*60/2, func(desc bool, at time.Time, after string) {
		l := media.RoomList{Desc: desc, After: at, AfterID: after, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.ListRooms(l, &rooms) })
		l.Deleted = true
		c.reads(func(r *store.ReadBatch) { r.ListRooms(l, &rooms) })
		l.Live, l.TargetTypes = true, []string{"community", "user"}
		c.reads(func(r *store.ReadBatch) { r.ListRooms(l, &rooms) })
		l.TargetIDs = []string{worldID("c", 3, 3), worldID("c", 6, 3)}
		c.reads(func(r *store.ReadBatch) { r.ListRooms(l, &rooms) })
	})
	seen := media.Moderation{ID: id, CreatedAt: worldStart, UpdatedAt: worldStart}
	c.write(func(w *store.Tx) {
		w.InsertRoom(media.Room{
			ID: region.NewID(region.US), CreatorID: userID(3), Type: "coHosts", Status: "idle", Metadata: []byte("{}"), ParentID: id,
			CreatedAt: worldStart,
		}, core.ErrConflict)
		w.AttachRoom(id, postID(4), "community", communityID(3), communityID(3), core.ErrConflict)
		w.DetachRoom(id, postID(4))
		w.UpdateRoom(id, media.RoomChange{Metadata: []byte("{}")}, worldStart, core.ErrConflict)
		w.ModerateRoom(id, media.Moderation{}, seen, worldStart, core.ErrConflict)
		w.UpdateParticipants(id, []media.RoomParticipant{}, []media.RoomParticipant{{Type: "host"}}, worldStart, core.ErrConflict)
		w.UpdateStage(id, nil, []string{userID(3)}, core.ErrConflict)
		w.TransitionRoom(media.RoomTransition{ID: id, From: []string{"live"}, To: "ended", EndedAt: &worldStart}, worldStart, core.ErrConflict)
		w.SelectRoom(id, &room)
		w.DeleteRoom(media.Room{ID: id, ParentID: worldID("vr", 6, 6)}, "user", worldStart, core.ErrConflict)
	})
}
