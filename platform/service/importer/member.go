package importer

import (
	"context"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
)

// memberKind imports the members of communities, and the users who are banned from them.
var memberKind = kind{
	name: "member", fields: []string{"communityId", "role"}, community: "data.communityId",
	parse: (*Importer).parseMember, check: (*Importer).checkMembers, insert: (*Importer).insertMembers,
}

// The roles of lines.
const (
	roleMember    = "member"
	roleModerator = "moderator"
	roleBanned    = "banned"
)

func (*Importer) parseMember(r *row) (err error) {
	if r.communityID, err = value[string](r, "communityId", "a string"); err != nil {
		return err
	}
	if candidates(r.communityID) == nil {
		return errors.New("data.communityId: must be " + idForm)
	}
	return r.takeRole()
}

func (r *row) takeRole() (err error) {
	if r.role, err = value[string](r, "role", "a string"); err != nil {
		return err
	}
	switch r.role {
	case "", roleMember, roleModerator, roleBanned:
		return nil
	}
	return errors.New("data.role: must be member, moderator or banned")
}

// checkMembers finds which memberships exist.
func (i *Importer) checkMembers(ctx context.Context, rows []*row) error {
	found, places := map[string]*[]communities.Member{}, byPlace(rows)
	reads := i.Store.NewReadBatch()
	for id, in := range places {
		found[id] = new([]communities.Member)
		reads.Members(id, service.Map(in, (*row).internalUserID), found[id])
	}
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for id, in := range places {
		for _, r := range in {
			r.present = slices.ContainsFunc(*found[id], func(m communities.Member) bool { return m.UserID == r.user.ID })
		}
	}
	return nil
}

func (r *row) internalUserID() string { return r.user.ID }

func (i *Importer) insertMembers(tx *store.Tx, communityID string, rows []*row) {
	i.changeMembers(tx, communityID, service.Map(rows, (*row).memberChange))
}

func (r *row) memberChange() communities.MemberChange {
	id, u := r.community.ID, r.user
	switch r.role {
	case roleBanned:
		return membership.Ban(id, u.ID, u.PublicID, nil, r.createdAt)
	case roleModerator:
		return membership.Join(id, u.ID, u.PublicID, nil, membership.CreatorRoles(), r.createdAt)
	}
	return membership.Join(id, u.ID, u.PublicID, nil, membership.MemberRoles(), r.createdAt)
}
