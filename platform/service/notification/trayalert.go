package notification

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/store"
)

// pushesOf returns the pushes of an item of a tray.
func (s *Service) pushesOf(ctx context.Context, n notice) ([]store.Push, error) {
	if !s.Pushes() {
		return nil, nil
	}
	a, err := s.alertOf(ctx, n)
	if err != nil {
		return nil, err
	}
	return s.pushesTo(ctx, []string{n.item.UserID}, a)
}

// alertOf returns the alert of an item.
func (s *Service) alertOf(ctx context.Context, n notice) (alert, error) {
	item := n.item
	a := alert{
		happened: item.ID + "|" + item.ActionID, names: eventsOf(item.Kind, item.TargetType), actorID: n.actorID, body: capital(kinds[item.Kind].text),
		data: map[string]string{
			"targetType": item.TargetType, "targetId": item.TargetPublicID, "referenceType": item.ReferenceType, "referenceId": item.ReferenceID,
			"actionType": kinds[item.Kind].action, "actionReferenceType": kinds[item.Kind].actionType, "actionReferenceId": item.ActionID,
		},
	}
	if item.TargetType == levelCommunity {
		a.level, a.targetID = levelCommunity, item.TargetID
	}
	err := s.complete(ctx, &a)
	a.title = cmp.Or(a.title, "Someone")
	return a, err
}

// complete reads the name and the roles of the actor, and the notification mode of the target.
func (s *Service) complete(ctx context.Context, a *alert) error {
	var actors []store.User
	var community *store.Community
	var member *store.Member
	var channel *store.Channel
	var user *store.ChannelUser
	reads := s.Store.NewBestEffortBatch() // the home of the actor need not answer
	reads.Users([]string{a.actorID}, &actors)
	switch a.level {
	case levelCommunity:
		reads.Community(a.targetID, &community)
		reads.Member(a.targetID, a.actorID, &member)
	case levelChannel:
		reads.Channel(a.targetID, &channel)
		reads.ChannelUser(a.targetID, a.actorID, &user)
	}
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if len(actors) > 0 {
		a.title, a.actorRoles = actors[0].DisplayName, actors[0].Roles
	}
	a.setCommunity(community, member)
	a.setChannel(channel, user)
	return nil
}

func (a *alert) setCommunity(c *store.Community, m *store.Member) {
	if c != nil {
		a.mode, a.place = c.NotificationMode, c.DisplayName
	}
	if m.IsMember() {
		a.actorRoles = append(a.actorRoles, m.Roles...)
	}
}

func (a *alert) setChannel(c *store.Channel, u *store.ChannelUser) {
	if c != nil {
		a.mode, a.place = c.NotificationMode, c.DisplayName
	}
	if u.IsMember() {
		a.actorRoles = append(a.actorRoles, u.Roles...)
	}
}

// eventsOf returns the names of the event of a kind of items; none if public clients have no name for it.
func eventsOf(kind, targetType string) []string {
	onWall := targetType == "user"
	switch kind {
	case postMention, pollMention:
		return []string{pick(onWall, "text-mention-user-feed-post.created", "text-mention-post.created")}
	case commentMention:
		return []string{pick(onWall, "text-mention-user-feed-comment.created", "text-mention-comment.created")}
	case replyMention:
		return []string{pick(onWall, "text-mention-user-feed-comment.replied", "text-mention-comment.replied")}
	}
	if name, ok := eventOfKind[kind]; ok {
		return []string{name}
	}
	return nil
}

var eventOfKind = map[string]string{
	postReaction: "post.reacted", commentReaction: "comment.reacted", replyReaction: "comment.reacted", postComment: "comment.created",
	storyComment: "story-comment.created", commentReply: "comment.replied", newFollower: "follow.created", followRequest: "follow.requested",
	followAccepted: "follow.accepted",
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// capital returns a text with a capital letter at the start.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// pushesTo returns the pushes of an alert to users: to those of their devices whose settings want it and whose provider is configured.
func (s *Service) pushesTo(ctx context.Context, userIDs []string, a alert) ([]store.Push, error) {
	reads := s.Store.NewReadBatch()
	byHome := reads.ByHome(userIDs)
	devices := make([][]store.NotifiedDevice, len(byHome))
	for i, home := range slices.Sorted(maps.Keys(byHome)) {
		reads.NotifiedDevices(home, byHome[home], s.Now(), a.level, a.targetID, &devices[i])
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	var pushes []store.Push
	for _, of := range devices {
		for _, d := range of {
			if s.Push[d.Provider] != nil && a.wantedOn(d) {
				p := a.push(d)
				p.CreatedAt = s.Now()
				pushes = append(pushes, p)
			}
		}
	}
	return pushes, nil
}

// add stores pushes at the homes of their users.
func (s *Service) add(ctx context.Context, pushes []store.Push) error {
	for len(pushes) > 0 {
		home := s.HomeOf(pushes[0].UserID)
		tx := s.Store.NewTx(home)
		var others []store.Push
		for _, p := range pushes {
			if s.HomeOf(p.UserID) == home {
				tx.AddPush(p)
			} else {
				others = append(others, p)
			}
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		pushes = others
	}
	return nil
}
