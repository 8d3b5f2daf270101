package importer

import (
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
)

// members are the members of communities, and the users who are banned from them.
var members = kind{
	name: "member", fields: []string{"communityId", "role"},
	parse: (*Importer).parseMember, check: (*Importer).checkMembers, write: (*Importer).writeMembers,
}

// The roles of lines.
const (
	roleMember    = "member"
	roleModerator = "moderator"
	roleBanned    = "banned"
)

func (*Importer) parseMember(r *row) (err error) {
	if r.communityID, err = r.text("communityId"); err != nil {
		return err
	}
	if candidates(r.communityID) == nil {
		return errors.New("data.communityId: must be " + idForm)
	}
	return r.takeRole()
}

func (r *row) takeRole() (err error) {
	if r.role, err = r.text("role"); err != nil {
		return err
	}
	switch r.role {
	case "", roleMember, roleModerator, roleBanned:
		return nil
	}
	return errors.New("data.role: must be member, moderator or banned")
}

// checkMembers finds the users and the communities, and which memberships exist.
func (i *Importer) checkMembers(ctx context.Context, rows []*row) error {
	if err := i.takeUsers(ctx, rows); err != nil {
		return err
	}
	if err := i.takeCommunities(ctx, rows, func(r *row) string { return r.communityID }, "data.communityId"); err != nil {
		return err
	}
	ids := communityIDs(rows)
	found := make([][]store.Member, len(ids))
	reads := i.Store.NewReadBatch()
	for n, id := range ids {
		reads.Members(id, usersOf(rows, id), &found[n])
	}
	if err := reads.Run(ctx); err != nil {
		return err
	}
	exists := map[[2]string]bool{}
	for _, list := range found {
		for _, m := range list {
			exists[[2]string{m.CommunityID, m.UserID}] = true
		}
	}
	for _, r := range rows {
		r.present = r.community != nil && exists[[2]string{r.community.ID, r.user.ID}]
	}
	return nil
}

// usersOf returns the internal ids of the users of those rows that are about a community.
func usersOf(rows []*row, communityID string) []string {
	var ids []string
	for _, r := range rows {
		if r.err == nil && r.community.ID == communityID {
			ids = append(ids, r.user.ID)
		}
	}
	return ids
}

func (i *Importer) writeMembers(ctx context.Context, rows []*row) error {
	txs := i.newTxs()
	for _, id := range communityIDs(rows) {
		tx, err := txs.at(id)
		if err != nil {
			return err
		}
		added := service.Map(newOf(rows, id), (*row).memberChange)
		i.changeMembers(tx, id, added)
	}
	return txs.commit(ctx)
}

// newOf returns those rows about a community that do not exist.
func newOf(rows []*row, communityID string) []*row {
	var missing []*row
	for _, r := range rows {
		if !r.present && r.community.ID == communityID {
			missing = append(missing, r)
		}
	}
	return missing
}

func (r *row) memberChange() store.MemberChange {
	id, u := r.community.ID, r.user
	switch r.role {
	case roleBanned:
		return membership.Ban(id, u.ID, u.PublicID, nil, r.createdAt)
	case roleModerator:
		return membership.Join(id, u.ID, u.PublicID, nil, membership.CreatorRoles(), r.createdAt)
	}
	return membership.Join(id, u.ID, u.PublicID, nil, membership.MemberRoles(), r.createdAt)
}
