package transfer

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestFilterOfAuditExport checks every parameter of an export: its field, the longest text and one past it.
func TestFilterOfAuditExport(t *testing.T) {
	t.Parallel()
	longest := func(n int) string { return strings.Repeat("é", n) }
	for name, tc := range map[string]struct {
		max  int
		into func(*plazav1.ListAuditEventsRequest, string)
	}{
		"actor":      {200, func(m *plazav1.ListAuditEventsRequest, text string) { m.Actor = text }},
		"operation":  {100, func(m *plazav1.ListAuditEventsRequest, text string) { m.Operation = text }},
		"targetType": {50, func(m *plazav1.ListAuditEventsRequest, text string) { m.TargetType = text }},
		"targetId":   {200, func(m *plazav1.ListAuditEventsRequest, text string) { m.TargetId = text }},
	} {
		want := &plazav1.ListAuditEventsRequest{}
		tc.into(want, longest(tc.max))
		found, err := auditFilter(url.Values{name: {longest(tc.max)}, "other": {"x"}})
		require.NoError(t, err, name)
		require.True(t, proto.Equal(want, found), name)
		for _, wrong := range []string{longest(tc.max + 1), "\xff", "a\x00"} {
			_, err := auditFilter(url.Values{name: {wrong}})
			require.ErrorIs(t, err, fail.Validation(), name)
			require.True(t, strings.HasPrefix(fail.From(err).Details[0], name+": must be text of at most "), name)
		}
	}
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	found, err := auditFilter(url.Values{"region": {"sg"}, "from": {"2026-01-31T12:00:00Z"}, "to": {"2026-01-31T14:00:00+01:00"}})
	require.NoError(t, err)
	require.True(t,
		proto.Equal(&plazav1.ListAuditEventsRequest{Region: "sg", From: timestamppb.New(at), To: timestamppb.New(at.Add(time.Hour))}, found))
	for name, wrong := range map[string]string{"region": "xx", "from": "2026-01-31", "to": "noon"} {
		_, err := auditFilter(url.Values{name: {wrong}})
		require.ErrorIs(t, err, fail.Validation(), name)
		require.Contains(t, fail.From(err).Details[0], name+": must be ")
	}
}
