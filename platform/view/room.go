package view

import (
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// RoomPath is where the events of a room are told.
func (b *Builder) RoomPath(roomID string) string { return b.NetworkID + "/room/" + roomID }

// Room makes the message of a room. What lets somebody send to it is not in it.
func (b *Builder) Room(r store.Room) *plazav1.Room {
	m := &plazav1.Room{
		PrivateId:         r.ID,
		Type:              r.Type,
		TargetId:          r.TargetPublicID,
		TargetType:        r.TargetType,
		ReferenceId:       r.PostID,
		LiveChatEnabled:   r.LiveChatEnabled,
		Title:             r.Title,
		RoomId:            r.ID,
		Description:       r.Description,
		ThumbnailFileId:   r.ThumbnailFileID,
		Status:            r.Status,
		DurationSeconds:   duration(r),
		Moderation:        &plazav1.RoomModeration{FlagLabels: labels(r.Moderation.FlagLabels), TerminateLabels: labels(r.Moderation.TerminateLabels)},
		ParentRoomId:      r.ParentID,
		ChildRoomIds:      r.ChildIDs,
		CreatedAt:         ts(r.CreatedAt),
		CreatedBy:         r.CreatorPublicID,
		CreatorInternalId: r.CreatorID,
		UpdatedAt:         ts(r.UpdatedAt),
		LiveAt:            tsOrNil(r.LiveAt),
		EndedAt:           tsOrNil(r.EndedAt),
		RecordedAt:        tsOrNil(r.RecordedAt),
		IsDeleted:         r.DeletedAt != nil,
		DeletedAt:         tsOrNil(r.DeletedAt),
		DeletedBy:         r.DeletedBy,
		Path:              b.RoomPath(r.ID),
		Metadata:          object(r.Metadata),
	}
	if r.PostID != "" {
		m.ReferenceType = "post"
	}
	if r.HasChannel {
		m.LiveChannelId = r.ID // its chat has its name, as that of a community does
	}
	if r.Moderation.ID != "" {
		m.Moderation.UpdatedAt = ts(r.Moderation.UpdatedAt)
	}
	for _, p := range r.Participants {
		m.Participants = append(m.Participants, &plazav1.RoomParticipant{
			Type: p.Type, UserId: p.PublicID, UserInternalId: p.UserID, CanManageProductTags: p.CanManageProductTags,
		})
	}
	if !m.GetIsDeleted() {
		b.addPlayback(m, r)
	}
	return m
}

// addPlayback says where to watch a room: live until it ends, and its recordings then.
func (b *Builder) addPlayback(m *plazav1.Room, r store.Room) {
	for _, p := range r.Recordings {
		m.RecordedPlaybackInfos = append(m.RecordedPlaybackInfos, &plazav1.RoomPlayback{Url: p.URL, ThumbnailUrl: p.ThumbnailURL})
	}
	if base := b.Media.PlaybackURL; base != "" && slices.Contains([]string{"idle", "live", "waitingReconnect"}, r.Status) {
		m.LivePlaybackUrl = base + "/" + r.PlaybackKey + ".m3u8"
		m.LiveThumbnailUrl = base + "/" + r.PlaybackKey + ".jpg"
	}
}

// duration is how long a room was live, in seconds; 0 until it has ended.
func duration(r store.Room) float64 {
	if r.LiveAt == nil || r.EndedAt == nil {
		return 0
	}
	return r.EndedAt.Sub(*r.LiveAt).Seconds()
}

// Rooms makes the messages of rooms.
func (b *Builder) Rooms(rows []store.Room) []*plazav1.Room {
	var out []*plazav1.Room
	for _, r := range rows {
		out = append(out, b.Room(r))
	}
	return out
}

// RoomToken is what a participant needs to send to a room.
func (b *Builder) RoomToken(r store.Room, p store.RoomParticipant) *plazav1.GetRoomTokenResponse {
	m := &plazav1.GetRoomTokenResponse{Type: r.Type}
	if r.Type == "directStreaming" {
		m.DirectStreamUrl = b.Media.Ingest(r.PlaybackKey, p.Key, false).GetUrl()
		return m
	}
	m.CoHostToken = p.Key
	m.CoHostUrl = address(b.Media.IngestURL, r.PlaybackKey, "").GetUrl()
	return m
}

// ListLiveRooms is the answer with a page of live rooms and the posts that carry them.
func (a *Aggregate) ListLiveRooms(rooms []*plazav1.Room, paging *plazav1.Paging) *plazav1.ListLiveRoomsResponse {
	return &plazav1.ListLiveRoomsResponse{
		Rooms: rooms, RoomChildrens: a.RoomChildrens, Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users,
		Files: a.Files, Communities: a.Communities, CommunityUsers: a.CommunityUsers, Categories: a.Categories, Feeds: a.Feeds, Paging: paging,
	}
}

// readRooms reads the rooms of the posts, and their children.
func (g *gathering) readRooms(reads *store.Reads) {
	if ids := g.carriedBy("room", "roomId"); len(ids) > 0 {
		reads.Rooms(ids, &g.rooms)
		reads.ChildRooms(ids, &g.childRooms)
	}
}

// buildRooms keeps the rooms in the order of their posts, as buildStreams keeps the streams.
func (g *gathering) buildRooms(a *Aggregate) {
	ids := g.carriedBy("room", "roomId")
	slices.SortFunc(g.rooms, func(x, y store.Room) int { return slices.Index(ids, x.ID) - slices.Index(ids, y.ID) })
	slices.SortFunc(g.childRooms, func(x, y store.Room) int { return strings.Compare(x.ID, y.ID) })
	for _, r := range g.rooms {
		if r.DeletedAt == nil {
			a.Rooms = append(a.Rooms, g.builder.Room(r))
		}
	}
	for _, r := range g.childRooms {
		if r.DeletedAt == nil && r.PostID == "" && !slices.Contains(ids, r.ID) {
			a.RoomChildrens = append(a.RoomChildrens, g.builder.Room(r))
		}
	}
}
