// Package webhook implements WebhookService: the webhooks of the network and their deliveries. Package delivery sends the
// deliveries.
//
// Every home has a row of each webhook. A change is stored at the home of the region that receives it. The outbox copies it to the
// other homes, where the newest change wins. The deliveries are at the homes of the events.
package webhook

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements WebhookService.
type Service struct {
	*service.Deps
	sealer   *seal.Sealer
	networks []netip.Prefix
}

// topic is the outbox topic of changes for other homes.
const topic = "webhooks"

// retention is how long a home keeps the row of a deleted webhook, which is longer than the outbox takes to deliver a change.
const retention = 30 * 24 * time.Hour

// New returns the service and registers the outbox handler that applies changes at other homes. networks are those that webhooks
// may be in although their addresses are not public.
func New(d *service.Deps, sealer *seal.Sealer, networks []netip.Prefix) *Service {
	s := &Service{Deps: d, sealer: sealer, networks: networks}
	service.HandleOutbox(d, topic, s.apply)
	return s
}

var (
	errLimit   = fail.Validation(fmt.Sprintf("webhooks: a network can have at most %d", delivery.Max))
	errManaged = fail.Forbidden("The webhook is part of the operator's configuration, which must be changed instead")
)

// GetWebhookSettings returns whether webhooks are enabled.
func (s *Service) GetWebhookSettings(ctx context.Context, _ *plazav1.GetWebhookSettingsRequest) (*plazav1.WebhookSettings, error) {
	var settings network.Settings
	r := s.NewPrivilegedRequest(ctx, auth.ManageSetting)
	r.Settings(s.Region, &settings)
	err := r.Run(ctx)
	return &plazav1.WebhookSettings{Enabled: settings.IsWebhookEnabled}, err
}

// UpdateWebhookSettings enables or disables all webhooks.
func (s *Service) UpdateWebhookSettings(ctx context.Context, req *plazav1.UpdateWebhookSettingsRequest) (*plazav1.WebhookSettings, error) {
	if req.WebhookEnabled == nil {
		return s.GetWebhookSettings(ctx, nil)
	}
	r := s.NewPrivilegedRequest(ctx, auth.ManageSetting)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	settings, err := s.UpdateSetting(ctx, "isWebhookEnabled", req.GetWebhookEnabled())
	return &plazav1.WebhookSettings{Enabled: settings.IsWebhookEnabled}, err
}

// ListWebhooks lists the webhooks.
func (s *Service) ListWebhooks(ctx context.Context, _ *plazav1.ListWebhooksRequest) (*plazav1.WebhooksResponse, error) {
	list, err := s.load(ctx)
	return &plazav1.WebhooksResponse{Webhooks: service.Map(list, toProto)}, err
}

