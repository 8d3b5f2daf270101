package notification

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/store/notify"
)

// The modules of settings.
const (
	moduleChat   = "chat"
	moduleSocial = "social"
	moduleVideo  = "video-streaming"
)

// eventNames are the events, and the modules of the level user, that settings of a level show. Requests can name others.
var eventNames = map[string][]string{
	levelUser: {moduleChat, moduleSocial, moduleVideo},
	levelCommunity: {
		"post.created", "post.reacted", "post.approved", "post.need-reviewing", "comment.created", "comment.reacted", "comment.replied",
		"story-comment.created", "text-mention-post.created", "text-mention-comment.created", "text-mention-comment.replied",
	},
	levelChannel: {
		"message.created", "text-mention-message.created", "conversation-message.created", "conversation-text-message.created",
		"conversation-image-message.created", "conversation-file-message.created",
	},
}

func isModule(name string) bool { return slices.Contains(eventNames[levelUser], name) }

// moduleOf returns the module of an event, or the module itself.
func moduleOf(name string) string {
	switch {
	case isModule(name):
		return name
	case strings.Contains(name, "message"), strings.Contains(name, "channel"):
		return moduleChat
	case strings.HasPrefix(name, "video-streaming"):
		return moduleVideo
	}
	return moduleSocial
}

// decision is what a user decided about an event or a module. The zero one is the default.
type decision struct {
	Off     bool     `json:"off,omitempty"`
	From    []string `json:"from,omitempty"`    // roles; only what users with one of them do is pushed
	NotFrom []string `json:"notFrom,omitempty"` // roles; what users with one of them do is not pushed
}

// allows reports whether what a user with these roles did is pushed.
func (d decision) allows(roles []string) bool {
	has := func(role string) bool { return slices.Contains(roles, role) }
	return !d.Off && (len(d.From) == 0 || slices.ContainsFunc(d.From, has)) && !slices.ContainsFunc(d.NotFrom, has)
}

// decisions returns the decisions of a setting, by name.
func decisions(stored []byte) map[string]decision {
	var decided map[string]decision
	if len(stored) > 0 {
		_ = json.Unmarshal(stored, &decided) // the service wrote it
	}
	return decided
}

func isOn(enabled *bool) bool { return enabled == nil || *enabled }

// The notification modes of communities and channels.
const (
	modeSilent    = "silent"
	modeSubscribe = "subscribe"
)

// alert is something that is pushed to the devices of users.
type alert struct {
	happened string // identifies it
	// names are the names of the event, the most specific first. The first one that a user decided about counts.
	names []string
	// level and targetID are the community or the channel where it happened; empty elsewhere. mode is its notification mode.
	level, targetID, mode string
	place                 string // its name

	actorID    string
	actorName  string   // empty if the user is unknown
	actorRoles []string // in the network, and in the community or channel
	title      string
	body       string
	data       map[string]string
	trace      string // see span.Of
}

func (a *alert) module() string {
	if a.level == levelChannel {
		return moduleChat
	}
	if len(a.names) == 0 {
		return moduleSocial
	}
	return moduleOf(a.names[0])
}

// wantedOn reports whether the settings of the user of a device want the alert.
func (a *alert) wantedOn(d notify.NotifiedDevice) bool {
	if !isOn(d.UserEnabled) || a.mode == modeSilent {
		return false
	}
	if a.mode == modeSubscribe && (d.TargetEnabled == nil || !*d.TargetEnabled) {
		return false
	}
	inGeneral, here := decisions(d.UserEvents), decisions(d.TargetEvents)
	return isOn(d.TargetEnabled) && inGeneral[a.module()].allows(a.actorRoles) && a.allowed(inGeneral) && a.allowed(here)
}

func (a *alert) allowed(decided map[string]decision) bool {
	for _, name := range a.names {
		if d, ok := decided[name]; ok {
			return d.allows(a.actorRoles)
		}
	}
	return true
}

// actor returns how texts name the actor.
func (a *alert) actor() string { return cmp.Or(a.actorName, "Someone") }

// inPlace sets the texts: under the name of the channel or community with the actor's name before the text, or under the actor's name.
func (a *alert) inPlace(text string) {
	a.title, a.body = a.actor(), text
	if a.place != "" {
		a.title, a.body = a.place, a.actor()+": "+text
	}
}

// push returns the row for a device.
func (a *alert) push(d notify.NotifiedDevice) notify.Push {
	data, _ := json.Marshal(a.data) // texts
	p := notify.Push{
		Provider: d.Provider, UserID: d.UserID, Device: d.Device, ActorID: a.actorID, Title: shorten(a.title),
		Body: shorten(a.body), Data: data, Trace: a.trace,
	}
	p.Identify(a.happened)
	return p
}

// maxText is the length of a title or a body in characters.
const maxText = 200

// shorten returns a text of at most maxText characters, in one line.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText-1]) + "…"
	}
	return text
}
