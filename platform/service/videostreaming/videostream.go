package videostreaming

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements VideoStreamingService.
type Service struct {
	*service.Deps
	streams live.Service[media.VideoStream, plazav1.VideoStreamingResponse]
}

// New returns the service of video streams.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d}
	s.streams = live.Service[media.VideoStream, plazav1.VideoStreamingResponse]{
		Deps: d, Of: live.OfStream, At: position, Read: (*store.ReadBatch).VideoStream, Select: (*store.Tx).SelectVideoStream,
		KeepModeration: (*store.Tx).ModerateVideoStream, Transitions: transitions, ChangeOf: d.StreamChange,
		FlaggedName: "video-streaming.didFlag",
		Respond: func(ctx context.Context, row media.VideoStream) (*plazav1.VideoStreamingResponse, error) {
			return s.respond(ctx, row)
		},
	}
	return s
}

var errParent = fail.New(fail.CodeBadRequest,
	"The parent must be one of your streams, must not have a parent itself, and must have fewer than 20 children")

// CreateVideoStreaming creates a stream of the caller's.
func (s *Service) CreateVideoStreaming(
	ctx context.Context, m *plazav1.CreateVideoStreamingRequest,
) (*plazav1.VideoStreamingResponse, error) {
	r := live.NewRequestToCreate(ctx, s.Deps, &m.ThumbnailFileId, &m.Title, &m.Description)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if parent := m.GetParentStreamId(); parent != "" && !region.ValidID(parent) {
		return nil, errParent
	}
	now := s.Now()
	row := media.VideoStream{
		ID: s.NewID(s.HomeOf(r.User().ID)), CreatorID: r.User().ID, CreatorPublicID: r.User().PublicID,
		Title: m.GetTitle(), Description: m.GetDescription(), ThumbnailFileID: m.GetThumbnailFileId(), Status: "idle",
		Resolution: cmp.Or(m.GetResolution(), "SD"), IsSecure: m.GetIsSecure(), ChannelEnabled: m.ChannelEnabled == nil || m.GetChannelEnabled(),
		Metadata: view.ObjectJSON(m.GetMetadata()), PlatformName: m.GetPlatform().GetName(), PlatformVersion: m.GetPlatform().GetVersion(),
		PlaybackKey: live.NewKey(), IngestKey: live.NewKey(), ParentID: m.GetParentStreamId(), CreatedAt: now, UpdatedAt: now,
	}
	row.HasChannel = row.ChannelEnabled
	auth.Created(ctx, "stream", row.ID)
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	tx.InsertVideoStream(row, errParent)
	if row.HasChannel {
		chat.InsertStreamChannel(tx, row, nil, now)
	}
	return s.View.VideoStreamings(ctx, []media.VideoStream{row}, r.UserRows(), r.Caller.UserID), tx.Commit(ctx)
}

// respond answers with streams and their creators.
func (s *Service) respond(ctx context.Context, rows ...media.VideoStream) (*plazav1.VideoStreamingResponse, error) {
	users, err := s.ReadUsers(ctx, service.Map(rows, func(row media.VideoStream) string { return row.CreatorID }))
	return s.View.VideoStreamings(ctx, rows, users, auth.CallerFrom(ctx).UserID), err
}

// GetVideoStreaming returns one stream.
func (s *Service) GetVideoStreaming(ctx context.Context, req *plazav1.GetVideoStreamingRequest) (*plazav1.VideoStreamingResponse, error) {
	return s.streams.Get(ctx, req.GetStreamId())
}

// UpdateVideoStreaming changes the description of a stream.
func (s *Service) UpdateVideoStreaming(
	ctx context.Context, m *plazav1.UpdateVideoStreamingRequest,
) (*plazav1.VideoStreamingResponse, error) {
	r, stream, err := s.streams.LoadToUpdate(ctx, m.GetStreamId(), m.ThumbnailFileId, m.Title, m.Description)
	if err != nil {
		return nil, err
	}
	change := media.StreamChange{
		EditorID: r.Caller.UserID,
		Title:    m.Title, Description: m.Description, ThumbnailFileID: m.ThumbnailFileId, Resolution: m.Resolution,
		Metadata: view.ChangedJSON(m.GetMetadata()),
	}
	return s.streams.Change(ctx, "", s.StreamChange(stream.ID), func(tx *store.Tx) []core.OutboxRow {
		tx.UpdateVideoStream(stream.ID, change, s.Now(), fail.NotFound())
		return nil
	})
}

// DeleteVideoStreaming deletes a stream. The post that shows it stays.
func (s *Service) DeleteVideoStreaming(
	ctx context.Context, req *plazav1.DeleteVideoStreamingRequest,
) (*plazav1.StatusSuccessResponse, error) {
	return s.streams.Delete(ctx, req.GetStreamId(), func(tx *store.Tx, stream media.VideoStream, _ *auth.Caller) {
		tx.DeleteVideoStream(stream, s.Now(), fail.NotFound())
	})
}
