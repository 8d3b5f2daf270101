package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
)

// acknowledged returns the moderation settings that the server of a region reports as applied.
func acknowledged(t *testing.T, n *apptest.Network, code region.Code) statusz.Moderation {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.OpsURL(code)+statusz.Path, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var s statusz.Status
	require.NoError(t, json.Unmarshal(body, &s))
	require.Equal(t, s.Moderation.Hash(), s.Moderation.Digest, "both sides compute the same")
	require.Empty(t, s.Moderation.Error)
	return s.Moderation
}

// TestModerationIsAcknowledged pushes settings at each region as the operator does, and waits until every region's
// server reports them as applied.
func TestModerationIsAcknowledged(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.StartAll(t)
	for _, code := range region.All() {
		require.Zero(t, acknowledged(t, n, code).Generation)
	}
	for i, at := range region.All() {
		want := statusz.Moderation{IsWhitelistEnabled: i%2 == 0, IsReportEnabled: i%2 == 1, FlagLimit: 50 + i}
		r := n.Admin(at).Do(t, http.MethodPut, settingsPath, object{
			"isWhitelistEnabled": want.IsWhitelistEnabled, "isReportEnabled": want.IsReportEnabled, "flagLimit": want.FlagLimit, "generation": i + 1,
		}).OK(t)
		require.Equal(t, i+1, r.Int(t, "generation"))
		require.Equal(t, want.Hash(), acknowledged(t, n, at).Digest, "at once where it was pushed")
		for _, code := range region.All() {
			require.Eventually(t, func() bool {
				got := acknowledged(t, n, code)
				return got.Generation == i+1 && got.Digest == want.Hash()
			}, apptest.Patience, time.Millisecond, "%s does not run what was pushed at %s", code, at)
		}
	}

	n.Admin(region.EU).Do(t, http.MethodPut, moderationPath, `{"isReportEnabled":true}`).OK(t)
	drifted := acknowledged(t, n, region.EU)
	require.Equal(t, 3, drifted.Generation, "a change by hand leaves the generation")
	require.Equal(t, 52, drifted.FlagLimit)
	require.True(t, drifted.IsReportEnabled, "and shows in the hash")
}

// TestModerationPushIsAtomic pushes two sets of settings alternately at two regions. At any time every region
// applies one of the two, never a mixture, and in the end all regions apply the same.
func TestModerationPushIsAtomic(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.StartAll(t)
	sets := map[region.Code]object{
		region.US: {"isWhitelistEnabled": true, "isReportEnabled": true, "flagLimit": 11, "generation": 11},
		region.SG: {"isWhitelistEnabled": false, "isReportEnabled": false, "flagLimit": 22, "generation": 22},
	}
	whole := func(m statusz.Moderation) bool {
		return m.FlagLimit == 100 || // before the first push
			(m.FlagLimit == 11 && m.IsWhitelistEnabled && m.IsReportEnabled && m.Generation == 11) ||
			(m.FlagLimit == 22 && !m.IsWhitelistEnabled && !m.IsReportEnabled && m.Generation == 22)
	}
	var pushes sync.WaitGroup
	for code, set := range sets {
		admin := n.Admin(code)
		pushes.Go(func() {
			for range 15 {
				if r := admin.Do(t, http.MethodPut, settingsPath, set); r.Status != http.StatusOK {
					t.Errorf("push at %s: status %d", code, r.Status)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { pushes.Wait(); close(done) }()
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		default:
		}
		for _, code := range region.All() {
			m := acknowledged(t, n, code)
			require.True(t, whole(m), "%s runs a mixture: %+v", code, m)
		}
	}
	require.Eventually(t, func() bool {
		eu := acknowledged(t, n, region.EU)
		return eu.Digest == acknowledged(t, n, region.US).Digest && eu.Digest == acknowledged(t, n, region.SG).Digest
	}, apptest.Patience, 10*time.Millisecond)
}
