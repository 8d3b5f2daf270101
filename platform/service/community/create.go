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
func (s *Service) CreateCommunity(ctx context.Context, req *plazav1.CreateCommunityRequest) (*plazav1.CommunityResponse, error) {
	n, err := s.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	c := s.row(req, *n.User(), now)
	changes := n.members(c, now)
	w := s.Store.NewTx(s.Region)
	w.InsertCommunity(c, n.taken(), now)
	mirrors := w.ChangeMembers(c.ID, changes, now, now.Add(events.Grace))
	told := events.EmitMembersAdded(w, c.ID, c.CreatorID, c.CreatorID, changes, mirrors, now)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.Deliver(ctx, s.Region, mirrors...)
	s.Outbox.DeliverSoon(ctx, s.Region, told...)
	answer := view.CommunityRows{Communities: []store.Community{c}, Viewer: n.User(), Users: n.users}
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
func (s *Service) prepare(ctx context.Context, m *plazav1.CreateCommunityRequest) (*newcomer, error) {
	found, err := s.Directory.Resolve(ctx, m.GetUserIds()...)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, publicID := range m.GetUserIds() {
		ids = append(ids, found[publicID])
	}
	ids = unique(ids)
	n := &newcomer{Request: s.NewRequest(ctx), request: m}
	var categories []store.Category
	n.Users(ids, &n.users)
	n.Categories(m.GetCategoryIds(), &categories)
	avatar := fileref.Read(n.ReadBatch, fileref.Avatar(&m.AvatarFileId))
	if err := n.Run(ctx); err != nil {
		return nil, err
	}
	if err := n.RequireUser(); err != nil {
		return nil, err
	}
	if m.GetIsOfficial() {
		if err := requireOfficial(n.Request); err != nil {
			return nil, err
		}
	}
	n.users = slices.DeleteFunc(n.users, func(u store.User) bool { return u.DeletedAt != nil })
	if len(n.users) < len(ids) {
		return nil, fail.NotFound()
	}
	if err := requireCategories(m.GetCategoryIds(), categories); err != nil {
		return nil, err
	}
	return n, avatar.Err()
}

// row is the community as it is stored.
func (s *Service) row(m *plazav1.CreateCommunityRequest, creator store.User, now time.Time) store.Community {
	public := m.IsPublic == nil || m.GetIsPublic()
	c := store.Community{
		ID: s.NewID(s.Region), DisplayName: m.GetDisplayName(), CreatorID: creator.ID, CreatorPublicID: creator.PublicID,
		Description: m.GetDescription(), AvatarFileID: m.GetAvatarFileId(), IsOfficial: m.GetIsOfficial(), IsPublic: public,
		IsDiscoverable: public, OnlyAdminCanPost: m.GetOnlyAdminCanPost(), PostApproval: m.GetNeedApprovalOnPostCreation(),
		CommentApproval: m.GetNeedApprovalOnCommentCreation(), JoinApproval: m.GetRequiresJoinApproval(),
		StoryComments:    m.AllowCommentInStory == nil || m.GetAllowCommentInStory(),
		NotificationMode: cmp.Or(m.GetNotificationMode(), "default"), Type: cmp.Or(m.GetType(), "default"),
		Tags: unique(m.GetTags()), Metadata: view.ObjectJSON(m.GetMetadata()), CategoryIDs: unique(m.GetCategoryIds()),
		CreatedAt: now, UpdatedAt: now,
	}
	if m.IsDiscoverable != nil {
		c.IsDiscoverable = m.GetIsDiscoverable()
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
