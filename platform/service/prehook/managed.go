package prehook

import (
	"cmp"
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
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
	settings, unchanged := network.DefaultSettings().Prehook, !old.IsManaged // what administrators have set stays
	if wanted := req.GetPrehook(); wanted != nil {
		settings = settingsOf(wanted)
		if refused := cmp.Or(s.checkSettings(settings), delivery.CheckSecret(wanted.GetSecret())); refused != nil {
			return &plazav1.ReplaceManagedPrehookResponse{Prehook: toProto(old), Refused: refused.Error()}, nil //nolint:nilerr // the answer says it
		}
		unchanged = s.isSame(old, settings, wanted.GetSecret())
		settings.Secret = s.sealer.Seal(delivery.PrehookID, wanted.GetSecret())
	}
	if unchanged {
		return &plazav1.ReplaceManagedPrehookResponse{Prehook: toProto(old)}, nil
	}
	updated, err := s.store(ctx, settings)
	if err != nil {
		return nil, err
	}
	return &plazav1.ReplaceManagedPrehookResponse{Prehook: toProto(updated)}, nil
}

// settingsOf returns the settings without the secret.
func settingsOf(m *plazav1.ManagedPrehook) network.PrehookSettings {
	return network.PrehookSettings{
		IsEnabled: m.IsEnabled == nil || m.GetIsEnabled(), URL: m.GetCallbackUrl(), DefaultAction: m.GetDefaultAction(),
		Events: service.Distinct(m.GetEvents()), TimeoutMS: int(m.GetTimeout()), IsManaged: true,
	}
}

// isSame reports whether a pre-hook has the settings and the secret.
func (s *Service) isSame(old, settings network.PrehookSettings, wanted string) bool {
	return s.sealer.Seals(delivery.PrehookID, old.Secret, wanted) && old.IsManaged &&
		old.IsEnabled == settings.IsEnabled && old.URL == settings.URL && old.DefaultAction == settings.DefaultAction &&
		slices.Equal(old.Events, settings.Events) && old.TimeoutMS == settings.TimeoutMS
}
