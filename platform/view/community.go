package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// CommunityPath is where a community's realtime events are told.
func (b *Builder) CommunityPath(id string) string { return b.TargetPath("community", id) }

// Community makes the message of a community; mine is the caller's membership, nil where there is none.
func (b *Builder) Community(c store.Community, counts store.Counts, mine *store.Member) *plazav1.Community {
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
		PostsCount:                    count(counts.Of(c.ID, store.CountPublished)),
		MembersCount:                  count(counts.Of(c.ID, store.CountMembers)),
		IsJoined:                      mine.IsMember(),
		CategoryIds:                   c.CategoryIDs,
		IsDeleted:                     c.DeletedAt != nil,
		CreatedAt:                     ts(c.CreatedAt),
		UpdatedAt:                     ts(c.UpdatedAt),
		HasFlaggedComment:             c.HasFlaggedComment,
		HasFlaggedPost:                c.HasFlaggedPost,
		NeedApprovalOnPostCreation:    c.PostApproval,
		NeedApprovalOnCommentCreation: c.CommentApproval,
		ModeratorMemberCount:          count(counts.Of(c.ID, store.CountModerators)),
		AllowCommentInStory:           c.StoryComments,
		IsDiscoverable:                c.IsDiscoverable,
		RequiresJoinApproval:          c.JoinApproval,
		NotificationMode:              c.NotificationMode,
		Type:                          c.Type,
	}
}

// CommunityAnswer is what an operation on communities has read, and what its answer is about.
type CommunityAnswer struct {
	// Communities in the order of the answer, each once.
	Communities []store.Community
	// Viewer is the caller; nil for an administrator.
	Viewer *store.User
	// Members are memberships that are known: of the concerned users, in the order of the answer, and of the viewer. The
	// viewer's in other communities are read.
	Members []store.Member
	// OnlyMembers keeps the viewer's memberships out of the answer where they are not among Members: lists of members hold
	// their page and nothing else.
	OnlyMembers bool
	// Users are rows that are known. Only those that the answer refers to appear in it.
	Users []store.User
}

// communityGathering is one answer about communities under way.
type communityGathering struct {
	CommunityAnswer
	builder    *Builder
	mine       []store.Member
	categories []store.Category
	counts     store.Counts
}

// Communities reads, in one round trip to each home concerned, what communities refer to, and builds the answer. Each
// community comes with the viewer's membership, which has the state `none` where there is no row.
func (b *Builder) Communities(ctx context.Context, st *store.Store, a CommunityAnswer) (*plazav1.CommunityResponse, error) {
	g := &communityGathering{CommunityAnswer: a, builder: b, counts: store.Counts{}}
	reads := st.Related()
	g.readUsers(reads)
	g.readMine(reads)
	g.readFacts(reads)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	answer := g.build()
	var err error
	answer.Files, err = b.filesOf(ctx, st, noFilesAtHand(), each(answer.GetCommunities()), each(answer.GetUsers()), each(answer.GetCategories()))
	return answer, err
}

// wantedUsers are the creators and the concerned users.
func (g *communityGathering) wantedUsers() *set {
	wanted := newSet()
	for _, c := range g.Communities {
		wanted.add(c.CreatorID)
	}
	for _, m := range g.Members {
		wanted.add(m.UserID)
	}
	return wanted
}

func (g *communityGathering) readUsers(reads *store.Reads) {
	if g.Viewer != nil {
		g.Users = append(slices.Clip(g.Users), *g.Viewer)
	}
	wanted := g.wantedUsers()
	for _, u := range g.Users {
		wanted.remove(u.ID)
	}
	if ids := wanted.list(); len(ids) > 0 {
		var read []store.User
		reads.Users(ids, &read)
		reads.Then(func() { g.Users = append(g.Users, read...) })
	}
}