// GetWebhook returns a webhook.
func (s *Service) GetWebhook(ctx context.Context, req *plazav1.GetWebhookRequest) (*plazav1.WebhookResponse, error) {
	found, err := s.find(ctx, req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	return &plazav1.WebhookResponse{Webhook: toProto(found)}, nil
}

// CreateWebhook creates a webhook.
func (s *Service) CreateWebhook(ctx context.Context, req *plazav1.CreateWebhookRequest) (*plazav1.WebhookResponse, error) {
	if _, err := s.load(ctx); err != nil {
		return nil, err
	}
	hook := network.Webhook{
		ID: s.NewID(s.Region), Name: req.GetName(), URL: req.GetUrl(), Events: service.Distinct(req.GetEvents()),
		IsEnabled: req.IsEnabled == nil || req.GetIsEnabled(), CreatedAt: s.Now(),
	}
	if err := s.check(hook); err != nil {
		return nil, err
	}
	secret := delivery.NewSecret()
	hook.Secret = s.sealer.Seal(hook.ID, secret)
	auth.Created(ctx, "webhook", hook.ID)
	list, err := s.update(ctx, hook)
	return respond(list, hook.ID, secret, err)
}

// UpdateWebhook changes a webhook.
func (s *Service) UpdateWebhook(ctx context.Context, req *plazav1.UpdateWebhookRequest) (*plazav1.WebhookResponse, error) {
	hook, err := s.findOwn(ctx, req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	if req.Url != nil {
		hook.URL = req.GetUrl()
	}
	if req.IsEnabled != nil {
		hook.IsEnabled = req.GetIsEnabled()
	}
	if len(req.GetEvents()) > 0 && req.GetAllEvents() {
		return nil, fail.Validation("events: must be empty if allEvents is true")
	}
	if len(req.GetEvents()) > 0 || req.GetAllEvents() {
		hook.Events = service.Distinct(req.GetEvents())
	}
	if err := s.check(hook); err != nil {
		return nil, err
	}
	secret := ""
	if req.GetRegenerateSecret() {
		secret = delivery.NewSecret()
		hook.Secret = s.sealer.Seal(hook.ID, secret)
	}
	list, err := s.update(ctx, hook)
	return respond(list, hook.ID, secret, err)
}

// DeleteWebhook deletes a webhook.
func (s *Service) DeleteWebhook(ctx context.Context, req *plazav1.DeleteWebhookRequest) (*plazav1.SuccessResponse, error) {
	hook, err := s.findOwn(ctx, req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	hook.IsDeleted, hook.Secret = true, []byte{}
	_, err = s.update(ctx, hook)
	return service.Success(), err
}

// check returns an error unless events can be sent to a webhook.
func (s *Service) check(h network.Webhook) error {
	if err := delivery.CheckURL(h.URL, s.networks); err != nil {
		return fail.Validation("url: " + err.Error())
	}
	if name := delivery.UnknownName(h.Events); name != "" {
		return fail.Validation(fmt.Sprintf("events: %q is not the name of an event", name))
	}
	return nil
}

// load reads the webhooks, the oldest first, and checks that the caller may manage them.
func (s *Service) load(ctx context.Context) ([]network.Webhook, error) {
	var list []network.Webhook
	r := s.NewPrivilegedRequest(ctx, auth.ManageSetting)
	r.Webhooks(s.Region, &list)
	err := r.Run(ctx)
	return delivery.Ordered(list), err
}

func (s *Service) find(ctx context.Context, id string) (network.Webhook, error) {
	list, err := s.load(ctx)
	if err != nil {
		return network.Webhook{}, err
	}
	found := service.Find(list, func(h network.Webhook) bool { return h.ID == id })
	if found == nil {
		return network.Webhook{}, fail.NotFound()
	}
	return *found, nil
}

// findOwn is find for a webhook that is not part of the operator's configuration.
func (s *Service) findOwn(ctx context.Context, id string) (network.Webhook, error) {
	hook, err := s.find(ctx, id)
	if err == nil && hook.IsManaged {
		err = errManaged
	}
	return hook, err
}

// update stores webhooks at the home of this region, and sends them to the others. It returns all webhooks.
func (s *Service) update(ctx context.Context, changed ...network.Webhook) ([]network.Webhook, error) {
	for i := range changed {
		changed[i].ChangedAt, changed[i].Origin = service.Micros(), string(s.Region)
	}
	var list []network.Webhook
	tx := s.Store.NewTx(s.Region)
	tx.UpsertWebhooks(changed, s.Now().Add(-retention))
	tx.GuardWebhooks(delivery.Max, errLimit)
	rows := s.EmitToOtherHomes(tx, topic, func(home region.Code) any { return message{Home: home, Webhooks: changed} })
	tx.SelectWebhooks(&list)
	err := s.Commit(ctx, tx, rows...)
	return delivery.Ordered(list), err
}

// message is the payload of an outbox row.
type message struct {
	Home     region.Code       `json:"home"`
	Webhooks []network.Webhook `json:"webhooks"`
}

func (s *Service) apply(ctx context.Context, m message) error {
	tx := s.Store.NewTx(m.Home)
	tx.UpsertWebhooks(m.Webhooks, s.Now().Add(-retention))
	return tx.Commit(ctx)
}

// respond returns the response about a webhook of a list.
func respond(list []network.Webhook, id, secret string, err error) (*plazav1.WebhookResponse, error) {
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(h network.Webhook) bool { return h.ID == id })
	if i < 0 { // deleted concurrently
		return nil, fail.NotFound()
	}
	message := toProto(list[i])
	if i >= delivery.Max {
		message.Refused = "limit"
	}
	return &plazav1.WebhookResponse{Webhook: message, Secret: secret}, nil
}

// toProto returns a webhook without its secret.
func toProto(h network.Webhook) *plazav1.Webhook {
	return &plazav1.Webhook{
		WebhookId: h.ID, Name: h.Name, Url: h.URL, Events: h.Events, IsEnabled: h.IsEnabled, IsManaged: h.IsManaged,
		CreatedAt: timestamppb.New(h.CreatedAt), UpdatedAt: timestamppb.New(h.ChangedAt),
	}
}
