package membership

import (
	"cmp"
	"time"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// NewCommunity returns the row of a community that a request describes.
func NewCommunity(id string, req *plazav1.CreateCommunityRequest, creator people.User, now time.Time) communities.Community {
	public := req.IsPublic == nil || req.GetIsPublic()
	c := communities.Community{
		ID: id, DisplayName: req.GetDisplayName(), CreatorID: creator.ID, CreatorPublicID: creator.PublicID,
		Description: req.GetDescription(), AvatarFileID: req.GetAvatarFileId(), IsOfficial: req.GetIsOfficial(), IsPublic: public,
		IsDiscoverable: public, OnlyAdminCanPost: req.GetOnlyAdminCanPost(), PostApproval: req.GetNeedApprovalOnPostCreation(),
		CommentApproval: req.GetNeedApprovalOnCommentCreation(), JoinApproval: req.GetRequiresJoinApproval(),
		StoryComments:    req.AllowCommentInStory == nil || req.GetAllowCommentInStory(),
		NotificationMode: cmp.Or(req.GetNotificationMode(), "default"), Type: cmp.Or(req.GetType(), "default"),
		Tags: service.Distinct(req.GetTags()), Metadata: view.ObjectJSON(req.GetMetadata()), CategoryIDs: service.Distinct(req.GetCategoryIds()),
		CreatedAt: now, UpdatedAt: now,
	}
	if req.IsDiscoverable != nil {
		c.IsDiscoverable = req.GetIsDiscoverable()
	}
	return c
}