// readMine reads the viewer's memberships that are not among the known ones.
func (g *communityGathering) readMine(reads *store.Reads) {
	if g.Viewer == nil {
		return
	}
	wanted := newSet()
	for _, c := range g.Communities {
		wanted.add(c.ID)
	}
	for _, m := range g.Members {
		if m.UserID == g.Viewer.ID {
			wanted.remove(m.CommunityID)
		}
	}
	if ids := wanted.list(); len(ids) > 0 {
		reads.Memberships(g.Viewer.ID, ids, &g.mine)
	}
}

// readFacts reads the categories and the counts.
func (g *communityGathering) readFacts(reads *store.Reads) {
	categories, homes := newSet(), map[region.Code][]string{}
	for _, c := range g.Communities {
		categories.add(c.CategoryIDs...)
		if home, err := region.HomeOf(c.ID); err == nil {
			homes[home] = append(homes[home], c.ID)
		}
	}
	if ids := categories.list(); len(ids) > 0 {
		reads.Categories(ids, &g.categories)
	}
	for home, ids := range homes {
		reads.Counts(home, ids, g.counts)
	}
}

func (g *communityGathering) build() *plazav1.CommunityResponse {
	answer := &plazav1.CommunityResponse{Users: g.users()}
	var shown []store.Member
	for _, c := range g.Communities {
		mine := g.membership(c.ID)
		answer.Communities = append(answer.Communities, g.builder.Community(c, g.counts, mine))
		answer.Feeds = append(answer.Feeds, g.builder.Feeds(c, g.counts)...)
		if mine != nil && !g.OnlyMembers {
			shown = append(shown, *mine)
		}
	}
	answer.CommunityUsers = g.communityUsers(append(shown, g.Members...))
	for _, c := range g.categories {
		answer.Categories = append(answer.Categories, g.builder.Category(c))
	}
	return answer
}

func (g *communityGathering) communityUsers(members []store.Member) []*plazav1.CommunityUser {
	seen := newSet()
	var out []*plazav1.CommunityUser
	for _, m := range members {
		if key := m.CommunityID + m.UserID; !seen.has[key] {
			seen.add(key)
			out = append(out, g.builder.CommunityUser(m))
		}
	}
	return out
}

// membership is the viewer's in a community; nil for an administrator.
func (g *communityGathering) membership(communityID string) *store.Member {
	if g.Viewer == nil {
		return nil
	}
	for _, list := range [][]store.Member{g.Members, g.mine} {
		for i := range list {
			if list[i].CommunityID == communityID && list[i].UserID == g.Viewer.ID {
				return &list[i]
			}
		}
	}
	return &store.Member{CommunityID: communityID, UserID: g.Viewer.ID, UserPublicID: g.Viewer.PublicID}
}

func (g *communityGathering) users() []*plazav1.User {
	wanted := g.wantedUsers()
	if g.Viewer != nil && !g.OnlyMembers { // its membership is in the answer
		wanted.add(g.Viewer.ID)
	}
	var rows []store.User
	for _, u := range g.Users {
		if wanted.has[u.ID] {
			rows = append(rows, u)
		}
	}
	store.SortUsers(rows, wanted.list())
	return g.builder.Users(rows)
}

// CommunityPage is an answer about communities with its page.
func CommunityPage(a *plazav1.CommunityResponse, paging *plazav1.Paging) *plazav1.ListCommunitiesResponse {
	return &plazav1.ListCommunitiesResponse{
		Communities: a.GetCommunities(), CommunityUsers: a.GetCommunityUsers(), Files: a.GetFiles(), Users: a.GetUsers(),
		Categories: a.GetCategories(), Feeds: a.GetFeeds(), Paging: paging,
	}
}

// MemberPage is a page of the members of a community.
func MemberPage(a *plazav1.CommunityResponse, paging *plazav1.Paging) *plazav1.ListMembersResponse {
	return &plazav1.ListMembersResponse{
		Communities: a.GetCommunities(), CommunityUsers: a.GetCommunityUsers(), Files: a.GetFiles(), Users: a.GetUsers(),
		Categories: a.GetCategories(), Feeds: a.GetFeeds(), Paging: paging,
	}
}
