package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// CommunityPath returns a community's path.
func (b *Builder) CommunityPath(id string) string { return b.TargetPath("community", id) }

// Community converts a community. mine is the caller's membership and may be nil.
func (b *Builder) Community(c communities.Community, counts core.Counts, mine *communities.Member) *plazav1.Community {
	return &plazav1.Community{
		CommunityId:                   c.ID,
		ChannelId:                     c.ID,
		DisplayName:                   c.DisplayName,
		PrivateId:                     c.ID,
		Path:                          b.CommunityPath(c.ID),
		UserId:                        c.CreatorPublicID,
		UserPublicId:                  c.CreatorPublicID,
		UserInternalId:                c.CreatorID,
		AvatarFileId:                  c.AvatarFileID,
		Description:                   c.Description,
		IsOfficial:                    c.IsOfficial,
		IsPublic:                      c.IsPublic,
		OnlyAdminCanPost:              c.OnlyAdminCanPost,
		Tags:                          c.Tags,
		Metadata:                      object(c.Metadata),
		PostsCount:                    count(counts.Of(c.ID, core.CountPublished)),
		MembersCount:                  count(counts.Of(c.ID, core.CountMembers)),
		IsJoined:                      mine.IsMember(),
		CategoryIds:                   c.CategoryIDs,
		IsDeleted:                     c.DeletedAt != nil,
		CreatedAt:                     ts(c.CreatedAt),
		UpdatedAt:                     ts(c.UpdatedAt),
		HasFlaggedComment:             c.HasFlaggedComment,
		HasFlaggedPost:                c.HasFlaggedPost,
		NeedApprovalOnPostCreation:    c.PostApproval,
		NeedApprovalOnCommentCreation: c.CommentApproval,
		ModeratorMemberCount:          count(counts.Of(c.ID, core.CountModerators)),
		AllowCommentInStory:           c.StoryComments,
		IsDiscoverable:                c.IsDiscoverable,
		RequiresJoinApproval:          c.JoinApproval,
		NotificationMode:              c.NotificationMode,
		Type:                          c.Type,
	}
}

// CommunityRows are the rows that an operation on communities has read.
type CommunityRows struct {
	// Communities are the primary rows, unique, in the order of the response.
	Communities []communities.Community
	// Viewer is the caller; nil for administrators.
	Viewer *people.User
	// Members are known memberships: those of the users that the response is about, in its order, and those of the
	// viewer. The viewer's memberships in the other communities are read.
	Members []communities.Member
	// OnlyMembers leaves out memberships of the viewer that are not in Members, as lists of members do.
	OnlyMembers bool
	// Users are known users. The response contains only those that it refers to.
	Users []people.User
}

// communityLoader builds one response about communities.
type communityLoader struct {
	CommunityRows
	builder    *Builder
	mine       []communities.Member
	categories []communities.Category
	counts     core.Counts
	viewer     *viewer
}

// LoadCommunities reads the rows that communities refer to, in one round trip to each home concerned, and converts all
// of them. Each community comes with the viewer's membership, which is `none` if there is no row.
func (b *Builder) LoadCommunities(ctx context.Context, st *store.Store, rows CommunityRows) (*plazav1.CommunityResponse, error) {
	l := &communityLoader{CommunityRows: rows, builder: b, counts: core.Counts{}, viewer: viewerOf(ctx)}
	if l.Viewer != nil {
		l.Users = append(slices.Clip(l.Users), *l.Viewer)
	}
	batch := st.NewBestEffortBatch()
	readMissingUsers(batch, l.wantedUsers(), &l.Users)
	l.readMine(batch)
	l.readCategories(batch)
	batch.CountsOf(l.ids(), l.counts)
	if err := batch.Run(ctx); err != nil {
		return nil, err
	}
	a := l.build(ctx)
	return a, b.FillFiles(ctx, st, a)
}

func (l *communityLoader) ids() []string {
	return mapList(l.Communities, func(c communities.Community) string { return c.ID })
}

// wantedUsers returns the creators, the users of the memberships and, if the response has their membership, the viewer.
func (l *communityLoader) wantedUsers() *idSet {
	wanted := newIDSet()
	for _, c := range l.Communities {
		wanted.add(c.CreatorID)
	}
	for _, m := range l.Members {
		wanted.add(m.UserID)
	}
	if l.Viewer != nil && !l.OnlyMembers {
		wanted.add(l.Viewer.ID)
	}
	return wanted
}

// readMine reads the viewer's memberships that are not known.
func (l *communityLoader) readMine(batch *store.ReadBatch) {
	if l.Viewer == nil {
		return
	}
	wanted := newIDSet(l.ids()...)
	for _, m := range l.Members {
		if m.UserID == l.Viewer.ID {
			wanted.exclude(m.CommunityID)
		}
	}
	batch.Memberships(l.Viewer.ID, wanted.list(), &l.mine)
}

func (l *communityLoader) readCategories(batch *store.ReadBatch) {
	wanted := newIDSet()
	for _, c := range l.Communities {
		wanted.add(c.CategoryIDs...)
	}
	batch.Categories(wanted.list(), &l.categories)
}

func (l *communityLoader) build(ctx context.Context) *plazav1.CommunityResponse {
	a := &plazav1.CommunityResponse{
		Users: l.builder.usersIn(ctx, l.wantedUsers(), l.Users), Categories: mapList(l.categories, l.builder.Category),
	}
	l.viewer.members = slices.Concat(l.Members, l.mine)
	var members []communities.Member
	for _, c := range l.Communities {
		mine := l.membership(c.ID)
		reviews := l.viewer.community(&c)
		a.Communities = append(a.Communities, l.builder.Community(c, l.counts, mine))
		a.Feeds = append(a.Feeds, l.builder.feeds(c, l.counts, reviews)...)
		if mine != nil && !l.OnlyMembers {
			members = append(members, *mine)
		}
	}
	a.CommunityUsers = l.builder.CommunityUsers(append(members, l.Members...))
	return a
}

// membership returns the viewer's membership in a community; nil for administrators.
func (l *communityLoader) membership(communityID string) *communities.Member {
	if l.Viewer == nil {
		return nil
	}
	for _, list := range [][]communities.Member{l.Members, l.mine} {
		if m := find(list, func(m *communities.Member) bool { return m.CommunityID == communityID && m.UserID == l.Viewer.ID }); m != nil {
			return m
		}
	}
	return &communities.Member{CommunityID: communityID, UserID: l.Viewer.ID, UserPublicID: l.Viewer.PublicID}
}

// belonging returns the memberships of members and banned users. Lists of communities leave out others, because clients
// that show the communities that a user has not joined skip those with a membership.
func belonging(users []*plazav1.CommunityUser) []*plazav1.CommunityUser {
	return slices.DeleteFunc(slices.Clone(users), func(u *plazav1.CommunityUser) bool { return u.GetCommunityMembership() == membershipNone })
}

// CommunityPage returns a response about communities with paging.
func CommunityPage(a *plazav1.CommunityResponse, paging *plazav1.Paging) *plazav1.ListCommunitiesResponse {
	return Fill(a, &plazav1.ListCommunitiesResponse{CommunityUsers: belonging(a.GetCommunityUsers()), Paging: paging})
}
