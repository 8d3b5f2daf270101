package channel

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errExists     = fail.AlreadyExists("A channel with this id already exists")
	errReservedID = fail.Validation("channelId: must not have the form of a generated id")
	errNotLive    = fail.Validation("postId, videoStreamId, roomId: only allowed for type live")
	errIsPublic   = fail.Validation("isPublic: only allowed for type community")
	errTwoLive    = fail.Validation("videoStreamId, roomId: only one of them may be set")
	errPostID     = fail.Validation("channelId: must not be set for the live channel of a post")
	errLiveID     = fail.Validation("channelId: must be the id of the room or stream of a live channel")
)

// draft is a channel to create.
type draft struct {
	*service.Request
	settings network.Settings
	users    []people.User // the first members besides the creator
	channel  messaging.Channel
	attached bool // it is the live channel of a room, a stream or a post
	exists   bool // they already have their live channel
}

// CreateChannel creates a channel of type community, broadcast or live with the caller as its first moderator.
// Administrators have no account and do not become members.
func (s *Service) CreateChannel(ctx context.Context, req *plazav1.CreateChannelRequest) (*plazav1.ChannelResponse, error) {
	if err := validate(req); err != nil {
		return nil, err
	}
	ids, all, err := s.ResolveUsers(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	d := &draft{Request: s.NewRequest(ctx)}
	if req.GetType() == messaging.ChannelBroadcast {
		d.Request = s.NewPrivilegedRequest(ctx, auth.ManageChannel)
	}
	d.Settings(s.Region, &d.settings)
	d.Users(ids, &d.users)
	blocks := contact.Read(d.Request, ids)
	d.Check(blocks.RequireFound)
	textrules.Require(d.Request, s.homeOf(req.GetChannelId()), textrules.TextOfFields(&req.DisplayName),
		textrules.TextOfList(req.GetTags()...))
	d.CheckFound(func() bool { return all && d.usersExist(len(ids)) })
	fileref.Require(d.Request, fileref.Avatar(&req.AvatarFileId))
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	d.channel = s.row(d.Request, req)
	if err := s.attach(ctx, d, req); err != nil {
		return nil, err
	}
	if d.exists {
		return s.GetChannel(ctx, &plazav1.GetChannelRequest{ChannelId: d.channel.ID})
	}
	answer, err := s.insert(ctx, d, errExists)
	if d.attached && errors.Is(err, errExists) { // a concurrent request created it
		return s.GetChannel(ctx, &plazav1.GetChannelRequest{ChannelId: d.channel.ID})
	}
	return answer, err
}

// homeOf returns the home of a new channel, which the client may have chosen an id for.
func (s *Service) homeOf(chosenID string) region.Code {
	if chosenID == "" {
		return s.Region
	}
	return s.HomeOf(chat.ChannelID(s.Deps, chosenID))
}

// validate checks the fields of a request that depend on each other.
func validate(req *plazav1.CreateChannelRequest) error {
	liveID := req.GetVideoStreamId() + req.GetRoomId()
	switch {
	case req.GetPostId()+liveID != "" && req.GetType() != messaging.ChannelLive:
		return errNotLive
	case req.GetVideoStreamId() != "" && req.GetRoomId() != "":
		return errTwoLive
	case req.IsPublic != nil && cmp.Or(req.GetType(), messaging.ChannelCommunity) != messaging.ChannelCommunity:
		return errIsPublic
	case req.GetChannelId() == "" || req.GetChannelId() == liveID:
		return nil
	case req.GetPostId() != "" && liveID == "":
		return errPostID
	case !chat.AllowsPublicID(req.GetChannelId()):
		return errReservedID
	case liveID != "":
		return errLiveID
	}
	return nil
}

// usersExist removes deleted users, and reports whether as many users as wanted remain.
func (d *draft) usersExist(wanted int) bool {
	d.users = slices.DeleteFunc(d.users, func(u people.User) bool { return u.DeletedAt != nil })
	return len(d.users) == wanted
}

// row returns the channel to store.
func (s *Service) row(r *service.Request, req *plazav1.CreateChannelRequest) messaging.Channel {
	now := s.Now()
	c := chat.NewChannel(req, s.NewID(s.Region), now)
	if id := req.GetChannelId(); id != "" {
		c.ID, c.PublicID = chat.ChannelID(s.Deps, id), id
	}
	if req.GetIsMuted() {
		c.MutedUntil = mutedUntil(permanently, now)
	}
	if u := r.User(); u != nil {
		c.CreatorID, c.CreatorPublicID = u.ID, u.PublicID
	}
	return c
}

// insert stores a channel at its home and returns it. exists is the error if its id is in use.
func (s *Service) insert(ctx context.Context, d *draft, exists error) (*plazav1.ChannelResponse, error) {
	users := d.channelUsers()
	if err := s.RequireQuota(ctx, d.channel.CreatorID, network.UsageChannels); err != nil {
		return nil, err
	}
	auth.Created(ctx, "channel", d.channel.ID)
	now := d.channel.CreatedAt
	tx := s.Store.NewTx(s.HomeOf(d.channel.ID))
	switch {
	case d.channel.RoomID != "":
		tx.UpdateRoomHasChannel(d.channel.RoomID, now, fail.NotFound())
	case d.channel.VideoStreamID != "":
		tx.UpdateVideoStreamHasChannel(d.channel.VideoStreamID, now, fail.NotFound())
	case d.channel.ID == d.channel.PublicID && !d.attached:
		exists = nil // a generated id is unique
	}
	chat.InsertChannel(tx, d.channel, users, exists)
	members := service.Map(users, func(c messaging.ChannelUserChange) string { return c.New.UserID })
	if err := s.CommitChange(ctx, tx, "channel.created", s.ChannelChange(d.channel.ID, members...)); err != nil {
		return nil, err
	}
	return s.respondWith(ctx, d.Request, d.settings, d.channel, d.users, users)
}

// channelUsers returns the changes that add the creator and the first members.
func (d *draft) channelUsers() []messaging.ChannelUserChange {
	c := d.channel
	var users []messaging.ChannelUserChange
	if c.CreatorID != "" {
		users = append(users, chat.Join(c.ID, c.CreatorID, c.CreatorPublicID, nil, chat.CreatorRoles(), c.CreatedAt))
	}
	for _, u := range d.users {
		if u.ID != c.CreatorID {
			users = append(users, chat.Join(c.ID, u.ID, u.PublicID, nil, chat.MemberRoles(), c.CreatedAt))
		}
	}
	return users
}

// attach attaches a live channel to the room, stream or post of the request. The caller must be allowed to update the
// room or stream, or be the author of the post. The channel gets the id of the room or stream, or one that is derived
// from that of the post, so that there is one at most. If there is one already, the operation returns it.
func (s *Service) attach(ctx context.Context, d *draft, req *plazav1.CreateChannelRequest) error {
	d.attached = req.GetRoomId()+req.GetVideoStreamId()+req.GetPostId() != ""
	switch {
	case req.GetRoomId() != "":
		return s.attachRoom(ctx, d, req)
	case req.GetVideoStreamId() != "":
		return s.attachStream(ctx, d, req)
	case req.GetPostId() != "":
		return s.attachPost(ctx, d, req.GetPostId())
	}
	return nil
}

var (
	errOtherPost = fail.New(fail.CodeBadRequest, "The post does not contain the room or stream")
	errNoChat    = fail.Forbidden("The room or stream was created without a live channel")
)

func (s *Service) attachRoom(ctx context.Context, d *draft, req *plazav1.CreateChannelRequest) error {
	room, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Room, req.GetRoomId())
	if err != nil {
		return err
	}
	enabled := room != nil && room.LiveChatEnabled
	d.exists, d.channel.RoomID = room != nil && room.HasChannel, req.GetRoomId()
	return s.attachLive(ctx, d, live.OfRoom(room), req.GetPostId(), enabled)
}

