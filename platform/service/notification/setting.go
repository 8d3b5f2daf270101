package notification

import (
	"context"
	"encoding/json"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/notify"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The levels of settings.
const (
	levelUser      = "user"
	levelCommunity = "community"
	levelChannel   = "channel"
)

// settingRequest is the first round trip of an operation on a setting: it reads the target, which the caller must see, and the settings.
type settingRequest struct {
	*service.Request

	level    string
	targetID string
	settings []notify.NotificationSetting
}

// named is what requests about settings have in common.
type named interface {
	GetLevel() string
	GetCommunityId() string
	GetChannelId() string
}

func (s *Service) newSettingRequest(ctx context.Context, req named) *settingRequest {
	r := &settingRequest{Request: s.NewUserRequest(ctx), level: req.GetLevel()}
	switch {
	case r.level == levelCommunity && req.GetCommunityId() == "":
		r.Fail(fail.Validation("communityId: required for the level community"))
	case r.level == levelChannel && req.GetChannelId() == "":
		r.Fail(fail.Validation("channelId: required for the level channel"))
	case r.level == levelCommunity:
		r.readCommunity(req.GetCommunityId())
	case r.level == levelChannel:
		r.readChannel(req.GetChannelId())
	}
	r.NotificationSettings(r.Caller.UserID, r.level, r.targetID, &r.settings)
	return r
}

func (r *settingRequest) readCommunity(id string) {
	var community *communities.Community
	var mine *communities.Member
	r.targetID = id
	membership.Read(r.Request, id, &community, &mine)
	r.Check(func() error { return membership.RequireDiscoverable(r.Caller, community, mine) })
}

func (r *settingRequest) readChannel(id string) {
	var access chat.Access
	r.targetID = chat.ChannelID(r.Deps, id)
	chat.ReadChannel(r.Request, id, &access)
	r.Check(func() error { return access.CanSee(r.Caller) })
}

// setting returns the stored setting of a level, the zero one if there is none.
func (r *settingRequest) setting(level string) notify.NotificationSetting {
	if found := service.Find(r.settings, func(s notify.NotificationSetting) bool { return s.Level == level }); found != nil {
		return *found
	}
	return notify.NotificationSetting{}
}

// GetNotificationSetting returns a setting of the caller.
func (s *Service) GetNotificationSetting(
	ctx context.Context, req *plazav1.GetNotificationSettingRequest,
) (*plazav1.NotificationSetting, error) {
	r := s.newSettingRequest(ctx, req)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	stored := r.setting(r.level)
	decided := decisions(stored.Events)
	names := eventNames[r.level]
	return &plazav1.NotificationSetting{
		IsPushNotifiable: isOn(stored.Enabled), IsUserEnabled: isOn(r.setting(levelUser).Enabled),
		NotifiableEvents: service.Map(names, func(name string) *plazav1.NotifiableEvent { return notifiableEvent(name, decided[name]) }),
	}, nil
}

// notifiableEvent returns the setting of an event or a module.
func notifiableEvent(name string, d decision) *plazav1.NotifiableEvent {
	return &plazav1.NotifiableEvent{
		Name: name, ModuleName: moduleOf(name), IsPushNotifiable: !d.Off, IsNetworkEnabled: true,
		ListenFromRoleIds: d.From, IgnoreFromRoleIds: d.NotFrom,
	}
}

// UpdateNotificationSetting changes a setting of the caller.
func (s *Service) UpdateNotificationSetting(ctx context.Context,
	req *plazav1.UpdateNotificationSettingRequest,
) (*plazav1.StatusSuccessResponse, error) {
	events, err := requested(req)
	if err != nil {
		return nil, err
	}
	r := s.newSettingRequest(ctx, req)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(r.Caller.UserID))
	tx.PutNotificationSetting(notify.NotificationSetting{
		UserID: r.Caller.UserID, Level: r.level, TargetID: r.targetID, Enabled: req.IsPushNotifiable, Events: events, UpdatedAt: s.Now(),
	})
	return service.StatusSuccess(), tx.Commit(ctx)
}

// requested returns the decisions of a request about events as JSON.
func requested(req *plazav1.UpdateNotificationSettingRequest) ([]byte, error) {
	decided := map[string]decision{}
	for _, e := range req.GetNotifiableEvents() {
		name := e.GetName()
		if name == "" {
			name = e.GetModuleName()
		}
		if name == "" || isModule(name) && req.GetLevel() != levelUser {
			return nil, fail.Validation("notifiableEvents: name must be that of an event, or at the level user of a module")
		}
		decided[name] = decision{Off: !e.GetIsPushNotifiable(), From: e.GetListenFromRoleIds(), NotFrom: e.GetIgnoreFromRoleIds()}
	}
	return json.Marshal(decided)
}
