package community

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errNameExists = fail.AlreadyExists("A community with this name already exists")

// CreateCommunity creates a community in the region of this server, with the caller as its first moderator.
func (s *Service) CreateCommunity(ctx context.Context, req *plazav1.CreateCommunityRequest) (*plazav1.CommunityResponse, error) {
	d, err := s.loadDraft(ctx, req)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	c := membership.NewCommunity(s.NewID(s.Region), req, *d.User(), now)
	changes := d.members(c, now)
	var exists error
	if req.GetIsUniqueDisplayName() {
		exists = errNameExists
	}
	if err := s.RequireQuota(ctx, c.CreatorID, network.UsageCommunities); err != nil {
		return nil, err
	}
	auth.Created(ctx, "community", c.ID)
	tx := s.Store.NewTx(s.Region)
	tx.InsertCommunity(c, exists, now)
	if err := membership.NewUpdate(tx, c.ID, changes, now).Commit(ctx, s.Deps, c.CreatorID, c.CreatorID); err != nil {
		return nil, err
	}
	a := view.CommunityRows{Communities: []communities.Community{c}, Viewer: d.User(), Users: d.users}
	a.Members = service.Map(changes, func(c communities.MemberChange) communities.Member { return c.New })
	return s.View.LoadCommunities(ctx, s.Store, a)
}

// draft is a community to create.
type draft struct {
	*service.Request
	users []people.User // the first members besides the creator
}

// loadDraft reads and checks what the community refers to.
func (s *Service) loadDraft(ctx context.Context, req *plazav1.CreateCommunityRequest) (*draft, error) {
	ids, all, err := s.ResolveUsers(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	d := &draft{Request: s.NewUserRequest(ctx)}
	var categories []communities.Category
	d.Users(ids, &d.users)
	d.Categories(req.GetCategoryIds(), &categories)
	blocks := contact.Read(d.Request, ids)
	d.Check(blocks.RequireFound)
	if req.GetIsOfficial() {
		d.Check(func() error { return requireOfficial(d.Request) })
	}
	d.Check(func() error {
		d.users = slices.DeleteFunc(d.users, func(u people.User) bool { return u.DeletedAt != nil })
		if !all || len(d.users) < len(ids) {
			return fail.NotFound()
		}
		return requireCategories(req.GetCategoryIds(), categories)
	})
	textrules.Require(d.Request, s.Region, textrules.TextOfList(req.GetDisplayName(), req.GetDescription()),
		textrules.TextOfList(req.GetTags()...))
	fileref.Require(d.Request, fileref.Avatar(&req.AvatarFileId))
	return d, d.Run(ctx)
}

// members returns the changes that add the creator and the first members.
func (d *draft) members(c communities.Community, now time.Time) []communities.MemberChange {
	changes := []communities.MemberChange{membership.Join(c.ID, c.CreatorID, c.CreatorPublicID, nil, membership.CreatorRoles(), now)}
	for _, u := range d.users {
		if u.ID != c.CreatorID {
			changes = append(changes, membership.Join(c.ID, u.ID, u.PublicID, nil, membership.MemberRoles(), now))
		}
	}
	return changes
}
