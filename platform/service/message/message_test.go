package message

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestCheckContent(t *testing.T) {
	long, tooLong := strings.Repeat("ä", chat.MaxText), strings.Repeat("ä", chat.MaxText+1)
	big := strings.Repeat("x", chat.MaxCustom)
	for _, c := range []struct {
		name, dataType string
		data           map[string]any
		want           string // the start of the error
	}{
		{"text", "text", map[string]any{"text": "a"}, ""},
		{"no text", "text", nil, "data.text:"},
		{"empty text", "text", map[string]any{"text": ""}, "data.text:"},
		{"text is a number", "text", map[string]any{"text": 1.0}, "data.text:"},
		{"longest text", "text", map[string]any{"text": long}, ""},
		{"too long", "text", map[string]any{"text": tooLong}, "data.text:"},
		{"caption", "image", map[string]any{"caption": long}, ""},
		{"no caption", "image", nil, ""},
		{"caption is null", "image", map[string]any{"caption": nil}, "data.caption:"},
		{"caption is too long", "image", map[string]any{"caption": tooLong}, "data.caption:"},
		{"other fields", "text", map[string]any{"text": "a", "n": 1.0}, ""},
		{"large text with other fields", "text", map[string]any{"text": long, "n": strings.Repeat("x", chat.MaxCustom-100)}, ""},
		{"custom", "custom", map[string]any{"text": 1.0}, ""},
		{"custom is too large", "custom", map[string]any{"text": big}, "data:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := structpb.NewStruct(c.data)
			require.NoError(t, err)
			err = chat.CheckContent(c.dataType, freeform.Of(data))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, fail.KindValidation, fail.From(err).Kind)
			require.True(t, strings.HasPrefix(fail.From(err).Details[0], c.want), fail.From(err).Details[0])
		})
	}
}

func TestValidateDraft(t *testing.T) {
	draftOf := func(dataType, fileID string) *draft {
		data, err := structpb.NewStruct(map[string]any{"text": "a"})
		require.NoError(t, err)
		return &draft{CreateMessageRequest: &plazav1.CreateMessageRequest{FileId: fileID, Data: data}, dataType: dataType}
	}
	for dataType := range fileKinds {
		require.Error(t, draftOf(dataType, "").validate(), dataType)
		require.NoError(t, draftOf(dataType, "f").validate(), dataType)
	}
	require.NoError(t, draftOf("text", "").validate())
	require.NoError(t, draftOf("custom", "").validate())
}

func TestListOf(t *testing.T) {
	parent := ""
	for _, c := range []struct {
		name string
		req  *plazav1.ListMessagesRequest
		back bool
		want messaging.MessageList
	}{
		{"default", &plazav1.ListMessagesRequest{}, false, messaging.MessageList{EveryLevel: true, Desc: true, After: firstSegment(true)}},
		{
			"oldest first", &plazav1.ListMessagesRequest{Options: &plazav1.MessageListOptions{SortBy: "segmentAsc"}}, false,
			messaging.MessageList{EveryLevel: true, After: 0},
		},
		{"top level", &plazav1.ListMessagesRequest{ParentId: &parent}, false, messaging.MessageList{Desc: true, After: firstSegment(true)}},
		{"backward", &plazav1.ListMessagesRequest{}, true, messaging.MessageList{EveryLevel: true, After: 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cursor := page.Cursor{Limit: 3, Back: c.back}
			if c.back {
				cursor.Time, _, cursor.ID = position(messaging.Message{Segment: 5, FeedID: region.NewID(region.EU)})
			}
			c.want.Limit, c.want.Deleted, c.want.Flagged = 4, core.DeletedAny, core.FlaggedAny
			require.Equal(t, c.want, listOf(c.req, cursor))
		})
	}
}

func TestTokenBeyond(t *testing.T) {
	feed := region.NewID(region.EU)
	rows := []messaging.Message{{FeedID: feed, Segment: 3}, {FeedID: feed, Segment: 4}}
	stops := positions(feed, []core.Position{{Segment: 9}})
	for name, c := range map[string]struct {
		rows  []messaging.Message
		more  bool
		stops []core.Position
		want  int64 // 0 for no token
	}{
		"the end":          {rows, false, nil, 0},
		"nothing":          {nil, false, nil, 0},
		"more":             {rows, true, nil, 4},
		"a stop":           {rows, false, stops, 9},
		"a stop after all": {nil, false, stops, 9},
		"more and a stop":  {rows, true, stops, 4},
	} {
		for _, back := range []bool{false, true} {
			token := tokenBeyond(page.Cursor{Limit: 2, Back: back}, c.rows, c.more, c.stops)
			if c.want == 0 {
				require.Empty(t, token, name)
				continue
			}
			cursor, err := page.ParseToken(token)
			require.NoError(t, err, name)
			require.Equal(t, page.Cursor{Limit: 2, Back: back, Time: time.UnixMicro(c.want).UTC(), ID: feed}, cursor, name)
		}
	}
}
