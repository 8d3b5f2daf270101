package role

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errExists  = fail.AlreadyExists("A role with this id already exists")
	errBuiltin = fail.Forbidden("Built-in roles cannot be changed")
	errTooMany = fail.New(fail.CodeBadRequest,
		fmt.Sprintf("A network can have at most %d custom roles, including deleted ones", network.MaxRoles))
)

// CreateRole creates a custom role. Callers can only grant permissions that they have. An id that is in use is
// 400315; the id of a deleted role can be used again.
func (s *Service) CreateRole(ctx context.Context, req *plazav1.CreateRoleRequest) (*plazav1.RoleResponse, error) {
	return s.update(ctx, change{
		permission: auth.CreateRole, home: decidingHome(req.GetRoleId()), granted: req.GetPermissions(),
		texts: textrules.TextOfList(req.GetRoleId(), req.GetDisplayName()), taken: errExists,
	}, func(rows []network.Role) ([]network.Role, error) {
		role, err := newRole(rows, req, s.Now())
		return []network.Role{role}, err
	})
}

func newRole(rows []network.Role, req *plazav1.CreateRoleRequest, now time.Time) (network.Role, error) {
	role := network.Role{
		ID: req.GetRoleId(), DisplayName: cmp.Or(req.GetDisplayName(), req.GetRoleId()),
		Permissions: service.SortedSet(req.GetPermissions()), CreatedAt: now, UpdatedAt: now,
	}
	_, builtin := auth.RoleByID(role.ID)
	switch {
	case builtin || existing(rows, role.ID) != nil:
		return role, errExists
	case len(rows) >= network.MaxRoles:
		return role, errTooMany
	}
	return role, nil
}

// UpdateRole changes the permissions of a custom role, which takes effect for all users who have it.
func (s *Service) UpdateRole(ctx context.Context, req *plazav1.UpdateRoleRequest) (*plazav1.RoleResponse, error) {
	return s.update(ctx, change{
		permission: auth.EditRole, home: s.Region, granted: req.GetPermissions(), texts: textrules.TextOfFields(req.DisplayName),
	}, func(rows []network.Role) ([]network.Role, error) {
		role, err := custom(rows, req.GetRoleId())
		if req.DisplayName != nil {
			role.DisplayName = cmp.Or(req.GetDisplayName(), role.ID)
		}
		role.Permissions, role.UpdatedAt = service.SortedSet(req.GetPermissions()), s.Now()
		return []network.Role{role}, err
	})
}

// UpdateRoles changes the permissions of several custom roles in one transaction.
func (s *Service) UpdateRoles(ctx context.Context, req *plazav1.UpdateRolesRequest) (*plazav1.RoleResponse, error) {
	return s.update(ctx, change{
		permission: auth.EditRole, home: s.Region, granted: req.GetPermissions(),
	}, func(rows []network.Role) ([]network.Role, error) {
		var roles []network.Role
		for _, id := range service.SortedSet(req.GetPublicIds()) {
			role, err := custom(rows, id)
			if err != nil {
				return nil, err
			}
			role.Permissions, role.UpdatedAt = service.SortedSet(req.GetPermissions()), s.Now()
			roles = append(roles, role)
		}
		return roles, nil
	})
}

// DeleteRole deletes a custom role. Users who have it keep its id, which no longer grants anything.
func (s *Service) DeleteRole(ctx context.Context, req *plazav1.DeleteRoleRequest) (*plazav1.RoleResponse, error) {
	return s.update(ctx, change{permission: auth.DeleteRole, home: decidingHome(req.GetRoleId())},
		func(rows []network.Role) ([]network.Role, error) {
			role, err := custom(rows, req.GetRoleId())
			now := s.Now()
			role.UpdatedAt, role.DeletedAt = now, &now
			return []network.Role{role}, err
		})
}

// custom returns the custom role with the id.
func custom(rows []network.Role, id string) (network.Role, error) {
	if _, builtin := auth.RoleByID(id); builtin {
		return network.Role{}, errBuiltin
	}
	row := existing(rows, id)
	if row == nil {
		return network.Role{}, fail.NotFound()
	}
	return *row, nil
}

// change is a change of roles.
type change struct {
	permission auth.Permission // that it requires
	granted    []string        // permissions of the roles, which the caller must have as well
	texts      textrules.UserText
	home       region.Code // where it is stored first
	taken      error       // if the home already has a role with the id; nil if it must have one
}

// decidingHome returns the home that decides whether a role id is in use. Creations and deletions are stored there first,
// so that of two regions that create a role with the same id at the same time one succeeds.
func decidingHome(id string) region.Code {
	hash, all := sha256.Sum256([]byte(id)), region.All()
	return all[int(hash[0])%len(all)]
}

// update stores the roles that decide returns at the home of the change and sends them to the others.
func (s *Service) update(
	ctx context.Context, c change, decide func([]network.Role) ([]network.Role, error),
) (*plazav1.RoleResponse, error) {
	var rows []network.Role
	r := s.NewPrivilegedRequest(ctx, c.permission)
	r.Roles(s.Region, &rows)
	r.Check(func() error { return requireGrant(r.Caller, c.granted) })
	textrules.Require(r, s.Region, c.texts)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	changed, err := decide(rows)
	if err != nil {
		return nil, err
	}
	for i := range changed {
		changed[i].ChangedAt, changed[i].Origin = s.clock(), string(s.Region)
	}
	if err := s.store(ctx, changed, c); err != nil {
		return nil, err
	}
	roles := service.Map(changed, s.View.CustomRole)
	return &plazav1.RoleResponse{Status: "success", Data: roles, Roles: roles}, nil
}

// requireGrant returns an error unless the caller has all of the permissions. Otherwise callers who can change roles
// could grant themselves any permission.
func requireGrant(caller *auth.Caller, permissions []string) error {
	for _, p := range permissions {
		if !auth.Permission(p).Known() {
			return fail.Validation("permissions: unknown permission " + p)
		}
		if err := auth.Require(caller, auth.Permission(p), auth.Scope{}); err != nil {
			return err
		}
	}
	return nil
}

// message is the payload of an outbox row.
type message struct {
	Home region.Code  `json:"home"`
	Role network.Role `json:"role"`
}

func (s *Service) store(ctx context.Context, roles []network.Role, c change) error {
	tx := s.Store.NewTx(c.home)
	var outboxRows []core.OutboxRow
	for _, role := range roles {
		if c.taken != nil {
			tx.GuardRoleIDFree(role.ID, c.taken)
		}
		tx.UpsertRole(role)
		outboxRows = append(outboxRows, s.EmitToOtherHomes(tx, topic, func(home region.Code) any { return message{Home: home, Role: role} })...)
	}
	if err := s.Commit(ctx, tx, outboxRows...); err != nil {
		return err
	}
	if err := s.refresh(ctx); err != nil {
		s.Log.WarnContext(ctx, "roles not read after a change", "error", err) // the change is stored, and the job retries
	}
	return nil
}

func (s *Service) apply(ctx context.Context, m message) error {
	tx := s.Store.NewTx(m.Home)
	tx.UpsertRole(m.Role)
	return tx.Commit(ctx)
}
