package rollout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

func TestFailureOf(t *testing.T) {
	report := func(total, failed int64, age time.Duration) stage.ServerReport {
		return stage.ServerReport{Status: statusz.Status{StartedAt: start.Add(-age), Requests: &statusz.Requests{Total: total, Failed: failed}}}
	}
	for name, tc := range map[string]struct {
		reports []stage.ServerReport
		percent *int32
		want    string
	}{
		"no servers":                    {},
		"servers of an earlier version": {reports: []stage.ServerReport{{Status: statusz.Status{StartedAt: start}}}},
		"few failures":                  {reports: []stage.ServerReport{report(9, 9, 0)}},
		"at the limit":                  {reports: []stage.ServerReport{report(100, 4, 0), report(100, 6, 0)}},
		"above it, in all together": {
			reports: []stage.ServerReport{report(100, 5, 0), report(100, 6, 0)},
			want:    "11 of 200 requests to the pods of us have failed since they started, more than 5%",
		},
		"a limit of the spec": {reports: []stage.ServerReport{report(200, 11, 0)}, percent: new(int32(10))},
		"no failures allowed": {
			reports: []stage.ServerReport{report(100_000, 10, 0)}, percent: new(int32(0)),
			want: "10 of 100000 requests to the pods of us have failed since they started, more than 0%",
		},
		"turned off":               {reports: []stage.ServerReport{report(100, 100, 0)}, percent: new(int32(100))},
		"a server of just one day": {reports: []stage.ServerReport{report(100, 100, 24*time.Hour)}},
		"an outage long before":    {reports: []stage.ServerReport{report(100, 100, 25*time.Hour)}},
		"a server that does not respond": {reports: []stage.ServerReport{{
			Err:    errTest,
			Status: statusz.Status{StartedAt: start, Requests: &statusz.Requests{Total: 100, Failed: 100}},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			sn := &v1alpha1.SocialNetwork{}
			sn.Spec.Rollout.MaxErrorPercent = tc.percent
			r := &run{pass: &stage.Pass{SN: sn, Now: start, Reports: map[v1alpha1.RegionCode][]stage.ServerReport{"us": tc.reports}}}
			require.Equal(t, tc.want, r.failureOf(&region{spec: &v1alpha1.Region{Code: "us"}}))
		})
	}
}

// TestFailing checks which regions hold the updates of the others while their requests fail.
func TestFailing(t *testing.T) {
	for name, tc := range map[string]struct {
		state      state
		evacuateTo v1alpha1.RegionCode
		want       v1alpha1.Reason
	}{
		"updated":           {state: complete, want: v1alpha1.ReasonErrorRateHigh},
		"updated just now":  {state: soaking, want: v1alpha1.ReasonErrorRateHigh},
		"not updated":       {state: outdated},
		"not ready":         {state: rolling},
		"served by another": {state: complete, evacuateTo: "eu"},
	} {
		t.Run(name, func(t *testing.T) {
			failing := stage.ServerReport{Status: statusz.Status{StartedAt: start, Requests: &statusz.Requests{Total: 100, Failed: 50}}}
			r := &run{
				pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, Now: start, Reports: map[v1alpha1.RegionCode][]stage.ServerReport{"us": {failing}}},
				regions: []*region{
					{spec: &v1alpha1.Region{Code: "sg"}, state: outdated},
					{spec: &v1alpha1.Region{Code: "us", EvacuateTo: tc.evacuateTo}, state: tc.state},
				},
			}
			require.Equal(t, tc.want, r.failing().Reason)
			if tc.want != "" {
				require.Equal(t, stage.Hold{
					Reason: tc.want, Again: 15 * time.Second,
					Message: "50 of 100 requests to the pods of us have failed since they started, more than 5%; " +
						"no further region is updated. Return to the earlier image, or wait until the rate is lower.",
				}, r.failing())
			}
		})
	}
}

type testError string

func (e testError) Error() string { return string(e) }

const errTest = testError("it does not respond")
