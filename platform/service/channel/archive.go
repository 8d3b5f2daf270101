package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errArchiveOther = fail.Forbidden("Only conversations can be archived")
	errArchiveFull  = fail.Forbidden("The maximum number of archived channels is reached")
)

// ListArchivedChannels lists the conversations that the caller has archived, except those that the caller has left.
func (s *Service) ListArchivedChannels(
	ctx context.Context, req *plazav1.ListArchivedChannelsRequest,
) (*plazav1.ListChannelsResponse, error) {
	r := s.NewUserRequest(ctx)
	cursor := r.Page(req.GetOptions())
	list := messaging.ChannelList{Deleted: core.DeletedNone, OnlyArchived: true, Desc: !cursor.Back, Limit: cursor.Limit + 1}
	return s.list(ctx, r, channelQuery{ChannelList: list, filter: "member"}, cursor)
}

// ArchiveChannel archives a conversation for the caller, who must be a member.
func (s *Service) ArchiveChannel(ctx context.Context, req *plazav1.ArchiveChannelRequest) (*plazav1.SuccessResponse, error) {
	found := s.newExisting(ctx, req.GetChannelId())
	found.Check(found.RequireUser)
	found.Check(found.requireArchivable)
	return service.Success(), found.Write(ctx, found.Caller.UserID, func(tx *store.Tx) {
		tx.ArchiveChannel(found.Caller.UserID, found.Access.Channel.ID, errArchiveFull, s.Now())
	})
}

// requireArchivable returns an error unless the channel is a conversation of the caller.
func (s *state) requireArchivable() error {
	switch {
	case !s.Access.User.IsMember():
		return fail.NotChannelMember()
	case s.Access.Channel.Type != messaging.ChannelConversation:
		return errArchiveOther
	}
	return nil
}

// UnarchiveChannel removes a conversation from those that the caller has archived. The conversation may be one that the
// caller has left.
func (s *Service) UnarchiveChannel(ctx context.Context, req *plazav1.UnarchiveChannelRequest) (*plazav1.SuccessResponse, error) {
	r := s.NewUserRequest(ctx)
	return service.Success(), r.Write(ctx, r.Caller.UserID, func(tx *store.Tx) {
		tx.UnarchiveChannel(r.Caller.UserID, chat.ChannelID(s.Deps, req.GetChannelId()))
	})
}
