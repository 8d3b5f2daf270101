package edge

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestMismatch(t *testing.T) {
	t.Parallel()
	post, poll, list := &plazav1.CreatePostRequest{}, &plazav1.CreatePollRequest{}, &plazav1.ListAuditEventsRequest{}
	for name, test := range map[string]struct {
		body    string
		message proto.Message
		want    string
	}{
		"malformed":                   {`{`, post, mismatchUnspecific},
		"a list":                      {`[]`, post, "body: must be an object"},
		"a text":                      {`"x"`, post, "body: must be an object"},
		"null":                        {`null`, post, "body: must be an object"},
		"nothing wrong":               {`{"targetId": "c"}`, post, mismatchUnspecific},
		"unknown fields":              {`{"unknown": 1}`, post, mismatchUnspecific},
		"a number for a text":         {`{"targetId": 1}`, post, "targetId: must be a string"},
		"by the name of the proto":    {`{"target_id": 1}`, post, "targetId: must be a string"},
		"null for a text":             {`{"targetId": null}`, post, mismatchUnspecific},
		"a text for a list":           {`{"tags": "a"}`, post, "tags: must be a list"},
		"an element":                  {`{"tags": ["a", 1]}`, post, "tags[1]: must be a string"},
		"a text for an object":        {`{"data": "a"}`, post, "data: must be an object"},
		"a list for an object":        {`{"data": []}`, post, "data: must be an object"},
		"anything in an object":       {`{"data": {"a": [1, null, {}]}}`, post, mismatchUnspecific},
		"a field of an element":       {`{"answers": [{"data": "a"}, {"data": 1}]}`, poll, "answers[1].data: must be a string"},
		"an element that is a text":   {`{"answers": ["a"]}`, poll, "answers[0]: must be an object"},
		"a number":                    {`{"closedIn": 1.5}`, poll, mismatchUnspecific},
		"a number as text":            {`{"closedIn": "1.5"}`, poll, mismatchUnspecific},
		"a text for a number":         {`{"closedIn": "soon"}`, poll, "closedIn: must be a number"},
		"a boolean for a number":      {`{"closedIn": true}`, poll, "closedIn: must be a number"},
		"a whole number":              {`{"options": {"limit": 5}}`, list, mismatchUnspecific},
		"the largest whole number":    {`{"options": {"limit": 2147483647}}`, list, mismatchUnspecific},
		"a larger one":                {`{"options": {"limit": 2147483648}}`, list, "options.limit: must be a whole number within its bounds"},
		"a part for a whole number":   {`{"options": {"limit": 1.5}}`, list, "options.limit: must be a whole number within its bounds"},
		"an object for a number":      {`{"options": {"limit": {}}}`, list, "options.limit: must be a whole number within its bounds"},
		"a time":                      {`{"from": "2026-11-20T12:00:00Z"}`, list, mismatchUnspecific},
		"a day for a time":            {`{"from": "2026-11-20"}`, list, "from: must be a date-time"},
		"a number for a time":         {`{"from": 1}`, list, "from: must be a date-time"},
		"a known boolean":             {`{"liveChatEnabled": "yes"}`, &plazav1.UpdateRoomRequest{}, "liveChatEnabled: must be true or false"},
		"the first of two mismatches": {`{"tags": "a", "targetId": 1}`, post, "targetId: must be a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, mismatch([]byte(test.body), test.message.ProtoReflect().Descriptor()))
		})
	}
}

func TestInvalidText(t *testing.T) {
	t.Parallel()
	const nul, latin = "a\x00", "\xe9"
	for name, test := range map[string]struct {
		message proto.Message
		want    string
	}{
		"empty":                 {&plazav1.CreatePostRequest{}, ""},
		"every character":       {&plazav1.CreatePostRequest{TargetId: "\x01\u2028é\U0001f600\x7f"}, ""},
		"a NUL":                 {&plazav1.CreatePostRequest{TargetId: nul}, "targetId"},
		"not UTF-8":             {&plazav1.CreatePostRequest{TargetId: latin}, "targetId"},
		"an element":            {&plazav1.CreatePostRequest{Tags: []string{"fine", nul}}, "tags[1]"},
		"a field of an element": {&plazav1.CreatePollRequest{Answers: []*plazav1.NewPollAnswer{{}, {Data: latin}}}, "answers[1].data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, invalidText(test.message.ProtoReflect()))
		})
	}
}

// TestOtherKinds checks values of kinds that no request of the interface has.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	every := everyRoute(t, "/things").input.message
	for body, want := range map[string]string{
		`{"raw": "AQ=="}`: mismatchUnspecific, `{"raw": "!"}`: "raw: must be base64", `{"raw": 1.5}`: "raw: must be base64",
		`{"color": "RED"}`: mismatchUnspecific, `{"color": true}`: "color: must be one of its values",
		`{"labels": {"a": "b"}}`: mismatchUnspecific, `{"labels": {"a": 1}}`: "labels.a: must be a string",
		`{"labels": []}`:                  "labels: must be an object",
		`{"inner": {"labels": {"a": 1}}}`: "inner.labels.a: must be a string", `{"flag": 1}`: "flag: must be true or false",
	} {
		require.Equal(t, want, mismatch([]byte(body), every), body)
	}
	for body, want := range map[string]string{
		`{"labels": {"a": "b"}}`: "", `{"labels": {"a": "\u0000"}}`: "labels.a", `{"labels": {"\u0000": "a"}}`: "labels.(a name)",
		`{"numbers": [0], "inner": {"names": ["a", "\u0000"]}}`: "inner.names[1]",
	} {
		m := dynamicpb.NewMessage(every)
		require.NoError(t, protojson.Unmarshal([]byte(body), m))
		require.Equal(t, want, invalidText(m), body)
	}
}
