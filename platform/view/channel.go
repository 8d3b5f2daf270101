package view

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ChannelPath is where the events of a channel are told, and of what is in it: the path of a subchannel begins with it.
func (b *Builder) ChannelPath(internalID string) string { return b.NetworkID + "/chat/" + internalID }

// Channel makes the message of a channel. feed is its first subchannel, preview that one's last message; nil leaves out what they
// say.
func (b *Builder) Channel(c store.Channel, counts store.Counts, feed *store.MessageFeed, preview *store.Message) *plazav1.Channel {
	m := &plazav1.Channel{
		PrivateId:                    c.ID,
		ChannelId:                    c.PublicID,
		ChannelInternalId:            c.ID,
		ChannelPublicId:              c.PublicID,
		Type:                         c.Type,
		DisplayName:                  c.DisplayName,
		AvatarFileId:                 c.AvatarFileID,
		IsDistinct:                   c.IsDistinct,
		MessageAutoDeleteEnabled:     c.AutoDeleteEnabled,
		AutoDeleteMessageByFlagLimit: count(c.AutoDeleteFlags),
		MemberCount:                  count(counts.Of(c.ID, store.CountMembers)),
		ModeratorMemberCount:         count(counts.Of(c.ID, store.CountModerators)),
		IsPublic:                     c.IsPublic,
		NotificationMode:             c.NotificationMode,
		LastActivity:                 ts(c.LastActivity),
		Metadata:                     object(c.Metadata),
		Tags:                         c.Tags,
		Path:                         b.ChannelPath(c.ID),
		IsDeleted:                    c.DeletedAt != nil,
		CreatedAt:                    ts(c.CreatedAt),
		UpdatedAt:                    ts(c.UpdatedAt),
	}
	m.IsMuted, m.MuteTimeout = b.mute(c.MutedUntil)
	if c.PostID+c.VideoStreamID+c.RoomID != "" {
		m.AttachedTo = &plazav1.ChannelAttachment{PostId: c.PostID, VideoStreamId: c.VideoStreamID, RoomId: c.RoomID}
	}
	if feed != nil {
		m.MessageCount = count(feed.LastSegment)
	}
	if preview != nil {
		m.MessagePreviewId = preview.ID
	}
	return m
}

// mute says whether a mute holds now, and until when.
func (b *Builder) mute(until *time.Time) (muted bool, timeout *timestamppb.Timestamp) {
	if until == nil || !b.now().Before(*until) {
		return false, nil
	}
	return true, ts(*until)
}

// ChannelUser makes the message of how a user stands to a channel. mark is their marker of its first subchannel, nil where they
// have none; readTo stands in for it then. One without a membership is that of somebody who never belonged to the channel; it has
// no times.
func (b *Builder) ChannelUser(c store.Channel, u store.ChannelUser, mark *store.FeedMark, readTo int64) *plazav1.ChannelUser {
	m := &plazav1.ChannelUser{
		UserId:            u.UserPublicID,
		UserInternalId:    u.UserID,
		UserPublicId:      u.UserPublicID,
		ChannelId:         c.PublicID,
		ChannelInternalId: c.ID,
		ChannelPublicId:   c.PublicID,
		Membership:        u.Membership,
		ReadToSegment:     count(readTo),
		IsBanned:          u.IsBanned(),
		LastActivity:      tsUnlessZero(u.UpdatedAt),
		Roles:             u.Roles,
		Permissions:       auth.PermissionsOf(u.Roles),
		CreatedAt:         tsUnlessZero(u.CreatedAt),
		UpdatedAt:         tsUnlessZero(u.UpdatedAt),
	}
	if m.GetMembership() == "" {
		m.Membership = store.ChannelNone
	}
	if mark != nil {
		m.ReadToSegment, m.LastMentionedSegment = count(mark.ReadTo), count(mark.LastMention)
	}
	m.IsMuted, m.MuteTimeout = b.mute(u.MutedUntil)
	return m
}

// MessagePreview makes the message of a channel's last message.
func (b *Builder) MessagePreview(c store.Channel, m store.Message) *plazav1.MessagePreview {
	p := &plazav1.MessagePreview{
		MessageId:       m.ID,
		ParentId:        m.ParentID,
		ChannelId:       c.ID,
		ChannelPublicId: c.PublicID,
		MessageFeedId:   m.FeedID,
		Data:            object(m.Data),
		DataType:        m.DataType,
		CreatorId:       m.CreatorID,
		CreatorPublicId: m.CreatorPublicID,
		IsDeleted:       m.DeletedAt != nil,
		Segment:         count(m.Segment),
		CreatedAt:       ts(m.CreatedAt),
		UpdatedAt:       ts(m.UpdatedAt),
	}
	if p.GetIsDeleted() {
		p.Data = object(nil)
	}
	return p
}

// messageFeedInfo makes the message of a channel's first subchannel.
func messageFeedInfo(f store.MessageFeed, preview *store.Message) *plazav1.MessageFeedInfo {
	m := &plazav1.MessageFeedInfo{MessageFeedId: f.ID, Name: f.Name, CreatedAt: ts(f.CreatedAt), UpdatedAt: ts(f.UpdatedAt)}
	if preview != nil {
		m.MessagePreviewId = preview.ID
	}
	return m
}

// ChannelPage is an answer about channels with its page.
func ChannelPage(a *plazav1.ChannelResponse, paging *plazav1.Paging) *plazav1.ListChannelsResponse {
	return &plazav1.ListChannelsResponse{
		Channels: a.GetChannels(), ChannelUsers: a.GetChannelUsers(), MessagePreviews: a.GetMessagePreviews(),
		MessageFeedsInfo: a.GetMessageFeedsInfo(), Users: a.GetUsers(), Files: a.GetFiles(), Paging: paging,
	}
}

// ChannelUserPage is a page of the users of a channel.
func ChannelUserPage(a *plazav1.ChannelResponse, paging *plazav1.Paging) *plazav1.ListChannelUsersResponse {
	return &plazav1.ListChannelUsersResponse{
		Channels: a.GetChannels(), ChannelUsers: a.GetChannelUsers(), MessagePreviews: a.GetMessagePreviews(),
		MessageFeedsInfo: a.GetMessageFeedsInfo(), Users: a.GetUsers(), Files: a.GetFiles(), Paging: paging,
	}
}
