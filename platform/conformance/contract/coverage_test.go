package contract_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/conformance/contract"
)

func newCoverage(t *testing.T) *contract.Coverage {
	t.Helper()
	tables, err := contract.Load()
	require.NoError(t, err)
	return contract.NewCoverage(tables)
}

// seen returns how many rows of each kind the exchanges exercise.
func seen(t *testing.T, exchanges ...apptest.Exchange) (map[contract.Kind]int, contract.Report) {
	t.Helper()
	v := newCoverage(t)
	for _, x := range exchanges {
		v.Observe(x)
	}
	counts := map[contract.Kind]int{}
	for _, c := range v.Report().Counts {
		if c.Seen > 0 {
			counts[c.Kind] = c.Seen
		}
	}
	return counts, v.Report()
}

// TestTables checks the sizes of the tables against the contract, so that no row is lost.
func TestTables(t *testing.T) {
	tables, err := contract.Load()
	require.NoError(t, err)
	require.Len(t, tables.Operations, 14)
	require.Len(t, tables.Limits, 12, "those of the table, with flags of posts and of comments apart, and that of storyId")
	fields := map[string]int{}
	for name, resource := range tables.Resources {
		fields[name] = len(resource)
	}
	require.Equal(t, map[string]int{
		"Category":                7,
		"Comment":                 41,
		"Community":               32,
		"CommunityUser":           14,
		"Feed":                    7,
		"File":                    18,
		"ModerationConfiguration": 2,
		"Pin":                     5,
		"PinTarget":               3,
		"Poll":                    19,
		"Post":                    58,
		"Role":                    6,
		"Room":                    47,
		"ScheduledPost":           12,
		"Story":                   37,
		"User":                    23,
		"UserAddedEvent":          8,
		"UserEntityMarker":        7,
		"UserFeedMarker":          10,
		"UserMarker":              6,
		"VideoStreaming":          71,
	}, fields)
	for key, values := range tables.States {
		resource, _, _ := strings.Cut(key, ".")
		require.Contains(t, tables.Resources, resource, key)
		require.NotEmpty(t, values, key)
	}
	for _, op := range tables.Operations {
		require.NotEmpty(t, op.Answer, op.Name)
	}
}

func TestNothingIsSeenAtFirst(t *testing.T) {
	counts, report := seen(t)
	require.Empty(t, counts)
	require.False(t, report.Complete())
	require.Contains(t, report.String(), "operations: PUT /api/v3/network-settings/moderation")
}

const moderation = "/api/v3/network-settings/moderation"

func put(status int, request, body string) apptest.Exchange {
	return apptest.Exchange{
		Method: http.MethodPut, Path: moderation, Header: http.Header{"Authorization": {"Bearer x"}}, Request: []byte(request), Status: status, Body: []byte(body),
	}
}

func TestAnswerIsSeen(t *testing.T) {
	counts, report := seen(t, put(200, `{"isReportEnabled":true}`, `{"isReportEnabled":true,"isWhitelistEnabled":false}`))
	require.Equal(t, map[contract.Kind]int{contract.Operations: 1, contract.Parameters: 2, contract.Answers: 1, contract.Fields: 1}, counts)
	require.Contains(t, report.Missing, "fields: ModerationConfiguration.isWhitelistEnabled", "false says nothing")
}

func TestWrongTypeIsTold(t *testing.T) {
	_, report := seen(t, put(200, `{}`, `{"isReportEnabled":"true"}`))
	require.Contains(t, report.Missing, "ModerationConfiguration.isReportEnabled: want type b, not true")
}

func TestRefusalsAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		exchange apptest.Exchange
		want     map[contract.Kind]int
	}{
		"as the contract words it": {put(400, `{}`, `{"status":"error","code":400000,"message":"Bad Request."}`), map[contract.Kind]int{contract.Errors: 1}},
		"another status":           {put(422, `{}`, `{"status":"error","code":400000,"message":"Bad Request."}`), map[contract.Kind]int{}},
		"another message":          {put(400, `{}`, `{"status":"error","code":400000,"message":"Bad"}`), map[contract.Kind]int{}},
		"another shape":            {put(400, `{}`, `{"code":400000,"message":"Bad Request."}`), map[contract.Kind]int{}},
		"with a token":             {put(401, `{}`, `{"status":"error","code":400100,"message":"x"}`), map[contract.Kind]int{}},
		"without a token":          {apptest.Exchange{Method: http.MethodPut, Path: moderation, Status: 401}, map[contract.Kind]int{contract.Anonymous: 1}},
		"another path":             {apptest.Exchange{Method: http.MethodPut, Path: "/plaza.v1.SettingService/X", Status: 401}, map[contract.Kind]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			counts, _ := seen(t, c.exchange)
			require.Equal(t, c.want, counts)
		})
	}
}

func TestResourcesAreFoundAnywhere(t *testing.T) {
	x := apptest.Exchange{Method: http.MethodGet, Path: "/api/v3/whatever", Status: 200, Body: []byte(
		`{"data":{"feeds":[{"feedType":"published","targetType":"user","postCount":1.5}]},"results":{"roles":["a name"]}}`)}
	counts, report := seen(t, x)
	require.Equal(t, map[contract.Kind]int{contract.Fields: 2, contract.States: 2}, counts)
	require.Contains(t, report.Missing, "Feed.postCount: want type i, not 1.5")
	x.Status = http.StatusNotFound
	counts, _ = seen(t, x)
	require.Empty(t, counts)
}

func TestLimitsAreSeen(t *testing.T) {
	invalid := []byte(`{"status":"error","code":500000,"message":"Parameters validation error!"}`)
	exceeded := []byte(`{"status":"error","code":400300,"message":"Number of flag already exceed."}`)
	get := func(path, query string, status int, body []byte) apptest.Exchange {
		return apptest.Exchange{Method: http.MethodGet, Path: path, Query: query, Status: status, Body: body}
	}
	flag := func(status int, body []byte) apptest.Exchange {
		return apptest.Exchange{Method: http.MethodPost, Path: "/api/v3/posts/p/flag", Status: status, Body: body}
	}
	for name, c := range map[string]struct {
		exchanges []apptest.Exchange
		limits    int
	}{
		"at the edge":              {[]apptest.Exchange{get("/api/v1/me/following-feeds", "limit=100", 200, nil)}, 1},
		"within":                   {[]apptest.Exchange{get("/api/v1/me/following-feeds", "limit=50", 200, nil)}, 0},
		"one past":                 {[]apptest.Exchange{get("/api/v1/me/following-feeds", "limit=101", 422, invalid)}, 1},
		"one past, accepted":       {[]apptest.Exchange{get("/api/v1/me/following-feeds", "limit=101", 200, nil)}, 0},
		"at the edge, refused":     {[]apptest.Exchange{get("/api/v1/me/following-feeds", "limit=100", 422, invalid)}, 0},
		"five elements":            {[]apptest.Exchange{get("/api/v3/user-feeds/u", "dataTypes[]=a&dataTypes[]=a&dataTypes[]=a&dataTypes[]=a&dataTypes[]=a", 422, invalid)}, 1},
		"an unknown id":            {[]apptest.Exchange{{Method: http.MethodPost, Path: "/api/v1/pinned-posts/global/" + strings.Repeat("x", 900), Status: 404}}, 1},
		"one flag too many":        {[]apptest.Exchange{flag(200, []byte(`{"posts":[{"flagCount":2}]}`)), flag(403, exceeded)}, 2},
		"one flag, of nothing yet": {[]apptest.Exchange{flag(403, exceeded)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			counts, _ := seen(t, c.exchanges...)
			require.Equal(t, c.limits, counts[contract.Limits])
		})
	}
}
