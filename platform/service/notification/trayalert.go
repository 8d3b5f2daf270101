package notification

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
)

// pushesOf returns the pushes of items of trays at a home.
func (s *Service) pushesOf(ctx context.Context, home region.Code, notices []notice) ([]notify.Push, error) {
	if !s.Pushes() {
		return nil, nil
	}
	users := map[place][]string{}
	for _, n := range notices {
		users[n.place()] = append(users[n.place()], n.item.UserID)
	}
	devices, err := s.devicesAt(ctx, home, users)
	if err != nil {
		return nil, err
	}
	var alerts []*alert
	var of [][]notify.NotifiedDevice
	for _, n := range notices {
		own := slices.DeleteFunc(slices.Clone(devices[n.place()]), func(d notify.NotifiedDevice) bool { return d.UserID != n.item.UserID })
		if len(own) > 0 {
			alerts, of = append(alerts, n.alert()), append(of, own)
		}
	}
	if err := s.complete(ctx, alerts...); err != nil {
		return nil, err
	}
	var pushes []notify.Push
	for i, a := range alerts {
		a.title = a.actor()
		pushes = append(pushes, s.pushesTo(*a, of[i])...)
	}
	return pushes, nil
}

// place is the community or channel where something happened; empty elsewhere.
type place struct{ level, targetID string }

func (n notice) place() place {
	if n.item.TargetType == levelCommunity {
		return place{levelCommunity, n.item.TargetID}
	}
	return place{}
}

// devicesAt reads the devices of users of one home, by the place whose settings apply, in one round trip.
func (s *Service) devicesAt(ctx context.Context, home region.Code, users map[place][]string) (map[place][]notify.NotifiedDevice, error) {
	devices := map[place][]notify.NotifiedDevice{}
	reads := s.Store.NewReadBatch()
	for p, ids := range users {
		var read []notify.NotifiedDevice
		reads.NotifiedDevices(home, service.SortedSet(ids), s.Now(), p.level, p.targetID, &read)
		reads.Then(func() { devices[p] = read })
	}
	return devices, reads.Run(ctx)
}

// alert returns the alert of an item, without what complete reads.
func (n notice) alert() *alert {
	item := n.item
	return &alert{
		trace: n.trace, happened: item.ID + "|" + item.ActionID, names: eventsOf(item.Kind, item.TargetType), actorID: n.actorID,
		body:  capital(kinds[item.Kind].text),
		level: n.place().level, targetID: n.place().targetID,
		data: map[string]string{
			"targetType": item.TargetType, "targetId": item.TargetPublicID, "referenceType": item.ReferenceType, "referenceId": item.ReferenceID,
			"actionType": kinds[item.Kind].action, "actionReferenceType": kinds[item.Kind].actionType, "actionReferenceId": item.ActionID,
		},
	}
}

// complete reads the names and the roles of the actors of alerts, and the places, in one round trip.
func (s *Service) complete(ctx context.Context, alerts ...*alert) error {
	if len(alerts) == 0 {
		return nil
	}
	reads := s.Store.NewBestEffortBatch() // the home of an actor need not answer
	for _, a := range alerts {
		a.read(reads)
	}
	return reads.Run(ctx)
}

// read adds the reads that complete an alert.
func (a *alert) read(reads *store.ReadBatch) {
	var actors []people.User
	var community *communities.Community
	var member *communities.Member
	var channel *messaging.Channel
	var user *messaging.ChannelUser
	reads.Users([]string{a.actorID}, &actors)
	switch a.level {
	case levelCommunity:
		reads.Community(a.targetID, &community)
		reads.Member(a.targetID, a.actorID, &member)
	case levelChannel:
		reads.Channel(a.targetID, &channel)
		reads.ChannelUser(a.targetID, a.actorID, &user)
	}
	reads.Then(func() {
		if len(actors) > 0 {
			a.actorName, a.actorRoles = actors[0].DisplayName, slices.Clone(actors[0].Roles)
		}
		a.setCommunity(community, member)
		a.setChannel(channel, user)
	})
}

func (a *alert) setCommunity(c *communities.Community, m *communities.Member) {
	if c != nil {
		a.mode, a.place = c.NotificationMode, c.DisplayName
	}
	if m.IsMember() {
		a.actorRoles = append(a.actorRoles, m.Roles...)
	}
}

func (a *alert) setChannel(c *messaging.Channel, u *messaging.ChannelUser) {
	if c != nil {
		a.mode, a.place = c.NotificationMode, c.DisplayName
	}
	if u.IsMember() {
		a.actorRoles = append(a.actorRoles, u.Roles...)
	}
}

// eventsOf returns the names of the event of a kind of items; none if public clients have no name for it.
func eventsOf(kind, targetType string) []string {
	event := kinds[kind].event
	if event == "" {
		return nil
	}
	if targetType == "user" {
		event = strings.Replace(event, "text-mention-", "text-mention-user-feed-", 1)
	}
	return []string{event}
}

// capital returns a text with a capital letter at the start.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// pushesTo returns the pushes of an alert to devices: to those whose settings want it and whose provider is configured.
func (s *Service) pushesTo(a alert, devices []notify.NotifiedDevice) []notify.Push {
	var pushes []notify.Push
	for _, d := range devices {
		if s.Push[d.Provider] != nil && a.wantedOn(d) {
			p := a.push(d)
			p.CreatedAt = s.Now()
			pushes = append(pushes, p)
		}
	}
	return pushes
}

// pushTo pushes an alert to users, home by home.
func (s *Service) pushTo(ctx context.Context, userIDs []string, a alert) error {
	here := place{a.level, a.targetID}
	for home, ids := range s.Store.NewReadBatch().ByHome(userIDs) {
		devices, err := s.devicesAt(ctx, home, map[place][]string{here: ids})
		if err != nil {
			return err
		}
		a.trace = span.Of(ctx)
		pushes := s.pushesTo(a, devices[here])
		if len(pushes) == 0 {
			continue
		}
		tx := s.Store.NewTx(home)
		for _, p := range pushes {
			tx.AddPush(p)
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}
