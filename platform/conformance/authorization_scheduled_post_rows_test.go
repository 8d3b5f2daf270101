package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func scheduleRows() []row {
	data := func(g *fixture) object {
		return object{
			"scheduledAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
			"postData":    object{"targetType": "community", "targetId": g.open, "data": object{"text": "x"}},
		}
	}
	create := func(_ *testing.T, g *fixture) object { return data(g) }
	made := func(more func(g *fixture) object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			r := g.author.Do(t, http.MethodPost, "/api/v1/posts/schedule", data(g))
			require.Less(t, r.Status, 300, "%s", r.Short())
			return with(object{"id": r.String(t, "data.id")}, more(g))
		}
	}
	authorOnly := codesFor(400400, 400400, 400400, 400400, 0)
	return []row{
		{procedure: "ScheduledPostService/SchedulePost", request: create, want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "ScheduledPostService/ListScheduledPosts", request: noFields, want: everyone},
		{procedure: "ScheduledPostService/UpdateScheduledPost", request: made(data), want: authorOnly},
		{procedure: "ScheduledPostService/CancelScheduledPost", request: made(func(*fixture) object { return nil }), want: authorOnly},
	}
}
