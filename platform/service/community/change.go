package community

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// target is a community to change, and how the caller stands to it.
type target struct {
	*service.Request
	home       region.Code
	community  *store.Community
	mine       *store.Member
	categories []store.Category
}

// find reads a community to change and requires the permission p. A community that is not there, or hidden from the
// caller, is 400400.
func (s *Service) find(ctx context.Context, id string, categoryIDs []string, p auth.Permission) (*target, error) {
	t := &target{Request: s.NewRequest(ctx)}
	t.Community(id, &t.community)
	if t.Caller.UserID != "" {
		t.Member(id, t.Caller.UserID, &t.mine)
	}
	t.Categories(categoryIDs, &t.categories)
	if err := t.Run(ctx); err != nil {
		return nil, err
	}
	if err := membership.RequireFind(t.Caller, t.community, t.mine); err != nil {
		return nil, err
	}
	var err error
	if t.home, err = region.HomeOf(id); err != nil {
		return nil, fail.NotFound()
	}
	return t, auth.Require(t.Caller, p, auth.Scope{OwnerID: t.community.CreatorID, Membership: visibility.MembershipOf(t.mine)})
}

// UpdateCommunity changes a community; absent fields stay.
func (s *Service) UpdateCommunity(ctx context.Context, req *plazav1.UpdateCommunityRequest) (*plazav1.CommunityAggregate, error) {
	t, err := s.find(ctx, req.GetCommunityId(), req.GetCategoryIds(), auth.EditCommunity)
	if err != nil {
		return nil, err
	}
	if req.IsOfficial != nil && req.GetIsOfficial() != t.community.IsOfficial {
		if err := requireOfficial(t.Request); err != nil {
			return nil, err
		}
	}
	if err := requireCategories(req.GetCategoryIds(), t.categories); err != nil {
		return nil, err
	}
	if err := fileref.Require(ctx, s.Deps, fileref.Avatar(req.AvatarFileId)); err != nil {
		return nil, err
	}
	var changed *store.Community
	tx := s.Store.NewTx(t.home)
	tx.UpdateCommunity(t.community.ID, changeOf(req), s.Now(), &changed)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, view.CommunityAnswer{Communities: []store.Community{*changed}, Viewer: t.User(), Members: known(t.mine)})
}

func changeOf(req *plazav1.UpdateCommunityRequest) store.CommunityChange {
	c := store.CommunityChange{
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
		Tags:             unique(req.GetTags()),
		CategoryIDs:      unique(req.GetCategoryIds()),
	}
	if req.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(req.GetMetadata())
	}
	return c
}

// DeleteCommunity deletes a community. It can still be got, and says then that it is deleted.
func (s *Service) DeleteCommunity(ctx context.Context, req *plazav1.DeleteCommunityRequest) (*plazav1.SuccessResponse, error) {
	t, err := s.find(ctx, req.GetCommunityId(), nil, auth.DeleteCommunity)
	if err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(t.home)
	tx.DeleteCommunity(t.community.ID, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &plazav1.SuccessResponse{Success: true}, nil
}
