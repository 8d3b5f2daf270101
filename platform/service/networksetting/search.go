package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetSemanticSearchSettings gets the smallest scores of results of semantic search. All users may call it.
func (s *Service) GetSemanticSearchSettings(
	ctx context.Context, _ *plazav1.GetSemanticSearchSettingsRequest,
) (*plazav1.SemanticSearchSettings, error) {
	return get(ctx, s, semanticSearch)
}

// UpdateSemanticSearchSettings changes the settings that the request sets.
func (s *Service) UpdateSemanticSearchSettings(
	ctx context.Context, req *plazav1.UpdateSemanticSearchSettingsRequest,
) (*plazav1.SemanticSearchSettings, error) {
	return set(ctx, s, given(req), semanticSearch)
}

func semanticSearch(s network.Settings) *plazav1.SemanticSearchSettings {
	return &plazav1.SemanticSearchSettings{SemanticSearch: filled(&plazav1.SemanticSearchSetting{}, s)}
}
