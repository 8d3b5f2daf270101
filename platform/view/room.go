package view

import (
	"slices"
	"strconv"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// RoomPath returns a room's path.
func (b *Builder) RoomPath(roomID string) string { return b.NetworkID + "/room/" + roomID }

// Room converts a room. The result contains no ingest keys.
func (b *Builder) Room(r media.Room) *plazav1.Room {
	m := &plazav1.Room{
		PrivateId:          r.ID,
		Type:               r.Type,
		TargetId:           r.TargetPublicID,
		TargetType:         r.TargetType,
		ReferenceId:        r.PostID,
		LiveChatEnabled:    r.LiveChatEnabled,
		LiveChannelEnabled: r.LiveChatEnabled,
		Title:              r.Title,
		RoomId:             r.ID,
		Description:        r.Description,
		ThumbnailFileId:    r.ThumbnailFileID,
		Status:             r.Status,
		DurationSeconds:    duration(r),
		Moderation: &plazav1.RoomModeration{
			FlagLabels:      labels(r.Moderation.FlagLabels),
			TerminateLabels: labels(r.Moderation.TerminateLabels),
		},
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
		m.LiveChannelId = r.ID // the channel of a room has the id of the room
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

// addPlayback adds the addresses to watch a room at: the live address until it ends, and those of its recordings.
func (b *Builder) addPlayback(m *plazav1.Room, r media.Room) {
	for i, p := range r.Recordings {
		m.RecordedPlaybackInfos = append(m.RecordedPlaybackInfos, &plazav1.RoomPlayback{
			Url: p.URL, ThumbnailUrl: p.ThumbnailURL, PlaybackId: PlaybackID(i),
		})
	}
	if base := b.Media.PlaybackURL; base != "" && slices.Contains([]string{"idle", "live", "waitingReconnect"}, r.Status) {
		m.LivePlaybackUrl = base + "/" + r.PlaybackKey + ".m3u8"
		m.LiveThumbnailUrl = base + "/" + r.PlaybackKey + ".jpg"
	}
}

// PlaybackID returns the id of the recording with an index among those of a room.
func PlaybackID(index int) string { return strconv.Itoa(index + 1) }

// duration returns how long a room was live, in seconds; 0 until it has ended.
func duration(r media.Room) float64 {
	if r.LiveAt == nil || r.EndedAt == nil {
		return 0
	}
	return r.EndedAt.Sub(*r.LiveAt).Seconds()
}

// Rooms converts rooms.
func (b *Builder) Rooms(rows []media.Room) []*plazav1.Room {
	return mapList(rows, b.Room)
}

// RoomToken returns the addresses and keys with which a participant sends to a room.
func (b *Builder) RoomToken(r media.Room, p media.RoomParticipant) *plazav1.GetRoomTokenResponse {
	m := &plazav1.GetRoomTokenResponse{Type: r.Type}
	if r.Type == "directStreaming" {
		m.DirectStreamUrl = b.Media.Ingest(r.PlaybackKey, p.Key, false).GetUrl()
		return m
	}
	m.CoHostToken = p.Key
	m.CoHostUrl = streamURL(b.Media.IngestURL, r.PlaybackKey, "").GetUrl()
	return m
}

func (l *loader) roomIDs() []string { return l.embeddedIDs("room", "roomId") }

// readRooms reads the rooms that the posts embed, and their children.
func (l *loader) readRooms(batch *store.ReadBatch) {
	batch.Rooms(l.roomIDs(), &l.rooms)
	batch.ChildRooms(l.roomIDs(), &l.childRooms)
}

func (l *loader) buildRooms(a *Aggregate) {
	rooms, children := shownEmbeds(l.roomIDs(), l.rooms, l.childRooms, func(r media.Room) embed {
		return embed{id: r.ID, postID: r.PostID, deleted: r.DeletedAt != nil}
	})
	a.Rooms, a.RoomChildrens = l.builder.Rooms(rooms), l.builder.Rooms(children)
}
