package importer

import (
	"context"

	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// communityKind imports the communities with their creators as first members.
var communityKind = kind{
	name: "community", hasID: true, hasRegion: true, hasUpdate: true,
	fields: []string{
		"displayName", "description", "isPublic", "isOfficial", "isDiscoverable", "requiresJoinApproval", "needApprovalOnPostCreation",
		"needApprovalOnCommentCreation", "onlyAdminCanPost", "allowCommentInStory", "notificationMode", "tags", "metadata",
	},
	parse: (*Importer).parseCommunity, check: (*Importer).checkCommunities, insert: (*Importer).insertCommunities,
}

func (i *Importer) parseCommunity(r *row) (err error) {
	if r.internal, err = idAt(r.home, r.id); err != nil {
		return err
	}
	return r.decode(i, &plazav1.CreateCommunityRequest{})
}

// checkCommunities finds the communities that exist, at any home: an import may be repeated with another default.
func (i *Importer) checkCommunities(ctx context.Context, rows []*row) error {
	return markExisting(ctx, i, rows, (*store.ReadBatch).Communities, func(c communities.Community) string { return c.ID })
}

func (i *Importer) insertCommunities(tx *store.Tx, _ string, rows []*row) {
	for _, r := range rows {
		m, _ := r.request.(*plazav1.CreateCommunityRequest)
		c := membership.NewCommunity(r.internal, m, r.user, r.createdAt)
		c.UpdatedAt = r.updatedAt
		tx.InsertCommunity(c, nil, r.createdAt)
		first := membership.Join(c.ID, r.user.ID, r.user.PublicID, nil, membership.CreatorRoles(), r.createdAt)
		i.changeMembers(tx, c.ID, []communities.MemberChange{first})
	}
}

// changeMembers adds members of a community. The servers deliver the outbox rows that mirror them in other homes.
func (i *Importer) changeMembers(tx *store.Tx, communityID string, changes []communities.MemberChange) {
	tx.ChangeMembers(communityID, changes, i.Now(), i.Now())
}
