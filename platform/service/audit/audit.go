// Package audit implements AuditService, and records what administrators, moderators and keys change.
//
// An event consists of a row of audit_events, which identifies no person by itself and never changes, and of details: the
// origin of the request, and the values of the targets before and after. Erasures delete details.
package audit

import (
	"context"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements AuditService.
type Service struct {
	*service.Deps
	recorder *Recorder
}

// New returns the service.
func New(d *service.Deps, recorder *Recorder) *Service { return &Service{d, recorder} }

// ListAuditEvents lists the events of all regions. Regions that are unavailable are left out.
func (s *Service) ListAuditEvents(ctx context.Context, req *plazav1.ListAuditEventsRequest) (*plazav1.ListAuditEventsResponse, error) {
	r := s.NewPrivilegedRequest(ctx, auth.ManageSecurity)
	cursor := r.Page(req.GetOptions())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list, err := s.listOf(ctx, req)
	if err != nil {
		return nil, err
	}
	list.Desc, list.Limit = !cursor.Back, cursor.Limit+1
	rows, paging, err := service.Merged[network.AuditEvent]{
		Cursor: cursor, Desc: list.Desc,
		At: position,
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]network.AuditEvent) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListAuditEvents(list, into)
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	events, err := s.events(ctx, rows)
	return &plazav1.ListAuditEventsResponse{Events: events, Paging: paging}, err
}

// position returns the sort key of an event.
func position(e network.AuditEvent) (time.Time, string, string) { return e.At, "", e.ID }

// endOfTime is later than every event.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// listOf returns the query of a request, without its page.
func (s *Service) listOf(ctx context.Context, req *plazav1.ListAuditEventsRequest) (network.AuditList, error) {
	list := network.AuditList{Homes: region.All(), Operation: req.GetOperation(), To: endOfTime}
	if (req.GetTargetType() == "") != (req.GetTargetId() == "") {
		return list, fail.Validation("targetType, targetId: must be given together")
	}
	if req.GetRegion() != "" {
		list.Homes = []region.Code{region.Code(req.GetRegion())}
	}
	if req.GetFrom() != nil {
		list.From = req.GetFrom().AsTime()
	}
	if req.GetTo() != nil {
		list.To = req.GetTo().AsTime()
	}
	var err error
	list.Target = network.AuditTarget{Type: req.GetTargetType(), ID: req.GetTargetId()}
	switch list.Target.Type {
	case "user":
		list.Target.ID, err = s.userID(ctx, list.Target.ID)
	case "channel":
		list.Target.ID = chat.ChannelID(s.Deps, list.Target.ID)
	}
	if err == nil && req.GetActor() != "" {
		list.Actor, err = s.actor(ctx, req.GetActor())
	}
	return list, err
}

// userID returns the id by which events refer to a user.
func (s *Service) userID(ctx context.Context, id string) (string, error) {
	found, err := s.Directory.ResolveOne(ctx, id)
	if err == nil && found == "" {
		found = s.Directory.Pseudonym(id)
	}
	return found, err
}

// actor returns the id by which events refer to an actor. A name that is not the id of a user is that of an administrator
// or a key.
func (s *Service) actor(ctx context.Context, name string) (string, error) {
	found, err := s.Directory.ResolveOne(ctx, name)
	if err == nil && found == "" {
		found = name
	}
	return found, err
}

// events returns events with their details.
func (s *Service) events(ctx context.Context, rows []network.AuditEvent) ([]*plazav1.AuditEvent, error) {
	ids := service.Map(rows, func(e network.AuditEvent) string { return e.ID })
	details, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).AuditDetails, ids)
	if err != nil {
		return nil, err
	}
	byEvent := map[string][]network.AuditDetail{}
	for _, d := range details {
		byEvent[d.EventID] = append(byEvent[d.EventID], d)
	}
	return service.Map(rows, func(e network.AuditEvent) *plazav1.AuditEvent { return eventOf(e, byEvent[e.ID]) }), nil
}

func eventOf(e network.AuditEvent, details []network.AuditDetail) *plazav1.AuditEvent {
	home, _ := region.HomeOf(e.ID) // events do not move
	m := &plazav1.AuditEvent{
		EventId: e.ID, CreatedAt: timestamppb.New(e.At), Region: string(home), Operation: e.Operation, RequestId: e.RequestID,
		Actor: &plazav1.AuditActor{Kind: e.ActorKind, Id: e.Actor, KeyId: e.KeyID, Roles: e.Roles, Permission: e.Permission},
	}
	var targets []network.AuditTarget
	_ = json.Unmarshal(e.Targets, &targets) // written by the store
	m.Targets = service.Map(targets, func(t network.AuditTarget) *plazav1.AuditTarget { return &plazav1.AuditTarget{Type: t.Type, Id: t.ID} })
	for _, d := range details {
		addDetail(m, d)
	}
	return m
}

// addDetail adds a detail to an event. The details of a target follow each other only within a part.
func addDetail(m *plazav1.AuditEvent, d network.AuditDetail) {
	if d.Part == network.AuditOrigin {
		var source network.AuditSource
		_ = json.Unmarshal(d.Value, &source) // written by the store
		m.Actor.UserId, m.Address, m.UserAgent = source.UserID, source.Address, source.UserAgent
		return
	}
	change := changeOf(m, d)
	values := freeform.Message(d.Value)
	if d.Part == network.AuditBefore {
		change.Before = values
	} else {
		change.After = values
	}
}

// changeOf returns the change of the detail's target, which it adds if there is none.
func changeOf(m *plazav1.AuditEvent, d network.AuditDetail) *plazav1.AuditChange {
	for _, c := range m.GetChanges() {
		if c.GetType() == d.Type && c.GetId() == d.ID {
			return c
		}
	}
	c := &plazav1.AuditChange{Type: d.Type, Id: d.ID}
	m.Changes = append(m.Changes, c)
	return c
}