func (s *Service) attachStream(ctx context.Context, d *draft, req *plazav1.CreateChannelRequest) error {
	stream, err := service.Read(ctx, s.Deps, (*store.ReadBatch).VideoStream, req.GetVideoStreamId())
	if err != nil {
		return err
	}
	enabled := stream != nil && stream.ChannelEnabled
	d.exists, d.channel.VideoStreamID = stream != nil && stream.HasChannel, req.GetVideoStreamId()
	return s.attachLive(ctx, d, live.OfStream(stream), req.GetPostId(), enabled)
}

// attachLive makes the channel that of a room or stream, unless the caller may not create it or the room or stream was created
// without one.
func (s *Service) attachLive(ctx context.Context, d *draft, b live.Broadcast, wantedPost string, enabled bool) error {
	if err := live.RequireSee(ctx, s.Deps, d.Caller, b); err != nil {
		return err
	}
	if err := live.RequireChange(d.Caller, b.CreatorID); err != nil {
		return err
	}
	switch {
	case wantedPost != "" && wantedPost != b.PostID:
		return errOtherPost
	case !enabled:
		return errNoChat
	}
	d.channel.ID, d.channel.PublicID, d.channel.PostID = b.ID, b.ID, b.PostID
	return nil
}

func (s *Service) attachPost(ctx context.Context, d *draft, postID string) error {
	ref, err := visibility.LoadPost(ctx, s.Deps, d.Caller, postID)
	if err != nil {
		return err
	}
	if err := live.RequireChange(d.Caller, ref.AuthorID()); err != nil {
		return err
	}
	id := s.Directory.PostChannelID(postID)
	d.channel.ID, d.channel.PublicID = id, id
	existing, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Channel, id)
	d.exists = existing != nil
	return err
}
