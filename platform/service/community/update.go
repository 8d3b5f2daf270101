package community

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// state is what an operation on a community reads.
type state struct {
	*service.Request
	community  *communities.Community
	mine       *communities.Member // the caller's; nil if the caller never was a member
	categories []communities.Category
}

// newRequest starts a request about a community that requires the permission p. A community that does not exist or is
// hidden from the caller is 400400.
func (s *Service) newRequest(ctx context.Context, id string, p auth.Permission) *state {
	found := &state{Request: s.NewRequest(ctx)}
	membership.Read(found.Request, id, &found.community, &found.mine)
	found.Check(func() error {
		if err := membership.RequireDiscoverable(found.Caller, found.community, found.mine); err != nil {
			return err
		}
		return membership.Require(found.Caller, p, found.community, found.mine)
	})
	return found
}

// UpdateCommunity changes the fields of a community that the request sets.
func (s *Service) UpdateCommunity(ctx context.Context, req *plazav1.UpdateCommunityRequest) (*plazav1.CommunityResponse, error) {
	found := s.newRequest(ctx, req.GetCommunityId(), auth.EditCommunity)
	found.Categories(req.GetCategoryIds(), &found.categories)
	found.Check(func() error {
		if req.IsOfficial != nil && req.GetIsOfficial() != found.community.IsOfficial {
			return requireOfficial(found.Request)
		}
		return nil
	})
	found.Check(func() error { return requireCategories(req.GetCategoryIds(), found.categories) })
	textrules.Require(found.Request, s.HomeOf(req.GetCommunityId()), textrules.TextOfFields(req.DisplayName, req.Description),
		textrules.TextOfList(req.GetTags()...))
	fileref.Require(found.Request, fileref.Avatar(req.AvatarFileId))
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	var updated *communities.Community
	tx := s.Store.NewTx(s.HomeOf(found.community.ID))
	change := changeOf(req, found.Caller.UserID)
	change.Old = found.community
	tx.UpdateCommunity(found.community.ID, change, s.Now(), &updated)
	var files []core.OutboxRow
	if found.community.IsPublic && req.IsPublic != nil && !req.GetIsPublic() {
		files = append(files, tx.EmitRestrictPlace(found.community.ID, s.Now(), s.Outbox.FirstTry()))
	}
	event := s.EmitChange(ctx, tx, "community.updated", s.CommunityChange(found.community.ID))
	if err := s.CommitRows(ctx, tx, files, event); err != nil {
		return nil, err
	}
	return s.View.LoadCommunities(ctx, s.Store,
		view.CommunityRows{Communities: []communities.Community{*updated}, Viewer: found.User(), Members: membersOf(found.mine)})
}

func changeOf(req *plazav1.UpdateCommunityRequest, editorID string) communities.CommunityChange {
	c := communities.CommunityChange{
		EditorID:         editorID,
		DisplayName:      req.DisplayName,
		Description:      req.Description,
		AvatarFileID:     req.AvatarFileId,
		NotificationMode: req.NotificationMode,
		IsOfficial:       req.IsOfficial,
		IsPublic:         req.IsPublic,
		IsDiscoverable:   req.IsDiscoverable,
		OnlyAdminCanPost: req.OnlyAdminCanPost,
		PostApproval:     req.NeedApprovalOnPostCreation,
		CommentApproval:  req.NeedApprovalOnCommentCreation,
		JoinApproval:     req.RequiresJoinApproval,
		StoryComments:    req.AllowCommentInStory,
		Tags:             service.Distinct(req.GetTags()),
		CategoryIDs:      service.Distinct(req.GetCategoryIds()),
	}
	if req.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(req.GetMetadata())
	}
	return c
}

// DeleteCommunity deletes a community. Its moderators cannot, unless they created it. GetCommunity still returns it, as
// deleted.
func (s *Service) DeleteCommunity(ctx context.Context, req *plazav1.DeleteCommunityRequest) (*plazav1.SuccessResponse, error) {
	found := s.newRequest(ctx, req.GetCommunityId(), auth.DeleteCommunity)
	found.Check(func() error { return membership.RequireDelete(found.Caller, found.community, found.mine) })
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(found.community.ID))
	tx.DeleteCommunity(found.community.ID, s.Now())
	files := tx.EmitReleasePlace(found.community.ID, s.Now(), s.Outbox.FirstTry())
	return service.Success(), s.CommitChange(ctx, tx, "community.deleted", s.CommunityChange(found.community.ID), files)
}
