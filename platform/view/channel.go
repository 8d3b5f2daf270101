package view

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ChannelPath returns the path of a channel. The paths of its subchannels and messages start with it.
func (b *Builder) ChannelPath(internalID string) string { return b.NetworkID + "/chat/" + internalID }

// Channel converts a channel. feed is its first subchannel and preview the last message of that; both may be nil.
func (b *Builder) Channel(
	c messaging.Channel, counts core.Counts, feed *messaging.MessageFeed, preview *messaging.Message,
) *plazav1.Channel {
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
		MemberCount:                  count(counts.Of(c.ID, core.CountMembers)),
		ModeratorMemberCount:         count(counts.Of(c.ID, core.CountModerators)),
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

// mute reports whether a mute has not ended yet, and when it ends.
func (b *Builder) mute(until *time.Time) (muted bool, timeout *timestamppb.Timestamp) {
	if until == nil || !b.now().Before(*until) {
		return false, nil
	}
	return true, ts(*until)
}

// ChannelUser converts a membership in a channel. mark is the user's marker of its first subchannel; if it is nil,
// readTo is the last segment that the user has read. A row without a membership is that of a user who never joined; its
// times are unset.
func (b *Builder) ChannelUser(c messaging.Channel, u messaging.ChannelUser, mark *messaging.FeedMarker, readTo int64) *plazav1.ChannelUser {
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
		m.Membership = messaging.ChannelNone
	}
	if mark != nil {
		m.ReadToSegment, m.LastMentionedSegment = count(mark.ReadTo), count(mark.LastMention)
	}
	m.IsMuted, m.MuteTimeout = b.mute(u.MutedUntil)
	return m
}

// MessagePreview converts the last message of a channel.
func (b *Builder) MessagePreview(c messaging.Channel, m messaging.Message) *plazav1.MessagePreview {
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

// messageFeedInfo converts the first subchannel of a channel.
func messageFeedInfo(f messaging.MessageFeed, preview *messaging.Message) *plazav1.MessageFeedInfo {
	m := &plazav1.MessageFeedInfo{MessageFeedId: f.ID, Name: f.Name, CreatedAt: ts(f.CreatedAt), UpdatedAt: ts(f.UpdatedAt)}
	if preview != nil {
		m.MessagePreviewId = preview.ID
	}
	return m
}
