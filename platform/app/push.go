package app

import (
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/push"
)

// openPush opens the senders of push notifications.
func (d *dependencies) openPush() error {
	if d.cfg.PushLocal {
		d.pushed = push.NewLocal(d.millis, d.log)
	}
	var err error
	d.push, err = push.Senders(push.Options{
		FCMCredentials: d.cfg.PushFCMCredentials, FCMURL: string(d.cfg.PushFCMURL),
		APNsKey: d.cfg.PushAPNsKey, APNsKeyID: d.cfg.PushAPNsKeyID, APNsTeamID: d.cfg.PushAPNsTeamID,
		APNsTopic: d.cfg.PushAPNsTopic, APNsURL: string(d.cfg.PushAPNsURL),
		WebKey: d.cfg.PushWebKey, WebSubject: d.cfg.PushWebSubject, WebNetworks: d.cfg.PushWebNetworks,
		Local: d.pushed, Now: d.millis, Timeout: d.limits.PushRequest,
	})
	if err != nil {
		return &config.Error{Source: "push", Reason: err.Error()}
	}
	return nil
}
