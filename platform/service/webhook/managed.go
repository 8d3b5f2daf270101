package webhook

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ReplaceManagedWebhooks replaces the webhooks of the operator's configuration. A webhook keeps its id, and with it what waits for
// delivery, as long as it has the same name.
func (s *Service) ReplaceManagedWebhooks(
	ctx context.Context, req *plazav1.ReplaceManagedWebhooksRequest,
) (*plazav1.ReplaceManagedWebhooksResponse, error) {
	list, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	wanted, refused := s.accept(req.GetWebhooks(), list)
	changed := s.changes(list, wanted)
	for _, h := range changed {
		auth.Created(ctx, "webhook", h.ID) // as targets of the audit event
	}
	if len(changed) > 0 {
		if list, err = s.update(ctx, changed...); err != nil {
			return nil, err
		}
	}
	list = slices.DeleteFunc(list, func(h network.Webhook) bool { return !h.IsManaged })
	return &plazav1.ReplaceManagedWebhooksResponse{Webhooks: service.Map(list, toProto), Refused: refused}, nil
}

// reasonOf returns an error in words, those of its details if it has any.
func reasonOf(err error) string {
	var failed *fail.Error
	if errors.As(err, &failed) && len(failed.Details) > 0 {
		return strings.Join(failed.Details, "; ")
	}
	return err.Error()
}

// accept returns the webhooks of a request that can be applied, and the others with the reasons.
func (s *Service) accept(all []*plazav1.ManagedWebhook, list []network.Webhook) (wanted []*plazav1.ManagedWebhook,
	refused []*plazav1.RefusedWebhook,
) {
	free := delivery.Max
	for _, h := range list {
		if !h.IsManaged {
			free--
		}
	}
	seen := map[string]bool{}
	for _, m := range all {
		err := s.checkManaged(m)
		switch {
		case err != nil:
		case seen[m.GetName()]:
			err = fmt.Errorf("another webhook has the name %s", m.GetName())
		case len(wanted) >= free:
			err = fmt.Errorf("a network can have at most %d webhooks", delivery.Max)
		}
		if err != nil {
			refused = append(refused, &plazav1.RefusedWebhook{Name: m.GetName(), Reason: reasonOf(err)})
			continue
		}
		seen[m.GetName()] = true
		wanted = append(wanted, m)
	}
	return wanted, refused
}

func (s *Service) checkManaged(m *plazav1.ManagedWebhook) error {
	if err := s.check(network.Webhook{URL: m.GetUrl(), Events: m.GetEvents()}); err != nil {
		return err
	}
	return delivery.CheckSecret(m.GetSecret())
}

// changes returns the rows that differ from those of list.
func (s *Service) changes(list []network.Webhook, wanted []*plazav1.ManagedWebhook) []network.Webhook {
	var changed []network.Webhook
	for i, m := range wanted {
		old := service.Find(list, func(h network.Webhook) bool { return h.IsManaged && h.Name == m.GetName() })
		if old != nil && s.isSame(*old, m) {
			continue
		}
		hook := network.Webhook{ID: s.managedID(m.GetName()), CreatedAt: s.Now().Add(time.Duration(i) * time.Millisecond)} // in this order
		if old != nil {
			hook = *old
		}
		hook.Name, hook.URL, hook.Events, hook.IsManaged, hook.IsEnabled = m.GetName(), m.GetUrl(), service.Distinct(m.GetEvents()), true,
			isEnabled(m)
		hook.Secret = s.sealer.Seal(hook.ID, m.GetSecret())
		changed = append(changed, hook)
	}
	for _, h := range list {
		if h.IsManaged && !slices.ContainsFunc(wanted, func(m *plazav1.ManagedWebhook) bool { return m.GetName() == h.Name }) {
			h.IsDeleted, h.Secret = true, []byte{}
			changed = append(changed, h)
		}
	}
	return changed
}

func (s *Service) isSame(h network.Webhook, m *plazav1.ManagedWebhook) bool {
	return s.sealer.Seals(h.ID, h.Secret, m.GetSecret()) &&
		h.URL == m.GetUrl() && slices.Equal(h.Events, service.Distinct(m.GetEvents())) && h.IsEnabled == isEnabled(m)
}

func isEnabled(m *plazav1.ManagedWebhook) bool { return m.IsEnabled == nil || m.GetIsEnabled() }

// managedID returns the id of the operator's webhook with a name. It is the same in every region, because the operator may create
// the webhook in several regions at the same time.
func (s *Service) managedID(name string) string {
	sum := sha256.Sum256([]byte("managed webhook\n" + s.NetworkID + "\n" + name))
	return region.DerivedID(region.All()[0], sum[:])
}
