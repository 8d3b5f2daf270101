package importer

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// communities are the communities with their creators as first members.
var communities = kind{
	name: "community", hasID: true, hasRegion: true, hasUpdate: true,
	fields: []string{
		"displayName", "description", "isPublic", "isOfficial", "isDiscoverable", "requiresJoinApproval", "needApprovalOnPostCreation",
		"needApprovalOnCommentCreation", "onlyAdminCanPost", "allowCommentInStory", "notificationMode", "tags", "metadata",
	},
	parse: (*Importer).parseCommunity, check: (*Importer).checkCommunities, write: (*Importer).writeCommunities,
}

func (i *Importer) parseCommunity(r *row) (err error) {
	if r.internal, err = idAt(r.home, r.id); err != nil {
		return err
	}
	return r.decode(i, &plazav1.CreateCommunityRequest{})
}

// checkCommunities finds the communities that exist, at any home: an import may be repeated with another default.
func (i *Importer) checkCommunities(ctx context.Context, rows []*row) error {
	var found []store.Community
	reads := i.Store.NewReadBatch()
	reads.Communities(internalIDs(rows), &found)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if err := i.takeUsers(ctx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		may := candidates(r.id)
		r.present = slices.ContainsFunc(found, func(c store.Community) bool { return slices.Contains(may, c.ID) })
		r.keep()
	}
	return nil
}

func (i *Importer) writeCommunities(ctx context.Context, rows []*row) error {
	txs := i.newTxs()
	for _, r := range rows {
		if r.present {
			continue
		}
		m, _ := r.request.(*plazav1.CreateCommunityRequest)
		c := membership.NewCommunity(r.internal, m, r.user, r.createdAt)
		c.UpdatedAt = r.updatedAt
		tx, err := txs.at(c.ID)
		if err != nil {
			return err
		}
		tx.InsertCommunity(c, nil, r.createdAt)
		first := membership.Join(c.ID, r.user.ID, r.user.PublicID, nil, membership.CreatorRoles(), r.createdAt)
		i.changeMembers(tx, c.ID, []store.MemberChange{first})
	}
	return txs.commit(ctx)
}

// changeMembers adds members of a community. The servers deliver the outbox rows that mirror them in other homes.
func (i *Importer) changeMembers(tx *store.Tx, communityID string, changes []store.MemberChange) {
	tx.ChangeMembers(communityID, changes, i.Now(), i.Now())
}

// communityIDs returns the internal ids of the communities of rows, each once.
func communityIDs(rows []*row) []string {
	var ids []string
	for _, r := range rows {
		if r.community != nil {
			ids = append(ids, r.community.ID)
		}
	}
	return service.SortedSet(ids)
}
