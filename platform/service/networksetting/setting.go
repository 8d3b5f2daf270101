// Package networksetting implements NetworkSettingService: the settings of the whole network.
//
// Every home has a row of each setting. A change is stored at the home of the region that receives it, where it takes
// effect immediately. The outbox copies it to the other homes, where the newest change wins.
package networksetting

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
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
	return get(ctx, s, moderation)
}

// UpdateModeration changes the fields of the moderation configuration that the request sets. A request that sets none
// is 400000.
func (s *Service) UpdateModeration(ctx context.Context, req *plazav1.UpdateModerationRequest) (*plazav1.ModerationConfiguration, error) {
	values := given(req)
	if len(values) > 0 {
		return set(ctx, s, values, moderation)
	}
	if _, err := s.loadToManage(ctx); err != nil {
		return nil, err
	}
	return nil, fail.BadRequest()
}

func moderation(s network.Settings) *plazav1.ModerationConfiguration {
	return filled(&plazav1.ModerationConfiguration{}, s)
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
	return set(ctx, s, given(req), all)
}

func all(s network.Settings) *plazav1.NetworkSettings { return filled(&plazav1.NetworkSettings{}, s) }

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

// given returns the scalar fields that requests set, by their JSON names, which are those of settings.
func given(requests ...proto.Message) map[string]any {
	values := map[string]any{}
	for _, req := range requests {
		req.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			if field.Message() == nil && !field.IsList() {
				values[field.JSONName()] = value.Interface()
			}
			return true
		})
	}
	return values
}

// filled returns a message after setting those of its fields that settings have by the same JSON names.
func filled[M proto.Message](m M, settings any) M {
	raw, err := json.Marshal(settings)
	if err != nil {
		panic(err) // impossible: settings consist of booleans, numbers, texts, lists and maps
	}
	values := m.ProtoReflect().New().Interface()
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, values); err != nil {
		panic(err) // impossible: the types are the same
	}
	proto.Merge(m, values)
	return m
}

// get reads the settings for a response. All users may call it.
func get[M proto.Message](ctx context.Context, s *Service, response func(network.Settings) M) (M, error) {
	settings, err := s.read(ctx, s.NewRequest(ctx))
	return response(settings), err
}

// set stores values at the home of this region, and sends them to the others. The response is about all settings.
func set[M proto.Message](ctx context.Context, s *Service, values map[string]any, response func(network.Settings) M) (M, error) {
	settings, err := s.loadToManage(ctx)
	if err == nil {
		settings, err = s.UpdateSettings(ctx, s.rows(values)...)
	}
	return response(settings), err
}

// loadToManage reads the settings for callers who may change them.
func (s *Service) loadToManage(ctx context.Context) (network.Settings, error) {
	return s.read(ctx, s.NewPrivilegedRequest(ctx, auth.ManageSetting))
}

func (s *Service) read(ctx context.Context, r *service.Request) (settings network.Settings, err error) {
	r.Settings(s.Region, &settings)
	err = r.Run(ctx)
	return settings, err
}

// rows returns the rows to store for values.
func (s *Service) rows(values map[string]any) []network.SettingRow {
	changed := s.clock()
	var rows []network.SettingRow
	for _, name := range slices.Sorted(maps.Keys(values)) {
		raw, err := json.Marshal(values[name])
		if err != nil {
			panic(err) // impossible: values consist of booleans, numbers, strings, lists and maps
		}
		rows = append(rows, network.SettingRow{Name: name, Value: raw, ChangedAt: changed, Origin: string(s.Region)})
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
