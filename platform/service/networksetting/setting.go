// Package networksetting implements NetworkSettingService: the settings of the whole network.
//
// Every home has a row of each setting. A change is stored at the home of the region that receives it, where it takes
// effect immediately. The outbox copies it to the other homes, where the newest change wins.
package networksetting

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements NetworkSettingService.
type Service struct {
	*service.Deps
	// clock returns the time of changes in microseconds, so that changes in the same millisecond are ordered.
	clock func() time.Time
}

// New returns the service and registers the outbox handler that applies changes at other homes.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d, clock: service.Micros}
	service.HandleOutbox(d, service.SettingsTopic, s.apply)
	return s
}

// GetModeration gets the moderation configuration.
func (s *Service) GetModeration(ctx context.Context, _ *plazav1.GetModerationRequest) (*plazav1.ModerationConfiguration, error) {
	settings, err := s.load(ctx)
	return moderation(settings), err
}

// UpdateModeration changes the fields of the moderation configuration that the request sets. A request that sets none
// is 400000.
func (s *Service) UpdateModeration(ctx context.Context, req *plazav1.UpdateModerationRequest) (*plazav1.ModerationConfiguration, error) {
	if req.IsWhitelistEnabled == nil && req.IsReportEnabled == nil {
		if _, err := s.loadToManage(ctx); err != nil {
			return nil, err
		}
		return nil, fail.BadRequest()
	}
	settings, err := s.update(ctx, map[string]any{
		"isWhitelistEnabled": optional(req.IsWhitelistEnabled), "isReportEnabled": optional(req.IsReportEnabled),
	})
	return moderation(settings), err
}

// GetNetworkSettings gets all settings. It requires MANAGE_SETTING.
func (s *Service) GetNetworkSettings(ctx context.Context, _ *plazav1.GetNetworkSettingsRequest) (*plazav1.NetworkSettings, error) {
	settings, err := s.loadToManage(ctx)
	return all(settings), err
}

// UpdateNetworkSettings changes the settings that the request sets.
func (s *Service) UpdateNetworkSettings(ctx context.Context, req *plazav1.UpdateNetworkSettingsRequest) (*plazav1.NetworkSettings, error) {
	if err := checkRateLimit(req.GetRateLimit()); err != nil {
		return nil, err
	}
	settings, err := s.update(ctx, map[string]any{
		"isWhitelistEnabled": optional(req.IsWhitelistEnabled), "isReportEnabled": optional(req.IsReportEnabled),
		"flagLimit": optional(req.FlagLimit), "flagHideLimit": optional(req.FlagHideLimit), "isSecureModeEnabled": optional(req.IsSecureModeEnabled),
		"maxGlobalPinnedPost": optional(req.MaxGlobalPinnedPost),
		"userPrivacySetting":  optional(req.UserPrivacySetting), "isFollowWithRequestEnabled": optional(req.IsFollowWithRequestEnabled),
		"generation": optional(req.Generation), "rateLimit": optional(req.RateLimit), "defaultAccessType": optional(req.DefaultAccessType),
		"retentionMessageDays": optional(req.RetentionMessageDays), "retentionDeletedDays": optional(req.RetentionDeletedDays),
		"retentionSessionDays": optional(req.RetentionSessionDays), "retentionEventDays": optional(req.RetentionEventDays),
		"retentionAuditDays": optional(req.RetentionAuditDays), "presenceHeartbeatMinutes": optional(req.PresenceHeartbeatMinutes),
	})
	return all(settings), err
}

// checkRateLimit returns an error unless a rate limit is empty or has the form of one.
func checkRateLimit(text string) error {
	if text == "" {
		return nil
	}
	if _, err := ratelimit.Parse(text); err != nil {
		return fail.Validation("rateLimit: " + err.Error())
	}
	return nil
}

// optional returns the value of a pointer, or nil.
func optional[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func moderation(s store.Settings) *plazav1.ModerationConfiguration {
	return &plazav1.ModerationConfiguration{IsWhitelistEnabled: s.IsWhitelistEnabled, IsReportEnabled: s.IsReportEnabled}
}

func all(s store.Settings) *plazav1.NetworkSettings {
	return &plazav1.NetworkSettings{
		IsWhitelistEnabled: s.IsWhitelistEnabled, IsReportEnabled: s.IsReportEnabled,
		FlagLimit: narrow.To[int32](s.FlagLimit), IsSecureModeEnabled: s.IsSecureModeEnabled,
		FlagHideLimit:       narrow.To[int32](s.FlagHideLimit),
		MaxGlobalPinnedPost: narrow.To[int32](s.MaxGlobalPinnedPost),
		UserPrivacySetting:  s.UserPrivacySetting, IsFollowWithRequestEnabled: s.IsFollowWithRequestEnabled,
		Generation: narrow.To[int32](s.Generation),
		RateLimit:  s.RateLimit, DefaultAccessType: s.DefaultAccessType,

		RetentionMessageDays: narrow.To[int32](s.RetentionMessageDays), RetentionDeletedDays: narrow.To[int32](s.RetentionDeletedDays),
		RetentionSessionDays: narrow.To[int32](s.RetentionSessionDays), RetentionEventDays: narrow.To[int32](s.RetentionEventDays),
		RetentionAuditDays:       narrow.To[int32](s.RetentionAuditDays),
		PresenceHeartbeatMinutes: narrow.To[int32](s.PresenceHeartbeatMinutes),
	}
}

// load reads the settings. All users may call it.
func (s *Service) load(ctx context.Context) (store.Settings, error) {
	return s.read(ctx, s.NewRequest(ctx))
}

// loadToManage is load for callers who may change the settings.
func (s *Service) loadToManage(ctx context.Context) (store.Settings, error) {
	return s.read(ctx, s.NewPrivilegedRequest(ctx, auth.ManageSetting))
}

func (s *Service) read(ctx context.Context, r *service.Request) (settings store.Settings, err error) {
	r.Settings(s.Region, &settings)
	err = r.Run(ctx)
	return settings, err
}

// update stores the values that are not nil at the home of this region, and sends them to the others. It returns all
// settings.
func (s *Service) update(ctx context.Context, values map[string]any) (store.Settings, error) {
	if _, err := s.loadToManage(ctx); err != nil {
		return store.Settings{}, err
	}
	return s.UpdateSettings(ctx, s.rows(values)...)
}

// rows returns the rows to store for the values that are not nil.
func (s *Service) rows(values map[string]any) []store.SettingRow {
	changed := s.clock()
	var rows []store.SettingRow
	for name, value := range values {
		if value == nil {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err) // impossible: values consist of booleans, numbers, strings, lists and maps
		}
		rows = append(rows, store.SettingRow{Name: name, Value: raw, ChangedAt: changed, Origin: string(s.Region)})
	}
	return rows
}

func (s *Service) apply(ctx context.Context, m service.SettingsMessage) error {
	tx := s.Store.NewTx(m.Home)
	for _, r := range m.Rows {
		tx.UpsertSetting(r)
	}
	return tx.Commit(ctx)
}
