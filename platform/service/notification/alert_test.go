package notification

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/notify"
)

func TestWantedOn(t *testing.T) {
	t.Parallel()
	on, off := true, false
	base := alert{names: []string{"text-mention-post.created", "post.created"}, level: levelCommunity, actorRoles: []string{"member"}}
	moded := func(mode string) alert { a := base; a.mode = mode; return a }
	for name, test := range map[string]struct {
		alert  alert
		device notify.NotifiedDevice
		want   bool
	}{
		"no settings":                 {base, notify.NotifiedDevice{}, true},
		"user off":                    {base, notify.NotifiedDevice{UserEnabled: &off, TargetEnabled: &on}, false},
		"target off":                  {base, notify.NotifiedDevice{UserEnabled: &on, TargetEnabled: &off}, false},
		"silent":                      {moded("silent"), notify.NotifiedDevice{TargetEnabled: &on}, false},
		"subscribe without a setting": {moded("subscribe"), notify.NotifiedDevice{}, false},
		"subscribe":                   {moded("subscribe"), notify.NotifiedDevice{TargetEnabled: &on}, true},
		"module off":                  {base, notify.NotifiedDevice{UserEvents: []byte(`{"social": {"off": true}}`)}, false},
		"other module off":            {base, notify.NotifiedDevice{UserEvents: []byte(`{"chat": {"off": true}}`)}, true},
		"general event off":           {base, notify.NotifiedDevice{TargetEvents: []byte(`{"post.created": {"off": true}}`)}, false},
		"specific event on": {
			base,
			notify.NotifiedDevice{TargetEvents: []byte(`{"post.created": {"off": true}, "text-mention-post.created": {}}`)},
			true,
		},
		"event off for the user": {base, notify.NotifiedDevice{UserEvents: []byte(`{"post.created": {"off": true}}`)}, false},
		"from another role":      {base, notify.NotifiedDevice{TargetEvents: []byte(`{"post.created": {"from": ["moderator"]}}`)}, false},
		"from the role": {
			base,
			notify.NotifiedDevice{TargetEvents: []byte(`{"post.created": {"from": ["moderator", "member"]}}`)},
			true,
		},
		"not from the role":            {base, notify.NotifiedDevice{TargetEvents: []byte(`{"post.created": {"notFrom": ["member"]}}`)}, false},
		"module not from the role":     {base, notify.NotifiedDevice{UserEvents: []byte(`{"social": {"notFrom": ["member"]}}`)}, false},
		"module not from another role": {base, notify.NotifiedDevice{UserEvents: []byte(`{"social": {"notFrom": ["moderator"]}}`)}, true},
	} {
		require.Equal(t, test.want, test.alert.wantedOn(test.device), name)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	require.Equal(t, "one line", shorten(" one\n line "))
	long := []rune(shorten(strings.Repeat("ä", 500)))
	require.Len(t, long, maxText)
	require.Equal(t, '…', long[maxText-1])
}

func TestBackOff(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int64]time.Duration{0: firstRetry, 1: firstRetry, 2: 2 * firstRetry, 4: 8 * firstRetry, 100: lastRetry} {
		require.Equal(t, want, backOff(attempts), attempts)
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"post.created": moduleSocial, "conversation-message.created": moduleChat, "channel.joined": moduleChat,
		"video-streaming.didStart": moduleVideo, "chat": moduleChat,
	} {
		require.Equal(t, want, moduleOf(name), name)
	}
}
