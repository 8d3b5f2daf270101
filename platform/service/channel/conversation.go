package channel

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errNoOthers   = fail.Validation("userIds: must contain a user other than the caller")
	errManyOthers = fail.Validation("userIds: must contain at most 10 users other than the caller")
	errDeleted    = fail.Forbidden("This conversation was deleted")
)

// conversation is a conversation to create or to find.
type conversation struct {
	draft
	existing *messaging.Channel      // the distinct conversation of the users
	entries  []messaging.ChannelUser // its users
}

// CreateConversation creates a conversation of the caller and other users. If the conversation is distinct and
// exists, it finds it instead and makes users who left it members again. If the caller and one of the others block
// each other, the result is 400400.
func (s *Service) CreateConversation(ctx context.Context, req *plazav1.CreateConversationRequest) (*plazav1.ChannelResponse, error) {
	others, all, err := s.ResolveUsers(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	caller := auth.CallerFrom(ctx).UserID
	others = slices.DeleteFunc(others, func(id string) bool { return id == caller })
	var c *conversation
	changes, err := service.RetryOnConflict(ctx, func() (changes []messaging.ChannelUserChange, err error) {
		if c, err = s.loadConversation(ctx, req, others, all); err != nil {
			return nil, err
		}
		changes = c.changes(s.Now())
		return changes, s.storeConversation(ctx, c, changes)
	})
	if err != nil {
		return nil, err
	}
	return s.respondWith(ctx, c.Request, c.settings, c.channel, c.users, changes)
}

// loadConversation reads and checks what the conversation needs.
func (s *Service) loadConversation(
	ctx context.Context, req *plazav1.CreateConversationRequest, others []string, all bool,
) (*conversation, error) {
	c := &conversation{draft: draft{Request: s.NewUserRequest(ctx)}}
	c.Settings(s.Region, &c.settings)
	c.Users(others, &c.users)
	blocks := contact.Read(c.Request, others)
	distinct := req.IsDistinct == nil || req.GetIsDistinct()
	id := s.NewID(s.Region)
	if distinct && c.Caller.UserID != "" {
		users := append(slices.Clone(others), c.Caller.UserID)
		id = s.Directory.ConversationID(users)
		c.Channel(id, &c.existing)
		c.ChannelUsers(id, users, &c.entries)
	}
	textrules.Require(c.Request, s.HomeOf(id), textrules.TextOfFields(&req.DisplayName), textrules.TextOfList(req.GetTags()...))
	c.CheckFound(func() bool { return all && !blocks.Any() })
	c.Check(func() error { return c.check(len(others)) })
	fileref.Require(c.Request, fileref.Avatar(&req.AvatarFileId))
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	if c.existing != nil {
		c.channel = *c.existing
	} else {
		c.channel = chat.NewConversation(req, id, *c.User(), distinct, s.Now())
	}
	return c, nil
}

// check returns an error unless the conversation can be created or found. others is how many users the request names.
func (c *conversation) check(others int) error {
	switch {
	case !c.usersExist(others):
		return fail.NotFound()
	case others == 0:
		return errNoOthers
	case others > chat.MaxOthers:
		return errManyOthers
	case c.existing != nil && c.existing.DeletedAt != nil:
		return errDeleted
	}
	return nil
}

// changes returns the changes that make all users members. Conversations have no moderators.
func (c *conversation) changes(now time.Time) []messaging.ChannelUserChange {
	var changes []messaging.ChannelUserChange
	for _, u := range append([]people.User{*c.User()}, c.users...) {
		old := service.Find(c.entries, func(e messaging.ChannelUser) bool { return e.UserID == u.ID })
		changes = append(changes, chat.Join(c.channel.ID, u.ID, u.PublicID, old, chat.MemberRoles(), now))
	}
	return changes
}

// storeConversation creates the conversation or changes its users. It returns ErrConflict if another request did so
// concurrently.
func (s *Service) storeConversation(ctx context.Context, c *conversation, changes []messaging.ChannelUserChange) error {
	if c.existing == nil {
		if err := s.RequireQuota(ctx, c.channel.CreatorID, network.UsageChannels); err != nil {
			return err
		}
	}
	auth.Created(ctx, "channel", c.channel.ID)
	tx := s.Store.NewTx(s.HomeOf(c.channel.ID))
	switch {
	case c.existing == nil && c.channel.IsDistinct:
		chat.InsertChannel(tx, c.channel, changes, service.ErrConflict)
	case c.existing == nil:
		chat.InsertChannel(tx, c.channel, changes, nil)
	case slices.ContainsFunc(changes, messaging.ChannelUserChange.Needed):
		tx.GuardChannel(c.channel.ID, service.ErrConflict)
		tx.ChangeChannelUsers(c.channel.ID, changes, s.Now())
		emitMembersChanged(tx, c.channel.ID, changes, s.Now())
	default:
		return nil
	}
	return tx.Commit(ctx)
}
