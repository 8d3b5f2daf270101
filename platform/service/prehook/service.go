// Package prehook implements PrehookService: the settings of the pre-hook. Package delivery asks it.
package prehook

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PrehookService.
type Service struct {
	*service.Deps
	sealer   *seal.Sealer
	networks []netip.Prefix
}

// New returns the service. networks are those that the pre-hook may be in although their addresses are not public.
func New(d *service.Deps, sealer *seal.Sealer, networks []netip.Prefix) *Service {
	return &Service{Deps: d, sealer: sealer, networks: networks}
}

var errManaged = fail.Forbidden("The pre-hook is part of the operator's configuration, which must be changed instead")

// GetPrehook returns the settings.
func (s *Service) GetPrehook(ctx context.Context, _ *plazav1.GetPrehookRequest) (*plazav1.Prehook, error) {
	settings, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	return toProto(settings), nil
}

// UpdatePrehook changes the settings.
func (s *Service) UpdatePrehook(ctx context.Context, req *plazav1.UpdatePrehookRequest) (*plazav1.Prehook, error) {
	settings, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	if settings.IsManaged {
		return nil, errManaged
	}
	merge(&settings, req)
	if err := s.check(settings, req); err != nil {
		return nil, err
	}
	var secret *string
	if req.GetRegenerateKey() || len(settings.Secret) == 0 {
		made := delivery.NewSecret()
		secret, settings.Secret = &made, s.sealer.Seal(delivery.PrehookID, made)
	}
	updated, err := s.store(ctx, settings)
	if err != nil {
		return nil, err
	}
	answer := toProto(updated)
	answer.SecretKey = secret
	return answer, nil
}

// store stores the settings and returns those that are in force.
func (s *Service) store(ctx context.Context, settings network.PrehookSettings) (network.PrehookSettings, error) {
	updated, err := s.UpdateSetting(ctx, "prehook", settings)
	return updated.Prehook, err
}

// merge sets the settings that a request sets.
func merge(settings *network.PrehookSettings, req *plazav1.UpdatePrehookRequest) {
	set(&settings.IsEnabled, req.Enabled)
	set(&settings.URL, req.CallbackUrl)
	set(&settings.DefaultAction, req.DefaultAction)
	if req.Timeout != nil {
		settings.TimeoutMS = int(req.GetTimeout())
	}
	if len(req.GetEvents()) > 0 || req.GetAllEvents() {
		settings.Events = service.Distinct(req.GetEvents())
	}
}

func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

// check returns an error unless the pre-hook can be asked with the settings of a request.
func (s *Service) check(settings network.PrehookSettings, req *plazav1.UpdatePrehookRequest) error {
	if len(req.GetEvents()) > 0 && req.GetAllEvents() {
		return fail.Validation("events: must be empty if allEvents is true")
	}
	if err := s.checkSettings(settings); err != nil {
		return fail.Validation(err.Error())
	}
	return nil
}

// checkSettings returns an error that names the field unless the pre-hook can be asked with the settings.
func (s *Service) checkSettings(settings network.PrehookSettings) error {
	if name := delivery.UnknownPrehookEvent(settings.Events); name != "" {
		return fmt.Errorf("events: %q is not the name of an event", name)
	}
	if settings.URL == "" {
		if settings.IsEnabled {
			return errors.New("callbackUrl: must be set if the pre-hook is enabled")
		}
		return nil
	}
	if err := delivery.CheckURL(settings.URL, s.networks); err != nil {
		return fmt.Errorf("callbackUrl: %w", err)
	}
	return nil
}

func (s *Service) load(ctx context.Context) (network.PrehookSettings, error) {
	var settings network.Settings
	r := s.NewPrivilegedRequest(ctx, auth.ManageSetting)
	r.Settings(s.Region, &settings)
	err := r.Run(ctx)
	return settings.Prehook, err
}

// toProto returns the settings without the secret.
func toProto(s network.PrehookSettings) *plazav1.Prehook {
	return &plazav1.Prehook{
		Enabled: s.IsEnabled, CallbackUrl: s.URL, DefaultAction: s.DefaultAction, Events: s.Events, IsManaged: s.IsManaged,
		Timeout: narrow.To[int32](s.TimeoutMS),
	}
}
