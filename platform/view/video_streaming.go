package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// StreamsPath returns the path of all video streams.
func (b *Builder) StreamsPath() string { return b.NetworkID + "/videostreaming" }

// VideoStreaming converts a stream. viewerID is the internal id of the caller: only the creator gets the ingest
// address.
func (b *Builder) VideoStreaming(s media.VideoStream, viewerID string) *plazav1.VideoStreaming {
	m := &plazav1.VideoStreaming{
		StreamId:        s.ID,
		UserId:          s.CreatorPublicID,
		UserInternalId:  s.CreatorID,
		UserPublicId:    s.CreatorPublicID,
		ThumbnailFileId: s.ThumbnailFileID,
		Title:           s.Title,
		Status:          s.Status,
		IsLive:          s.Status == "live",
		IsDeleted:       s.DeletedAt != nil,
		Description:     s.Description,
		Platform:        &plazav1.StreamPlatform{Name: s.PlatformName, Version: s.PlatformVersion},
		ModerationId:    s.Moderation.ID,
		StartedAt:       tsOrNil(s.StartedAt),
		EndedAt:         tsOrNil(s.EndedAt),
		CreatedAt:       ts(s.CreatedAt),
		UpdatedAt:       ts(s.UpdatedAt),
		Metadata:        object(s.Metadata),
		Resolution:      s.Resolution,
		PostId:          s.PostID,
		ReferenceId:     s.PostID,
		TargetType:      s.TargetType,
		TargetId:        s.TargetPublicID,
		ChannelEnabled:  s.ChannelEnabled,
		IsParent:        len(s.ChildIDs) > 0,
		ParentStreamId:  s.ParentID,
		ChildStreamIds:  s.ChildIDs,
	}
	if s.PostID != "" {
		m.ReferenceType = "post"
	}
	if s.HasChannel {
		m.ChannelId = s.ID // the channel of a stream has the id of the stream
	}
	if m.GetIsDeleted() {
		return m
	}
	m.WatcherUrl = b.Media.Watch(s.PlaybackKey)
	if s.CreatorID == viewerID && (s.Status == "idle" || s.Status == "live") {
		m.StreamerUrl = b.Media.Ingest(s.PlaybackKey, s.IngestKey, s.IsSecure)
	}
	for _, r := range s.Recordings {
		m.Recordings = append(m.Recordings, &plazav1.StreamRecording{
			Flv: recordingFile(r.FLV), Mp4: recordingFile(r.MP4),
			M3U8: recordingFile(r.M3U8),
		})
	}
	return m
}

func recordingFile(f *media.RecordingFile) *plazav1.StreamRecordingFile {
	if f == nil {
		return nil
	}
	return &plazav1.StreamRecordingFile{Url: f.URL, Duration: f.Duration, StartTime: f.StartTime, StopTime: f.StopTime}
}

// VideoStreamings returns the response about streams, in the order of rows.
func (b *Builder) VideoStreamings(ctx context.Context, rows []media.VideoStream, users []people.User,
	viewerID string,
) *plazav1.VideoStreamingResponse {
	a := &plazav1.VideoStreamingResponse{Users: b.Users(ctx, users)}
	for _, s := range rows {
		a.VideoStreamings = append(a.VideoStreamings, b.VideoStreaming(s, viewerID))
		if s.Moderation.ID != "" {
			a.VideoStreamModerations = append(a.VideoStreamModerations, &plazav1.VideoStreamModeration{
				ModerationId: s.Moderation.ID, StreamId: s.ID, FlagLabels: labels(s.Moderation.FlagLabels),
				TerminateLabels: labels(s.Moderation.TerminateLabels), CreatedAt: ts(s.Moderation.CreatedAt), UpdatedAt: ts(s.Moderation.UpdatedAt),
			})
		}
	}
	return a
}

func labels(found []media.ModerationLabel) []*plazav1.ModerationLabel {
	return mapList(found, func(l media.ModerationLabel) *plazav1.ModerationLabel {
		return &plazav1.ModerationLabel{Category: l.Category, Threshold: l.Threshold, DetectedAt: ts(l.DetectedAt)}
	})
}

func (l *loader) streamIDs() []string { return l.embeddedIDs("liveStream", "streamId") }

// readStreams reads the streams that the posts embed, and their children.
func (l *loader) readStreams(batch *store.ReadBatch) {
	batch.VideoStreams(l.streamIDs(), &l.streams)
	batch.ChildStreams(l.streamIDs(), &l.childStreams)
}

func (l *loader) buildStreams(a *Aggregate) {
	streams, children := shownEmbeds(l.streamIDs(), l.streams, l.childStreams, func(s media.VideoStream) embed {
		return embed{id: s.ID, postID: s.PostID, deleted: s.DeletedAt != nil}
	})
	convert := func(s media.VideoStream) *plazav1.VideoStreaming {
		m := l.builder.VideoStreaming(s, l.viewerID)
		if l.includesBanned(s) {
			m.WatcherUrl, m.Recordings = nil, nil
		}
		return m
	}
	a.VideoStreamings, a.VideoStreamingChildren = mapList(streams, convert), mapList(children, convert)
}

// includesBanned reports whether the response is for a viewer who is banned from a stream. One for several users, which has no
// viewer, is for all who are banned.
func (l *loader) includesBanned(s media.VideoStream) bool {
	if l.viewerID == "" && l.viewer.caller.Kind != auth.Admin {
		return len(s.BannedIDs) > 0
	}
	return slices.Contains(s.BannedIDs, l.viewerID)
}
