package community

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errNameTaken = fail.AlreadyExists("A community of that name exists already")

// CreateCommunity makes a community at this server's region, with the caller as its first moderator. Any user may.
func (s *Service) CreateCommunity(ctx context.Context, req *plazav1.CreateCommunityRequest) (*plazav1.CommunityAggregate, error) {
	n, err := s.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	c := s.row(req, *n.User(), now)
	changes := n.members(c, now)
	tx := s.Store.NewTx(s.Region)
	tx.InsertCommunity(c, n.taken(), now)
	mirrors := tx.ChangeMembers(c.ID, changes, now, now.Add(events.Grace))
	outboxRows := events.Added(tx, c.ID, c.CreatorID, c.CreatorID, changes, mirrors, now)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.Deliver(ctx, s.Region, mirrors...)
	s.Outbox.DeliverSoon(ctx, s.Region, outboxRows...)
	answer := view.CommunityAnswer{Communities: []store.Community{c}, Viewer: n.User(), Users: n.users}
	for _, change := range changes {
		answer.Members = append(answer.Members, change.New)
	}
	return s.answer(ctx, answer)
}

// newcomer is a community about to be made.
type newcomer struct {
	*service.Request
	request *plazav1.CreateCommunityRequest
	users   []store.User // the first members beside the creator
}

// prepare reads and checks what the community refers to.
func (s *Service) prepare(ctx context.Context, req *plazav1.CreateCommunityRequest) (*newcomer, error) {
	found, err := s.Directory.Resolve(ctx, req.GetUserIds()...)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, publicID := range req.GetUserIds() {
		ids = append(ids, found[publicID])
	}
	ids = unique(ids)
	n := &newcomer{Request: s.NewRequest(ctx), request: req}
	var categories []store.Category
	n.Users(ids, &n.users)
	n.Categories(req.GetCategoryIds(), &categories)
	avatar := fileref.Read(n.ReadBatch, fileref.Avatar(&req.AvatarFileId))
	if err := n.Run(ctx); err != nil {
		return nil, err
	}
	if err := n.RequireUser(); err != nil {
		return nil, err
	}
	if req.GetIsOfficial() {
		if err := requireOfficial(n.Request); err != nil {
			return nil, err
		}
	}
	n.users = slices.DeleteFunc(n.users, func(u store.User) bool { return u.DeletedAt != nil })
	if len(n.users) < len(ids) {
		return nil, fail.NotFound()
	}
	if err := requireCategories(req.GetCategoryIds(), categories); err != nil {
		return nil, err
	}
	return n, avatar.Err()
}

// row is the community as it is stored.
func (s *Service) row(req *plazav1.CreateCommunityRequest, creator store.User, now time.Time) store.Community {
	public := req.IsPublic == nil || req.GetIsPublic()
	c := store.Community{
		ID: s.NewID(s.Region), DisplayName: req.GetDisplayName(), CreatorID: creator.ID, CreatorPublicID: creator.PublicID,
		Description: req.GetDescription(), AvatarFileID: req.GetAvatarFileId(), IsOfficial: req.GetIsOfficial(), IsPublic: public,
		IsDiscoverable: public, OnlyAdminCanPost: req.GetOnlyAdminCanPost(), PostApproval: req.GetNeedApprovalOnPostCreation(),
		CommentApproval: req.GetNeedApprovalOnCommentCreation(), JoinApproval: req.GetRequiresJoinApproval(),
		StoryComments:    req.AllowCommentInStory == nil || req.GetAllowCommentInStory(),
		NotificationMode: cmp.Or(req.GetNotificationMode(), "default"), Type: cmp.Or(req.GetType(), "default"),
		Tags: unique(req.GetTags()), Metadata: view.ObjectJSON(req.GetMetadata()), CategoryIDs: unique(req.GetCategoryIds()),
		CreatedAt: now, UpdatedAt: now,
	}
	if req.IsDiscoverable != nil {
		c.IsDiscoverable = req.GetIsDiscoverable()
	}
	return c
}

// members are the creator and the first members.
func (n *newcomer) members(c store.Community, now time.Time) []store.MemberChange {
	changes := []store.MemberChange{membership.Join(c.ID, c.CreatorID, c.CreatorPublicID, nil, membership.CreatorRoles(), now)}
	for _, u := range n.users {
		if u.ID != c.CreatorID {
			changes = append(changes, membership.Join(c.ID, u.ID, u.PublicID, nil, membership.MemberRoles(), now))
		}
	}
	return changes
}

// taken is the error for a name that exists, where the request minds.
func (n *newcomer) taken() error {
	if n.request.GetIsUniqueDisplayName() {
		return errNameTaken
	}
	return nil
}
