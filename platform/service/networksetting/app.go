package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetProductSettings gets the settings of product tags. All users may call it.
func (s *Service) GetProductSettings(ctx context.Context, _ *plazav1.GetProductSettingsRequest) (*plazav1.ProductSettings, error) {
	return get(ctx, s, products)
}

// UpdateProductSettings changes the settings that the request sets.
func (s *Service) UpdateProductSettings(ctx context.Context, req *plazav1.UpdateProductSettingsRequest) (*plazav1.ProductSettings, error) {
	values := map[string]any{}
	if req.Enabled != nil {
		values["isProductEnabled"] = req.GetEnabled()
	}
	return set(ctx, s, values, products)
}

func products(s network.Settings) *plazav1.ProductSettings {
	return &plazav1.ProductSettings{Product: &plazav1.ProductSetting{Enabled: s.IsProductEnabled}}
}

// GetDeepLinkSettings gets the links with which apps share objects. All users may call it.
func (s *Service) GetDeepLinkSettings(ctx context.Context, _ *plazav1.GetDeepLinkSettingsRequest) (*plazav1.DeepLinkSettings, error) {
	return get(ctx, s, deepLinks)
}

// UpdateDeepLinkSettings replaces the links with which apps share objects.
func (s *Service) UpdateDeepLinkSettings(
	ctx context.Context, req *plazav1.UpdateDeepLinkSettingsRequest,
) (*plazav1.DeepLinkSettings, error) {
	patterns := req.GetPatterns()
	if patterns == nil {
		patterns = map[string]string{}
	}
	return set(ctx, s, map[string]any{"deepLinkDomain": req.GetDomain(), "deepLinkPatterns": patterns}, deepLinks)
}

func deepLinks(s network.Settings) *plazav1.DeepLinkSettings {
	return &plazav1.DeepLinkSettings{Domain: s.DeepLinkDomain, Patterns: s.DeepLinkPatterns}
}
