package channel

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Refusals of new channels.
var (
	errTaken  = fail.AlreadyExists("A channel of that id exists already")
	errFormID = fail.Validation("channelId: must not have the form of the ids that the network gives")
	errLive   = fail.Validation("postId, videoStreamId, roomId: go with type live")
	errPublic = fail.Validation("isPublic: goes with type community")
)

// newcomer is a channel about to be made.
type newcomer struct {
	*service.Request
	settings store.Settings
	users    []store.User // the first members beside the creator
	channel  store.Channel
	roomID   string // of the room that gets its live channel
	streamID string // of the stream that does
	there    bool   // the room or stream has its live channel already
}

// CreateChannel makes a channel of type community, broadcast or live with the caller as its first moderator. An administrator, who has
// no account, is no member.
func (s *Service) CreateChannel(ctx context.Context, req *plazav1.CreateChannelRequest) (*answer, error) {
	if err := requireSense(req); err != nil {
		return nil, err
	}
	ids, all, err := s.resolve(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	n := &newcomer{Request: s.NewRequest(ctx)}
	n.Settings(s.Region, &n.settings)
	n.Users(ids, &n.users)
	avatar := fileref.Read(n.ReadBatch, fileref.Avatar(&req.AvatarFileId))
	rules := textrules.Read(s.Deps, n.ReadBatch, s.homeOf(req.GetChannelId()))
	if err := n.Run(ctx); err != nil {
		return nil, err
	}
	if req.GetType() == store.ChannelBroadcast {
		if err := auth.Require(n.Caller, auth.ManageChannel, auth.Scope{}); err != nil {
			return nil, err
		}
	}
	if err := rules.Require(ctx, n.Caller, textrules.TextOfFields(&req.DisplayName)); err != nil {
		return nil, err
	}
	if !all || !n.usersAreThere(len(ids)) {
		return nil, fail.NotFound()
	}
	if err := avatar.Err(); err != nil {
		return nil, err
	}
	n.channel = s.row(n.Request, req)
	if err := s.attach(ctx, n, req); err != nil {
		return nil, err
	}
	if n.there {
		return s.GetChannel(ctx, &plazav1.GetChannelRequest{ChannelId: n.channel.ID})
	}
	return s.make(ctx, n, errTaken)
}

// homeOf is where a channel of a chosen id lives, and one that gets an id of ours.
func (s *Service) homeOf(chosenID string) region.Code {
	if chosenID == "" {
		return s.Region
	}
	return service.HomeOf(chat.ChannelID(s.Deps, chosenID))
}

// requireSense refuses fields that do not go together.
func requireSense(req *plazav1.CreateChannelRequest) error {
	live := req.GetType() == store.ChannelLive
	attached := req.GetPostId()+req.GetVideoStreamId()+req.GetRoomId() != ""
	switch {
	case attached && !live:
		return errLive
	case req.GetVideoStreamId() != "" && req.GetRoomId() != "":
		return fail.Validation("videoStreamId, roomId: only one of them")
	case req.IsPublic != nil && cmp.Or(req.GetType(), store.ChannelCommunity) != store.ChannelCommunity:
		return errPublic
	case req.GetChannelId() != "" && !chat.AllowsPublicID(req.GetChannelId()) && req.GetChannelId() != req.GetVideoStreamId()+req.GetRoomId():
		return errFormID
	case req.GetChannelId() != "" && req.GetVideoStreamId()+req.GetRoomId() != "" && req.GetChannelId() != req.GetVideoStreamId()+req.GetRoomId():
		return fail.Validation("channelId: the live channel of a room or stream has the id of that")
	}
	return nil
}

// usersAreThere reports whether all users are there whom the request named; the deleted are not.
func (n *newcomer) usersAreThere(wanted int) bool {
	n.users = slices.DeleteFunc(n.users, func(u store.User) bool { return u.DeletedAt != nil })
	return len(n.users) == wanted
}

// row is the channel as it is stored.
func (s *Service) row(r *service.Request, req *plazav1.CreateChannelRequest) store.Channel {
	now := s.Now()
	kind := cmp.Or(req.GetType(), store.ChannelCommunity)
	c := store.Channel{
		ID: s.NewID(s.Region), Type: kind, DisplayName: req.GetDisplayName(), AvatarFileID: req.GetAvatarFileId(),
		IsPublic: kind == store.ChannelBroadcast || kind == store.ChannelCommunity && (req.IsPublic == nil || req.GetIsPublic()),
		Tags:     unique(req.GetTags()), Metadata: view.ObjectJSON(req.GetMetadata()), NotificationMode: cmp.Or(req.GetNotificationMode(), "default"),
		AutoDeleteEnabled: req.GetMessageAutoDeleteEnabled(), AutoDeleteFlags: int64(cmp.Or(req.GetAutoDeleteMessageByFlagLimit(), chat.DefaultAutoDeleteFlags)),
		PostID: req.GetPostId(), LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
	c.PublicID = c.ID
	if id := req.GetChannelId(); id != "" {
		c.ID, c.PublicID = chat.ChannelID(s.Deps, id), id
	}
	if req.GetIsMuted() {
		c.MutedUntil = mutedUntil(forEver, now)
	}
	if u := r.User(); u != nil {
		c.CreatorID, c.CreatorPublicID = u.ID, u.PublicID
	}
	return c
}

// make writes a channel at its home and answers with it.
func (s *Service) make(ctx context.Context, n *newcomer, taken error) (*answer, error) {
	users := n.channelUsers()
	if len(users) > maxMembers[n.channel.Type] {
		return nil, fail.TooManyMembers()
	}
	now := n.channel.CreatedAt
	tx := s.Store.NewTx(service.HomeOf(n.channel.ID))
	switch {
	case n.roomID != "":
		tx.RoomHasChannel(n.roomID, now, fail.NotFound())
	case n.streamID != "":
		tx.VideoStreamHasChannel(n.streamID, now, fail.NotFound())
	case n.channel.ID == n.channel.PublicID:
		taken = nil // an id of ours, which nobody else can have
	}
	chat.InsertChannel(tx, n.channel, users, taken)
	if err := tx.Commit(ctx); err != nil {
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

// channelUsers are the creator and the first members.
func (n *newcomer) channelUsers() []store.ChannelUserChange {
	c := n.channel
	var users []store.ChannelUserChange
	if c.CreatorID != "" {
		users = append(users, chat.Join(c.ID, c.CreatorID, c.CreatorPublicID, nil, chat.CreatorRoles(), c.CreatedAt))
	}
	for _, u := range n.users {
		if u.ID != c.CreatorID {
			users = append(users, chat.Join(c.ID, u.ID, u.PublicID, nil, chat.MemberRoles(), c.CreatedAt))
		}
	}
	return users
}

// attach makes a live channel the chat of what the request names: it gets the id of the room or stream, and where that has its live
// channel already, as it has from the start since there are channels, that is the answer. Whoever makes it has to be who may change
// the room or stream, or who wrote the post.
func (s *Service) attach(ctx context.Context, n *newcomer, req *plazav1.CreateChannelRequest) error {
	switch {
	case req.GetRoomId() != "":
		return s.attachRoom(ctx, n, req)
	case req.GetVideoStreamId() != "":
		return s.attachStream(ctx, n, req)
	case req.GetPostId() != "":
		return s.attachPost(ctx, n, req.GetPostId())
	}
	return nil
}

var (
	errOtherPost = fail.New(fail.CodeBadRequest, "The post does not carry the room or stream")
	errNoChat    = fail.Forbidden("The room or stream was made without a chat")
)

func (s *Service) attachRoom(ctx context.Context, n *newcomer, req *plazav1.CreateChannelRequest) error {
	var room *store.Room
	reads := s.Store.NewReadBatch()
	reads.Room(req.GetRoomId(), &room)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if err := live.RequireSeeRoom(ctx, s.Deps, n.Caller, room); err != nil {
		return err
	}
	if err := requireAttach(n.Caller, room.CreatorID, req.GetPostId(), room.PostID, room.LiveChatEnabled); err != nil {
		return err
	}
	n.roomID, n.there = room.ID, room.HasChannel
	n.channel.ID, n.channel.PublicID, n.channel.RoomID, n.channel.PostID = room.ID, room.ID, room.ID, room.PostID
	return nil
}

func (s *Service) attachStream(ctx context.Context, n *newcomer, req *plazav1.CreateChannelRequest) error {
	var stream *store.VideoStream
	reads := s.Store.NewReadBatch()
	reads.VideoStream(req.GetVideoStreamId(), &stream)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if err := live.RequireSeeStream(ctx, s.Deps, n.Caller, stream); err != nil {
		return err
	}
	if err := requireAttach(n.Caller, stream.CreatorID, req.GetPostId(), stream.PostID, stream.ChannelEnabled); err != nil {
		return err
	}
	n.streamID, n.there = stream.ID, stream.HasChannel
	n.channel.ID, n.channel.PublicID, n.channel.VideoStreamID, n.channel.PostID = stream.ID, stream.ID, stream.ID, stream.PostID
	return nil
}

func requireAttach(caller *auth.Caller, creatorID, wantedPost, post string, enabled bool) error {
	if err := live.RequireChange(caller, creatorID); err != nil {
		return err
	}
	switch {
	case wantedPost != "" && wantedPost != post:
		return errOtherPost
	case !enabled:
		return errNoChat
	}
	return nil
}

func (s *Service) attachPost(ctx context.Context, n *newcomer, postID string) error {
	var post *store.Post
	reads := s.Store.NewReadBatch()
	reads.Post(postID, &post)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if _, err := visibility.LoadPost(ctx, s.Deps, n.Caller, postID); err != nil {
		return err
	}
	return live.RequireChange(n.Caller, post.AuthorID)
}

// resolve returns the internal ids of the users that a request names, each once, and whether all of them are known.
func (s *Service) resolve(ctx context.Context, publicIDs []string) (ids []string, all bool, err error) {
	found, err := s.Directory.Resolve(ctx, publicIDs...)
	if err != nil {
		return nil, false, err
	}
	all = true
	for _, publicID := range publicIDs {
		id := found[publicID]
		switch {
		case id == "":
			all = false
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, all, nil
}

// forEver is the mutePeriod of a mute that does not end.
const forEver = -1

// endOfTime is when a mute for ever ends: the last millisecond that clients can read.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)

// mutedUntil is when a mute of a period in milliseconds ends; nil for a period of 0, which ends one.
func mutedUntil(period float64, now time.Time) *time.Time {
	switch {
	case period < 0:
		return &endOfTime
	case period < 1:
		return nil
	}
	until := now.Add(time.Duration(period) * time.Millisecond)
	return &until
}
