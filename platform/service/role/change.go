package role

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errTaken   = fail.AlreadyExists("A role of that id exists already")
	errBuiltin = fail.Forbidden("Built-in roles stay as they are")
	errMany    = fail.New(fail.CodeBadRequest, fmt.Sprintf("A network has at most %d roles of its own, with those that were deleted", store.MaxRoles))
)

// CreateRole makes a network role. Nobody gives a role what they do not hold themselves. An id that a role has is 400315; one of a role that was deleted can be taken again.
func (s *Service) CreateRole(ctx context.Context, req *plazav1.CreateRoleRequest) (*answer, error) {
	return s.change(ctx, auth.CreateRole, req.GetPermissions(), func(rows []store.Role) (store.Role, error) {
		now := s.Now()
		made := store.Role{
			ID: req.GetRoleId(), DisplayName: cmp.Or(req.GetDisplayName(), req.GetRoleId()), Permissions: distinct(req.GetPermissions()), CreatedAt: now, UpdatedAt: now,
		}
		_, builtin := auth.RoleByID(made.ID)
		switch {
		case builtin || live(rows, made.ID) != nil:
			return made, errTaken
		case len(rows) >= store.MaxRoles:
			return made, errMany
		}
		return made, nil
	})
}

// UpdateRole changes what a role grants, for everybody who holds it.
func (s *Service) UpdateRole(ctx context.Context, req *plazav1.UpdateRoleRequest) (*answer, error) {
	return s.change(ctx, auth.EditRole, req.GetPermissions(), func(rows []store.Role) (store.Role, error) {
		made, err := own(rows, req.GetRoleId())
		if req.DisplayName != nil {
			made.DisplayName = cmp.Or(req.GetDisplayName(), made.ID)
		}
		made.Permissions, made.UpdatedAt = distinct(req.GetPermissions()), s.Now()
		return made, err
	})
}

// DeleteRole takes a role away. Users who hold it keep its name, which grants nothing any more.
func (s *Service) DeleteRole(ctx context.Context, req *plazav1.DeleteRoleRequest) (*answer, error) {
	return s.change(ctx, auth.DeleteRole, nil, func(rows []store.Role) (store.Role, error) {
		made, err := own(rows, req.GetRoleId())
		now := s.Now()
		made.UpdatedAt, made.DeletedAt = now, &now
		return made, err
	})
}

// own finds a role that can be changed.
func own(rows []store.Role, id string) (store.Role, error) {
	if _, builtin := auth.RoleByID(id); builtin {
		return store.Role{}, errBuiltin
	}
	row := live(rows, id)
	if row == nil {
		return store.Role{}, fail.NotFound()
	}
	return *row, nil
}

// change decides on one role, stores it at this region's home, and sends it to the others.
func (s *Service) change(ctx context.Context, right auth.Permission, permissions []string, decide func([]store.Role) (store.Role, error)) (*answer, error) {
	r, rows := s.begin(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := auth.Require(r.Caller, right, auth.Scope{}); err != nil {
		return nil, err
	}
	for _, p := range permissions {
		if !auth.Permission(p).Known() {
			return nil, fail.Validation("permissions: there is no permission " + p)
		}
		if err := auth.Require(r.Caller, auth.Permission(p), auth.Scope{}); err != nil {
			return nil, err // or whoever may change roles could give themselves everything
		}
	}
	made, err := decide(*rows)
	if err != nil {
		return nil, err
	}
	made.ChangedAt, made.Origin = s.precise(), string(s.Region)
	if err := s.put(ctx, made); err != nil {
		return nil, err
	}
	shown := []*plazav1.Role{s.View.MadeRole(made)}
	return &plazav1.RoleResponse{Status: "success", Data: shown, Roles: shown}, nil
}

// message is what travels to another home.
type message struct {
	Home region.Code `json:"home"`
	Role store.Role  `json:"role"`
}

func (s *Service) put(ctx context.Context, made store.Role) error {
	tx := s.Store.NewTx(s.Region)
	tx.UpsertRole(made)
	var outboxRows []store.OutboxRow
	now := s.Now()
	for _, home := range region.All() {
		if home != s.Region {
			outboxRows = append(outboxRows, tx.Emit(topic, message{Home: home, Role: made}, now, s.Outbox.FirstTry()))
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.Deliver(ctx, s.Region, outboxRows...)
	if err := s.refresh(ctx); err != nil {
		s.Log.WarnContext(ctx, "roles not read after a change", "error", err) // it is stored, and read again soon
	}
	return nil
}

func (s *Service) apply(ctx context.Context, row store.OutboxRow) error {
	var m message
	if err := json.Unmarshal(row.Payload, &m); err != nil {
		return err
	}
	tx := s.Store.NewTx(m.Home)
	tx.UpsertRole(m.Role)
	return tx.Commit(ctx)
}

func distinct(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
