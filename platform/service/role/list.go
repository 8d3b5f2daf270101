package role

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListRoles lists the roles whose id or name contains the keyword. All built-in roles have the same time of creation,
// before all custom ones. An order by time therefore orders them by rank.
func (s *Service) ListRoles(ctx context.Context, req *plazav1.ListRolesRequest) (*plazav1.ListRolesResponse, error) {
	cursor, err := page.Parse(req.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	rows, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	found := s.matching(rows, req)
	order := orderOf(req.GetSortBy())
	slices.SortFunc(found, order)
	if cursor.Back {
		slices.Reverse(found)
	}
	if !cursor.First() {
		from := listed{at: cursor.Time, key: cursor.Key, id: cursor.ID}
		found = slices.DeleteFunc(found, func(l listed) bool { return (order(l, from) < 0) != cursor.Back || order(l, from) == 0 })
	}
	found, paging := page.Window(cursor, found[:min(len(found), cursor.Limit+1)],
		func(l listed) (time.Time, string, string) { return l.at, l.key, l.id })
	roles := service.Map(found, func(l listed) *plazav1.Role { return l.role })
	return &plazav1.ListRolesResponse{Status: "success", Data: roles, Roles: roles, Paging: paging}, nil
}

// ListAllRoles returns the built-in roles and the custom ones that are not deleted, of which there are at most
// store.MaxRoles.
func (s *Service) ListAllRoles(ctx context.Context, _ *plazav1.ListAllRolesRequest) (*plazav1.ListAllRolesResponse, error) {
	rows, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	return &plazav1.ListAllRolesResponse{Status: "success", Data: &plazav1.RolesData{Roles: s.all(rows)}}, nil
}

// all returns the built-in roles, by rank, and the custom ones that are not deleted.
func (s *Service) all(rows []network.Role) []*plazav1.Role {
	roles := service.Map(auth.Builtin(), s.View.Role)
	for _, row := range rows {
		if row.DeletedAt == nil {
			roles = append(roles, s.View.CustomRole(row))
		}
	}
	return roles
}

// listed is a role with its sort key.
type listed struct {
	role *plazav1.Role
	at   time.Time
	key  string // the start of the name in lists by name, otherwise the rank of a built-in role
	id   string // derived from the role id, because page tokens need ids of a fixed form
}

// matching returns the roles that match a request, in no defined order.
func (s *Service) matching(rows []network.Role, req *plazav1.ListRolesRequest) []listed {
	var found []listed
	keyword := strings.ToLower(req.GetKeyword())
	for i, r := range s.all(rows) {
		if !strings.Contains(strings.ToLower(r.GetRoleId()), keyword) && !strings.Contains(strings.ToLower(r.GetDisplayName()), keyword) {
			continue
		}
		l := listed{role: r, at: r.GetCreatedAt().AsTime(), id: tokenID(r.GetRoleId())}
		switch {
		case req.GetSortBy() == byName:
			l.key = core.NameKey(r.GetDisplayName(), core.PublicNameKeyRunes)
		case i < len(auth.Builtin()):
			l.key = fmt.Sprintf("%02d", i)
		}
		found = append(found, l)
	}
	return found
}

// tokenID returns an id of the form that page tokens need.
func tokenID(roleID string) string {
	sum := sha256.Sum256([]byte(roleID))
	return "01" + hex.EncodeToString(sum[:11])
}

const byName = "displayName"

// orderOf returns the function that compares roles in a list.
func orderOf(sortBy string) func(a, b listed) int {
	rank := func(a, b listed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) }
	switch sortBy {
	case byName:
		return rank
	case "firstCreated":
		return func(a, b listed) int { return cmp.Or(a.at.Compare(b.at), -rank(a, b)) }
	}
	return func(a, b listed) int { return cmp.Or(b.at.Compare(a.at), rank(a, b)) }
}
