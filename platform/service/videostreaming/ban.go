package videostreaming

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Names of realtime events.
const (
	eventBanned   = "video-streaming.viewerDidBan"
	eventUnbanned = "video-streaming.viewerDidUnban"
)

// Refusals of bans.
var (
	errBanCreator = fail.Forbidden("The creator of a stream cannot be banned from it")
	errBans       = fail.New(fail.CodeBadRequest, "At most 1000 viewers can be banned from a stream")
)

// BanStreamViewers bans viewers from a stream.
func (s *Service) BanStreamViewers(ctx context.Context, req *plazav1.BanStreamViewersRequest) (*plazav1.VideoStreamingResponse, error) {
	r, stream, ids, err := s.loadViewers(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := s.requireBan(ctx, r, stream, ids); err != nil {
		return nil, err
	}
	added := slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(stream.BannedIDs, id) })
	changed := service.SortedSet(slices.Concat(stream.BannedIDs, added))
	if len(changed) > media.MaxStreamBans {
		return nil, errBans
	}
	return s.setBans(ctx, stream, changed, eventBanned, added)
}

// UnbanStreamViewers lifts the bans of viewers from a stream.
func (s *Service) UnbanStreamViewers(ctx context.Context, req *plazav1.UnbanStreamViewersRequest) (*plazav1.VideoStreamingResponse, error) {
	_, stream, ids, err := s.loadViewers(ctx, req)
	if err != nil {
		return nil, err
	}
	removed := slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains(stream.BannedIDs, id) })
	changed := slices.DeleteFunc(slices.Clone(stream.BannedIDs), func(id string) bool { return slices.Contains(removed, id) })
	return s.setBans(ctx, stream, changed, eventUnbanned, removed)
}

// viewersRequest is BanStreamViewersRequest or UnbanStreamViewersRequest.
type viewersRequest interface {
	GetStreamId() string
	GetUserIds() []string
}

// loadViewers reads a stream that the caller may change, and the internal ids of the users that the request names.
func (s *Service) loadViewers(ctx context.Context, req viewersRequest) (*service.Request, *media.VideoStream, []string, error) {
	r, stream, err := s.streams.LoadOwn(ctx, req.GetStreamId())
	if err != nil {
		return nil, nil, nil, err
	}
	ids, all, err := s.ResolveUsers(ctx, req.GetUserIds())
	if err == nil && !all {
		err = fail.NotFound()
	}
	return r, stream, ids, err
}

// requireBan returns nil if the caller may ban the users with the internal ids.
func (s *Service) requireBan(ctx context.Context, r *service.Request, stream *media.VideoStream, ids []string) error {
	if slices.Contains(ids, stream.CreatorID) {
		return errBanCreator
	}
	users, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Users, ids)
	if err != nil {
		return err
	}
	own := r.Caller.Authority(auth.AuthorityIn(stream.CreatorID == r.Caller.UserID, false))
	for _, u := range users {
		if err := own.RequireOver(s.View.Catalog.AuthorityOf(u.Roles, auth.AuthorityNone)); err != nil {
			return err
		}
	}
	return nil
}

// setBans stores who is banned from a stream, with the realtime event called event about the users with the internal ids. Without
// any, nothing changes.
func (s *Service) setBans(ctx context.Context, stream *media.VideoStream, changed []string, event string,
	ids []string,
) (*plazav1.VideoStreamingResponse, error) {
	if len(ids) == 0 {
		return s.respond(ctx, *stream)
	}
	return s.streams.Change(ctx, event, s.StreamBanChange(stream.ID, ids), func(tx *store.Tx) []core.OutboxRow {
		tx.UpdateStreamBans(stream.ID, stream.BannedIDs, changed, s.Now(), fail.Conflict())
		return nil
	})
}
