package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// TestCheckContent checks the data of messages of each type.
func TestCheckContent(t *testing.T) {
	t.Parallel()
	long, tooLong := strings.Repeat("ä", MaxText), strings.Repeat("ä", MaxText+1)
	for name, test := range map[string]struct {
		dataType, data string
		refused        bool
	}{
		"text":                         {"text", `{"text":"a"}`, false},
		"empty text":                   {"text", `{"text":""}`, true},
		"no text":                      {"text", `{}`, true},
		"text that is a number":        {"text", `{"text":1}`, true},
		"longest text":                 {"text", fmt.Sprintf(`{"text":%q}`, long), false},
		"longer text":                  {"text", fmt.Sprintf(`{"text":%q}`, tooLong), true},
		"image":                        {"image", `{}`, false},
		"image with a caption":         {"image", `{"caption":"a"}`, false},
		"caption that is a number":     {"image", `{"caption":1}`, true},
		"longer caption":               {"image", fmt.Sprintf(`{"caption":%q}`, tooLong), true},
		"text of an image is a number": {"image", `{"text":1}`, true},
		"custom":                       {"custom", `{"text":1}`, false},
		"largest custom":               {"custom", fmt.Sprintf(`{"a":%q}`, strings.Repeat("a", MaxCustom-len(`{"a":""}`))), false},
		"larger custom":                {"custom", fmt.Sprintf(`{"a":%q}`, strings.Repeat("a", MaxCustom+1-len(`{"a":""}`))), true},
	} {
		err := CheckContent(test.dataType, freeform.Object(test.data))
		require.Equal(t, test.refused, err != nil, name)
		if err != nil {
			require.Equal(t, codeOf(fail.Validation("")), codeOf(err), name)
		}
	}
}

// TestRequireRead checks that messages are read only in subchannels that exist and are read in the channel.
func TestRequireRead(t *testing.T) {
	t.Parallel()
	own := messaging.MessageFeed{IsOwn: true}
	gone := messaging.MessageFeed{IsOwn: true, DeletedAt: &now}
	for name, test := range map[string]struct {
		feed   *messaging.MessageFeed
		access Access
		want   fail.Code
	}{
		"member":                 {&own, access(messaging.ChannelCommunity, member), 0},
		"stranger":               {&own, access(messaging.ChannelCommunity, public), fail.CodePermissionDenied},
		"no subchannel":          {nil, access(messaging.ChannelCommunity, member), fail.CodeNotFound},
		"deleted subchannel":     {&gone, access(messaging.ChannelCommunity, member), fail.CodeNotFound},
		"feed of another object": {&messaging.MessageFeed{}, access(messaging.ChannelCommunity, member), fail.CodeNotFound},
		"access not resolved":    {&own, Access{}, fail.CodeNotFound},
	} {
		r := &MessageRequest{Request: &service.Request{Caller: confirmed(t)}, Feed: test.feed, Access: test.access}
		require.Equal(t, test.want, codeOf(r.requireRead()), name)
	}
}
