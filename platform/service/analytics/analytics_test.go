package analytics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestTimesOfViews(t *testing.T) {
	t.Parallel()
	noon := servicetest.Noon
	view := func(contentType, id string, at time.Time) *plazav1.Activity {
		return &plazav1.Activity{ActivityType: "view", ContentType: contentType, ContentId: id, Timestamp: timestamppb.New(at)}
	}
	posts, stories, err := timesOf([]*plazav1.Activity{
		view("post", "p", noon.Add(-time.Hour)),
		view("post", "p", noon.Add(-time.Minute+1500*time.Microsecond)),
		view("post", "q", noon.Add(time.Hour)),
		view("story", "s", noon),
		{ActivityType: "view", ContentType: "story", ContentId: "s"},
		{ActivityType: "click", ContentType: "post", ContentId: "p"},
		view("comment", "p", noon),
	}, noon)
	require.NoError(t, err)
	require.Equal(t, map[string][]time.Time{
		"p": {noon.Add(-time.Hour), noon.Add(-time.Minute + time.Millisecond)},
		"q": {noon}, // the clock of the client is ahead
	}, posts)
	require.Equal(t, map[string][]time.Time{"s": {noon, noon}}, stories)
}

func TestInvalidTimeOfView(t *testing.T) {
	t.Parallel()
	for _, stamp := range []*timestamppb.Timestamp{{Nanos: -1}, {Seconds: 1 << 60}} {
		_, _, err := timesOf([]*plazav1.Activity{{ActivityType: "view", ContentType: "post", ContentId: "p", Timestamp: stamp}}, servicetest.Noon)
		require.Equal(t, fail.KindValidation, fail.From(err).Kind)
	}
}
