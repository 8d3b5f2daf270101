package view

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// VideoStreaming makes the message of a stream. viewerID is an internal id: where to send the stream is for its creator alone.
func (b *Builder) VideoStreaming(s store.VideoStream, viewerID string) *plazav1.VideoStreaming {
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
		ChannelEnabled:  s.ChannelEnabled,
		IsParent:        len(s.ChildIDs) > 0,
		ParentStreamId:  s.ParentID,
		ChildStreamIds:  s.ChildIDs,
	}
	if s.HasChannel {
		m.ChannelId = s.ID // its chat has its name, as that of a community does
	}
	if m.GetIsDeleted() {
		return m
	}
	m.WatcherUrl = b.Media.Watch(s.PlaybackKey)
	if s.CreatorID == viewerID && (s.Status == "idle" || s.Status == "live") {
		m.StreamerUrl = b.Media.Ingest(s.PlaybackKey, s.IngestKey, s.IsSecure)
	}
	for _, r := range s.Recordings {
		m.Recordings = append(m.Recordings, &plazav1.StreamRecording{Flv: recordingFile(r.FLV), Mp4: recordingFile(r.MP4), M3U8: recordingFile(r.M3U8)})
	}
	return m
}

func recordingFile(f *store.RecordingFile) *plazav1.StreamRecordingFile {
	if f == nil {
		return nil
	}
	return &plazav1.StreamRecordingFile{Url: f.URL, Duration: f.Duration, StartTime: f.StartTime, StopTime: f.StopTime}
}

// VideoStreamings is the answer about streams, in the order of the rows.
func (b *Builder) VideoStreamings(rows []store.VideoStream, users []store.User, viewerID string) *plazav1.VideoStreamingResponse {
	a := &plazav1.VideoStreamingResponse{Users: b.Users(users)}
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

func labels(found []store.ModerationLabel) []*plazav1.ModerationLabel {
	var out []*plazav1.ModerationLabel
	for _, l := range found {
		out = append(out, &plazav1.ModerationLabel{Category: l.Category, Threshold: l.Threshold, DetectedAt: ts(l.DetectedAt)})
	}
	return out
}

// carried is the id of what a post, or a child of one, of a structure type carries: its data's field; empty without one.
func carried(p store.Post, structureType, field string) string {
	if p.StructureType != structureType || p.DeletedAt != nil {
		return ""
	}
	var data map[string]json.RawMessage
	var id string
	if json.Unmarshal(p.Data, &data) != nil || json.Unmarshal(data[field], &id) != nil {
		return ""
	}
	return id
}

// carriedBy are the ids of what the posts carry, each once, in their order.
func (g *gathering) carriedBy(structureType, field string) []string {
	ids := newSet()
	for _, p := range g.Posts {
		ids.add(carried(p, structureType, field))
	}
	return ids.list()
}

// readStreams reads the streams of the posts, and their children.
func (g *gathering) readStreams(reads *store.Reads) {
	if ids := g.carriedBy("liveStream", "streamId"); len(ids) > 0 {
		reads.VideoStreams(ids, &g.streams)
		reads.ChildStreams(ids, &g.childStreams)
	}
}

// buildStreams keeps the streams in the order of their posts; deleted ones are not there, and neither are
// children with a post of their own, which is for its own readers.
func (g *gathering) buildStreams(a *Aggregate) {
	ids := g.carriedBy("liveStream", "streamId")
	byPlace := func(x, y store.VideoStream) int { return slices.Index(ids, x.ID) - slices.Index(ids, y.ID) }
	slices.SortFunc(g.streams, byPlace)
	slices.SortFunc(g.childStreams, func(x, y store.VideoStream) int { return strings.Compare(x.ID, y.ID) })
	for _, s := range g.streams {
		if s.DeletedAt == nil {
			a.VideoStreamings = append(a.VideoStreamings, g.builder.VideoStreaming(s, g.viewerID))
		}
	}
	for _, s := range g.childStreams {
		if s.DeletedAt == nil && s.PostID == "" && !slices.Contains(ids, s.ID) {
			a.VideoStreamingChildren = append(a.VideoStreamingChildren, g.builder.VideoStreaming(s, g.viewerID))
		}
	}
}
