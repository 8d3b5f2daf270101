package videostream

import (
	"cmp"
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements VideoStreamingService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

type answer = connect.Response[plazav1.VideoStreamingResponse]

// errParent refuses a parent that cannot be one.
var errParent = fail.New(fail.CodeBadRequest, "The parent has to be a stream of one's own, no child itself, with less than 20 children")

// CreateVideoStreaming makes a stream of the caller's.
func (s *Service) CreateVideoStreaming(ctx context.Context, req *connect.Request[plazav1.CreateVideoStreamingRequest]) (*answer, error) {
	m := req.Msg
	metadata, err := service.LiveMetadata(m.GetMetadata())
	if err != nil {
		return nil, err
	}
	f := s.Begin(ctx)
	thumbnail := service.ReadFiles(f.Reads, service.Thumbnail(&m.ThumbnailFileId))
	rules := s.ReadTextRules(f.Reads, service.HomeOf(f.Caller.UserID))
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if err := f.RequireUser(); err != nil {
		return nil, err
	}
	if err := thumbnail.Err(); err != nil {
		return nil, err
	}
	if err := rules.Require(ctx, f.Caller, service.WrittenAs(&m.Title, &m.Description)); err != nil {
		return nil, err
	}
	if parent := m.GetParentStreamId(); parent != "" && !region.ValidID(parent) {
		return nil, errParent
	}
	now := s.Now()
	row := store.VideoStream{
		ID: s.NewID(service.HomeOf(f.User().ID)), CreatorID: f.User().ID, CreatorPublicID: f.User().PublicID,
		Title: m.GetTitle(), Description: m.GetDescription(), ThumbnailFileID: m.GetThumbnailFileId(), Status: "idle",
		Resolution: cmp.Or(m.GetResolution(), "SD"), IsSecure: m.GetIsSecure(), ChannelEnabled: m.ChannelEnabled == nil || m.GetChannelEnabled(),
		Metadata: metadata, PlatformName: m.GetPlatform().GetName(), PlatformVersion: m.GetPlatform().GetVersion(),
		PlaybackKey: service.NewKey(), IngestKey: service.NewKey(), ParentID: m.GetParentStreamId(), CreatedAt: now, UpdatedAt: now,
	}
	row.HasChannel = row.ChannelEnabled
	w := s.Store.Write(service.HomeOf(row.ID))
	w.NewVideoStream(row, errParent)
	if row.HasChannel {
		service.StreamChannel(w, row, nil, now)
	}
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(s.View.VideoStreamings([]store.VideoStream{row}, f.UserRows(), f.Caller.UserID)), nil
}

// loaded is a stream as a request finds it.
type loaded struct {
	*service.First
	stream *store.VideoStream
}

// load reads a stream. One that is deleted, or that the caller may not see, does not exist.
func (s *Service) load(ctx context.Context, id string) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx)}
	l.VideoStream(id, &l.stream)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	return l, s.SeeStream(ctx, l.Caller, l.stream)
}

// loadOwn reads a stream that the caller may change.
func (s *Service) loadOwn(ctx context.Context, id string) (*loaded, error) {
	l, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return l, service.RequireChangeLive(l.Caller, l.stream.CreatorID)
}

// answer is about one stream and its creator.
func (s *Service) answer(ctx context.Context, callerID string, rows ...store.VideoStream) (*answer, error) {
	a, err := s.aggregate(ctx, callerID, rows)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a), nil
}

func (s *Service) aggregate(ctx context.Context, callerID string, rows []store.VideoStream) (*plazav1.VideoStreamingResponse, error) {
	ids := make([]string, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.CreatorID)
	}
	var users []store.User
	reads := s.Store.Related()
	reads.Users(ids, &users)
	err := reads.Run(ctx)
	return s.View.VideoStreamings(rows, users, callerID), err
}

// GetVideoStreaming gets one stream.
func (s *Service) GetVideoStreaming(ctx context.Context, req *connect.Request[plazav1.GetVideoStreamingRequest]) (*answer, error) {
	l, err := s.load(ctx, req.Msg.GetStreamId())
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l.Caller.UserID, *l.stream)
}

// UpdateVideoStreaming changes what a stream says of itself.
func (s *Service) UpdateVideoStreaming(ctx context.Context, req *connect.Request[plazav1.UpdateVideoStreamingRequest]) (*answer, error) {
	m := req.Msg
	change := store.StreamChange{Title: m.Title, Description: m.Description, ThumbnailFileID: m.ThumbnailFileId, Resolution: m.Resolution}
	if m.GetMetadata() != nil {
		var err error
		if change.Metadata, err = service.LiveMetadata(m.GetMetadata()); err != nil {
			return nil, err
		}
	}
	l, err := s.loadOwn(ctx, m.GetStreamId())
	if err != nil {
		return nil, err
	}
	if err := s.CheckFiles(ctx, service.Thumbnail(m.ThumbnailFileId)); err != nil {
		return nil, err
	}
	if err := s.CheckTexts(ctx, l.Caller, service.HomeOf(l.stream.ID), service.WrittenAs(m.Title, m.Description)); err != nil {
		return nil, err
	}
	return s.write(ctx, l.Caller.UserID, l.stream, func(w *store.Write) { w.UpdateVideoStream(l.stream.ID, change, s.Now(), fail.NotFound()) })
}

// write runs a change of a stream, and answers with the stream as it stands then.
func (s *Service) write(ctx context.Context, callerID string, row *store.VideoStream, change func(*store.Write)) (*answer, error) {
	var after *store.VideoStream
	w := s.Store.Write(service.HomeOf(row.ID))
	change(w)
	w.VideoStreamAfter(row.ID, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, callerID, *after)
}

// DeleteVideoStreaming deletes a stream. The post that carries it stays.
func (s *Service) DeleteVideoStreaming(ctx context.Context, req *connect.Request[plazav1.DeleteVideoStreamingRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	l, err := s.loadOwn(ctx, req.Msg.GetStreamId())
	if err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(l.stream.ID))
	w.DeleteVideoStream(*l.stream, s.Now(), fail.NotFound())
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.StatusSuccessResponse{
		Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true,
	}), nil
}
