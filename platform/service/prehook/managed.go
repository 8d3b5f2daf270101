package prehook

import (
	"context"
	"crypto/subtle"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/webhook"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ReplaceManagedPrehook makes the pre-hook of the operator's configuration the one of the network, or removes it.
func (s *Service) ReplaceManagedPrehook(
	ctx context.Context, req *plazav1.ReplaceManagedPrehookRequest,
) (*plazav1.ReplaceManagedPrehookResponse, error) {
	old, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	wanted := req.GetPrehook()
	if wanted == nil {
		return s.removeManaged(ctx, old)
	}
	settings := settingsOf(wanted)
	if reason := s.refusal(settings, wanted.GetSecret()); reason != "" {
		return &plazav1.ReplaceManagedPrehookResponse{Prehook: toProto(old), Refused: reason}, nil
	}
	if s.isSame(old, settings, wanted.GetSecret()) {
		return &plazav1.ReplaceManagedPrehookResponse{Prehook: toProto(old)}, nil
	}
	settings.Secret = s.sealer.Seal(webhook.PrehookID, wanted.GetSecret())
	return s.storeManaged(ctx, settings)
}

// refusal returns why a pre-hook cannot be used, or an empty text.
func (s *Service) refusal(settings store.PrehookSettings, secret string) string {
	if err := s.checkSettings(settings); err != nil {
		return err.Error()
	}
	if err := webhook.CheckSecret(secret); err != nil {
		return err.Error()
	}
	return ""
}

// removeManaged restores the initial settings, unless administrators have set the pre-hook.
func (s *Service) removeManaged(ctx context.Context, old store.PrehookSettings) (*plazav1.ReplaceManagedPrehookResponse, error) {
	if !old.IsManaged {
		return &plazav1.ReplaceManagedPrehookResponse{Prehook: toProto(old)}, nil
	}
	return s.storeManaged(ctx, store.DefaultSettings().Prehook)
}

func (s *Service) storeManaged(ctx context.Context, settings store.PrehookSettings) (*plazav1.ReplaceManagedPrehookResponse, error) {
	updated, err := s.store(ctx, settings)
	if err != nil {
		return nil, err
	}
	return &plazav1.ReplaceManagedPrehookResponse{Prehook: toProto(updated)}, nil
}

// settingsOf returns the settings without the secret.
func settingsOf(m *plazav1.ManagedPrehook) store.PrehookSettings {
	return store.PrehookSettings{
		IsEnabled: m.IsEnabled == nil || m.GetIsEnabled(), URL: m.GetCallbackUrl(), DefaultAction: m.GetDefaultAction(),
		Events: service.Distinct(m.GetEvents()), TimeoutMS: int(m.GetTimeout()), IsManaged: true,
	}
}

// isSame reports whether a pre-hook has the settings and the secret.
func (s *Service) isSame(old, settings store.PrehookSettings, wanted string) bool {
	secret, err := s.sealer.Open(webhook.PrehookID, old.Secret)
	return err == nil && subtle.ConstantTimeCompare([]byte(secret), []byte(wanted)) == 1 && old.IsManaged &&
		old.IsEnabled == settings.IsEnabled && old.URL == settings.URL && old.DefaultAction == settings.DefaultAction &&
		slices.Equal(old.Events, settings.Events) && old.TimeoutMS == settings.TimeoutMS
}
