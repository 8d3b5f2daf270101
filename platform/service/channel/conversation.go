package channel

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxOthers is how many users a conversation has beside who made it.
const maxOthers = 10

var (
	errAlone   = fail.Validation("userIds: must name somebody else")
	errOthers  = fail.Validation("userIds: at most 10 others")
	errDeleted = fail.Forbidden("This conversation was deleted")
)

// conversing is a conversation about to be made, or found.
type conversing struct {
	newcomer
	there *store.Channel // the distinct one of the users
	old   []store.ChannelUser
}

// CreateConversation makes a conversation of the caller and others, or finds the distinct one that they have; those of them who had
// left it belong to it again. With somebody who blocks the caller, or whom the caller blocks, nobody converses: that is 400400.
func (s *Service) CreateConversation(ctx context.Context, req *plazav1.CreateConversationRequest) (*answer, error) {
	others, all, err := s.resolve(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	caller := auth.CallerFrom(ctx).UserID
	others = slices.DeleteFunc(others, func(id string) bool { return id == caller })
	var n *conversing
	var users []store.ChannelUserChange
	err = store.UntilUnchanged(func() error {
		var err error
		if n, err = s.lookToConverse(ctx, req, others, all); err != nil {
			return err
		}
		users = n.changes(s.Now())
		return s.converse(ctx, n, users)
	})
	if err != nil {
		return nil, err
	}
	a := view.ChannelAnswer{Channels: []store.Channel{n.channel}, Users: n.users}
	for _, u := range users {
		a.ChannelUsers = append(a.ChannelUsers, u.New)
	}
	aggregate, err := s.answer(ctx, n.Request, n.settings, a)
	if err != nil {
		return nil, err
	}
	return aggregate, nil
}

// lookToConverse reads and checks what the conversation needs.
func (s *Service) lookToConverse(ctx context.Context, req *plazav1.CreateConversationRequest, others []string, all bool) (*conversing, error) {
	n := &conversing{newcomer: newcomer{Request: s.NewRequest(ctx)}}
	var hidden []string
	n.Settings(s.Region, &n.settings)
	n.Users(others, &n.users)
	n.HiddenFrom(n.Caller.UserID, &hidden)
	distinct := req.IsDistinct == nil || req.GetIsDistinct()
	id := s.NewID(s.Region)
	if distinct && n.Caller.UserID != "" {
		everybody := append(slices.Clone(others), n.Caller.UserID)
		id = s.Directory.ConversationID(everybody)
		n.Channel(id, &n.there)
		n.ChannelUsers(id, everybody, &n.old)
	}
	avatar := fileref.Read(n.ReadBatch, fileref.Avatar(&req.AvatarFileId))
	rules := textrules.Read(s.Deps, n.ReadBatch, service.HomeOf(id))
	if err := n.Run(ctx); err != nil {
		return nil, err
	}
	if err := n.RequireUser(); err != nil {
		return nil, err
	}
	if err := rules.Require(ctx, n.Caller, textrules.TextOfFields(&req.DisplayName)); err != nil {
		return nil, err
	}
	if !all || !n.usersAreThere(len(others)) || slices.ContainsFunc(others, func(id string) bool { return slices.Contains(hidden, id) }) {
		return nil, fail.NotFound()
	}
	switch {
	case len(others) == 0:
		return nil, errAlone
	case len(others) > maxOthers:
		return nil, errOthers
	case n.there != nil && n.there.DeletedAt != nil:
		return nil, errDeleted
	}
	now := s.Now()
	n.channel = store.Channel{
		ID: id, PublicID: id, Type: store.ChannelConversation, CreatorID: n.User().ID, CreatorPublicID: n.User().PublicID,
		DisplayName: req.GetDisplayName(), AvatarFileID: req.GetAvatarFileId(), IsDistinct: distinct, Tags: unique(req.GetTags()),
		Metadata: view.ObjectJSON(req.GetMetadata()), NotificationMode: "default", AutoDeleteFlags: chat.DefaultAutoDeleteFlags,
		LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
	if n.there != nil {
		n.channel = *n.there
	}
	return n, avatar.Err()
}

// changes make everybody a member: nobody moderates a conversation.
func (n *conversing) changes(now time.Time) []store.ChannelUserChange {
	var changes []store.ChannelUserChange
	for _, u := range append([]store.User{*n.User()}, n.users...) {
		var old *store.ChannelUser
		if i := slices.IndexFunc(n.old, func(o store.ChannelUser) bool { return o.UserID == u.ID }); i >= 0 {
			old = &n.old[i]
		}
		changes = append(changes, chat.Join(n.channel.ID, u.ID, u.PublicID, old, chat.MemberRoles(), now))
	}
	return changes
}

// converse writes what is to be written. Where somebody else made the same conversation meanwhile it is store.ErrChanged.
func (s *Service) converse(ctx context.Context, n *conversing, users []store.ChannelUserChange) error {
	tx := s.Store.NewTx(service.HomeOf(n.channel.ID))
	switch {
	case n.there == nil && n.channel.IsDistinct:
		chat.InsertChannel(tx, n.channel, users, store.ErrChanged)
	case n.there == nil:
		chat.InsertChannel(tx, n.channel, users, nil)
	case slices.ContainsFunc(users, store.ChannelUserChange.Needed):
		tx.GuardChannel(n.channel.ID, store.ErrChanged)
		tx.ChangeChannelUsers(n.channel.ID, users, s.Now())
		tellMarkers(tx, n.channel.ID, users, s.Now())
	default:
		return nil
	}
	return tx.Commit(ctx)
}
