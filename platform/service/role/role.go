// Package role implements RoleService: the built-in roles, and custom roles that administrators create.
//
// A custom role is a network role, which UpdateUser assigns to users. Every home has a row of each custom role. An
// update is stored at the home of the region that receives it, a creation or deletion at the home that decides about the
// id of the role. The outbox copies it to the other homes, where the newest change wins. Every server caches the roles of its home
// (auth.Catalog), because every call needs them. It sees its own changes immediately, and others within a second.
package role

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements RoleService.
type Service struct {
	*service.Deps
	// clock returns the time of changes in microseconds, so that changes in the same millisecond are ordered.
	clock func() time.Time
	// refreshing serializes refresh, so that an older read does not overwrite a newer one.
	refreshing sync.Mutex
}

// topic is the outbox topic of changes for other homes.
const topic = "roles"

// New returns the service and registers the outbox handler that applies changes at other homes.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d, clock: service.Micros}
	service.HandleOutbox(d, topic, s.apply)
	return s
}

// GetRole gets one role. A deleted one is 400400.
func (s *Service) GetRole(ctx context.Context, req *plazav1.GetRoleRequest) (*plazav1.GetRoleResponse, error) {
	rows, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	role := service.Find(s.all(rows), func(r *plazav1.Role) bool { return r.GetRoleId() == req.GetRoleId() })
	if role == nil {
		return nil, fail.NotFound()
	}
	return &plazav1.GetRoleResponse{Roles: []*plazav1.Role{*role}}, nil
}

// load confirms the caller and reads the custom roles from the home of this region or, if that is unavailable, from
// another one.
func (s *Service) load(ctx context.Context) ([]network.Role, error) {
	if err := s.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(region.All(), func(home region.Code) bool { return home == s.Region })
	for _, home := range append([]region.Code{s.Region}, others...) {
		var rows []network.Role
		reads := s.Store.NewBestEffortBatch()
		reads.Roles(home, &rows)
		if err := reads.Run(ctx); err != nil || len(reads.Missing()) == 0 {
			return rows, err
		}
	}
	return nil, fail.Unavailable("no home region answered in time", nil)
}

// existing returns the custom role with the id, or nil if there is none or it is deleted.
func existing(rows []network.Role, id string) *network.Role {
	return service.Find(rows, func(r network.Role) bool { return r.ID == id && r.DeletedAt == nil })
}

// Job returns the background job that keeps this server's cache of the roles up to date.
func (s *Service) Job() jobs.Job {
	return jobs.Job{
		Name: "roles", Lanes: 1, Every: 500 * time.Millisecond, Log: s.Log,
		Drain: func(ctx context.Context, _ region.Code, _ int64) (bool, error) {
			return false, s.refresh(ctx)
		},
	}
}

// refresh reads the roles of the home of this region into the cache.
func (s *Service) refresh(ctx context.Context) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	rows, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Roles, s.Region)
	if err != nil {
		return err
	}
	var roles []auth.Role
	for _, row := range rows {
		if row.DeletedAt == nil {
			roles = append(roles, s.View.AuthRole(row))
		}
	}
	s.View.Catalog.Set(roles)
	return nil
}
