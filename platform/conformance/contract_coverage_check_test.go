package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exercisedRows returns how many rows of each kind the exchanges exercise, and the report.
func exercisedRows(t *testing.T, exchanges ...exchange) (map[rowKind]int, coverageReport) {
	t.Helper()
	tables, err := loadContract()
	require.NoError(t, err)
	v := newContractCoverage(tables)
	for _, x := range exchanges {
		v.Observe(x)
	}
	counts := map[rowKind]int{}
	for _, c := range v.Report().Counts {
		if c.Seen > 0 {
			counts[c.Kind] = c.Seen
		}
	}
	return counts, v.Report()
}

// TestContractTables checks the sizes of the tables against the contract, so that no row is lost.
func TestContractTables(t *testing.T) {
	tables, err := loadContract()
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

func TestContractCoverageStartsEmpty(t *testing.T) {
	counts, report := exercisedRows(t)
	require.Empty(t, counts)
	require.False(t, report.Complete())
	require.Contains(t, report.String(), "operations: PUT /api/v3/network-settings/moderation")
}

func putModeration(status int, request, body string) exchange {
	return exchange{
		Method: http.MethodPut, Path: moderationPath, Header: http.Header{"Authorization": {"Bearer x"}}, Request: []byte(request),
		Status: status, Body: []byte(body),
	}
}

func TestContractCoverageOfAnswers(t *testing.T) {
	counts, report := exercisedRows(t, putModeration(200, `{"isReportEnabled":true}`, `{"isReportEnabled":true,"isWhitelistEnabled":false}`))
	require.Equal(t, map[rowKind]int{kindOperations: 1, kindParameters: 2, kindAnswers: 1, kindFields: 1}, counts)
	require.Contains(t, report.Missing, "fields: ModerationConfiguration.isWhitelistEnabled", "false says nothing")
}

func TestContractCoverageReportsWrongTypes(t *testing.T) {
	_, report := exercisedRows(t, putModeration(200, `{}`, `{"isReportEnabled":"true"}`))
	require.Contains(t, report.Missing, "ModerationConfiguration.isReportEnabled: want type b, not true")
}

func TestContractCoverageOfErrors(t *testing.T) {
	for name, c := range map[string]struct {
		exchange exchange
		want     map[rowKind]int
	}{
		"as the contract words it": {
			putModeration(400, `{}`, `{"status":"error","code":400000,"message":"Bad Request."}`),
			map[rowKind]int{kindErrors: 1},
		},
		"another status":  {putModeration(422, `{}`, `{"status":"error","code":400000,"message":"Bad Request."}`), map[rowKind]int{}},
		"another message": {putModeration(400, `{}`, `{"status":"error","code":400000,"message":"Bad"}`), map[rowKind]int{}},
		"another shape":   {putModeration(400, `{}`, `{"code":400000,"message":"Bad Request."}`), map[rowKind]int{}},
		"with a token":    {putModeration(401, `{}`, `{"status":"error","code":400100,"message":"x"}`), map[rowKind]int{}},
		"without a token": {exchange{Method: http.MethodPut, Path: moderationPath, Status: 401}, map[rowKind]int{kindAnonymous: 1}},
		"another path":    {exchange{Method: http.MethodPut, Path: "/plaza.v1.SettingService/X", Status: 401}, map[rowKind]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			counts, _ := exercisedRows(t, c.exchange)
			require.Equal(t, c.want, counts)
		})
	}
}

func TestContractCoverageOfResources(t *testing.T) {
	x := exchange{Method: http.MethodGet, Path: "/api/v3/whatever", Status: 200, Body: []byte(
		`{"data":{"feeds":[{"feedType":"published","targetType":"user","postCount":1.5}]},"results":{"roles":["a name"]}}`)}
	counts, report := exercisedRows(t, x)
	require.Equal(t, map[rowKind]int{kindFields: 2, kindStates: 2}, counts)
	require.Contains(t, report.Missing, "Feed.postCount: want type i, not 1.5")
	x.Status = http.StatusNotFound
	counts, _ = exercisedRows(t, x)
	require.Empty(t, counts)
}

func TestContractCoverageOfLimits(t *testing.T) {
	invalid := []byte(`{"status":"error","code":500000,"message":"Parameters validation error!"}`)
	exceeded := []byte(`{"status":"error","code":400300,"message":"Number of flag already exceed."}`)
	get := func(path, query string, status int, body []byte) exchange {
		return exchange{Method: http.MethodGet, Path: path, Query: query, Status: status, Body: body}
	}
	flag := func(status int, body []byte) exchange {
		return exchange{Method: http.MethodPost, Path: "/api/v3/posts/p/flag", Status: status, Body: body}
	}
	for name, c := range map[string]struct {
		exchanges []exchange
		limits    int
	}{
		"at the edge":          {[]exchange{get("/api/v1/me/following-feeds", "limit=100", 200, nil)}, 1},
		"within":               {[]exchange{get("/api/v1/me/following-feeds", "limit=50", 200, nil)}, 0},
		"one past":             {[]exchange{get("/api/v1/me/following-feeds", "limit=101", 422, invalid)}, 1},
		"one past, accepted":   {[]exchange{get("/api/v1/me/following-feeds", "limit=101", 200, nil)}, 0},
		"at the edge, refused": {[]exchange{get("/api/v1/me/following-feeds", "limit=100", 422, invalid)}, 0},
		"five elements": {[]exchange{get("/api/v3/user-feeds/u",
			"dataTypes[]=a&dataTypes[]=a&dataTypes[]=a&dataTypes[]=a&dataTypes[]=a", 422, invalid)}, 1},
		"an unknown id": {[]exchange{{
			Method: http.MethodPost, Path: "/api/v1/pinned-posts/global/" + strings.Repeat("x", 900),
			Status: 404,
		}}, 1},
		"one flag too many":        {[]exchange{flag(200, []byte(`{"posts":[{"flagCount":2}]}`)), flag(403, exceeded)}, 2},
		"one flag, of nothing yet": {[]exchange{flag(403, exceeded)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			counts, _ := exercisedRows(t, c.exchanges...)
			require.Equal(t, c.limits, counts[kindLimits])
		})
	}
}
