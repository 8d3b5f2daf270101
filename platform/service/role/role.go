// Package role holds the roles of the network: the built-in ones, and those that administrators make.
//
// A role that an administrator made is a network role: users hold it, everywhere, through UpdateUser. Every home has a row of
// each, as with settings: a change is stored at the region that took it, and the outbox takes it to the other homes, where the
// newest change wins. Each server knows the roles of its home by heart (auth.Catalog), because every call asks for them: its own
// changes at once, and all others within a second.
package role

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements RoleService.
type Service struct {
	*service.Deps
	// precise is the clock of changes: two of the same millisecond have an order too.
	precise func() time.Time
	// reading lets one look at the roles at a time, so that the last one is the newest.
	reading sync.Mutex
}

// topic names the outbox rows that carry roles to another home.
const topic = "roles"

// New makes the service and registers what applies changes at other homes.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d, precise: func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }}
	d.Outbox.Handle(topic, s.apply)
	return s
}

type answer = plazav1.RoleResponse

// GetRole gets one role. One that was taken away is not there.
func (s *Service) GetRole(ctx context.Context, req *plazav1.GetRoleRequest) (*plazav1.GetRoleResponse, error) {
	rows, err := s.made(ctx)
	if err != nil {
		return nil, err
	}
	if r, ok := auth.RoleByID(req.GetRoleId()); ok {
		return &plazav1.GetRoleResponse{Roles: []*plazav1.Role{s.View.Role(r)}}, nil
	}
	row := live(rows, req.GetRoleId())
	if row == nil {
		return nil, fail.NotFound()
	}
	return &plazav1.GetRoleResponse{Roles: []*plazav1.Role{s.View.MadeRole(*row)}}, nil
}

// begin starts the first round trip, with the roles that were made.
func (s *Service) begin(ctx context.Context) (*service.Request, *[]store.Role) {
	r, rows := s.NewRequest(ctx), &[]store.Role{}
	r.Roles(s.Region, rows)
	return r, rows
}

// made lets the caller in and reads the roles that were made: at this region's home, or where that is lost at another, as
// each home has all of them.
func (s *Service) made(ctx context.Context) ([]store.Role, error) {
	if err := s.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(region.All(), func(home region.Code) bool { return home == s.Region })
	for _, home := range append([]region.Code{s.Region}, others...) {
		var rows []store.Role
		reads := s.Store.NewBestEffortBatch()
		reads.Roles(home, &rows)
		if err := reads.Run(ctx); err != nil || len(reads.Missing()) == 0 {
			return rows, err
		}
	}
	return nil, fail.Unavailable("no home region answered in time", nil)
}

// live finds a role that was made and is there; nil where there is none.
func live(rows []store.Role, id string) *store.Role {
	i := slices.IndexFunc(rows, func(r store.Role) bool { return r.ID == id && r.DeletedAt == nil })
	if i < 0 {
		return nil
	}
	return &rows[i]
}

// Follow keeps what this server knows of the roles up to date until ctx ends.
func (s *Service) Follow(ctx context.Context, every time.Duration) {
	for {
		if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "roles not read", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// refresh reads the roles of this region's home.
func (s *Service) refresh(ctx context.Context) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	var rows []store.Role
	reads := s.Store.NewReadBatch()
	reads.Roles(s.Region, &rows)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	var made []auth.Role
	for _, row := range rows {
		if row.DeletedAt == nil {
			made = append(made, s.View.RoleOf(row))
		}
	}
	s.View.Catalog.Set(made)
	return nil
}
