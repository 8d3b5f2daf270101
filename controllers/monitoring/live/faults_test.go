package live_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/platform/region"
)

// factor is by how much the windows and durations of the alerts are shorter than those of a network.
const factor = 100

// fault is a fault of a network, and the alerts that must fire because of it.
type fault struct {
	name   string
	begin  func(*testing.T, *observed)
	end    func(*testing.T, *observed)
	alerts []string
}

var faults = []fault{
	{
		"the file of the server keys of every region is damaged",
		func(t *testing.T, n *observed) { t.Helper(); n.damageKeys(t) }, func(t *testing.T, n *observed) { t.Helper(); n.repairKeys(t) },
		[]string{"PlazaKeysFileUnreadable"},
	},
	{
		"every second transaction fails",
		func(_ *testing.T, n *observed) {
			turn := make(chan struct{}, 1)
			n.setFault(func() error {
				select {
				case turn <- struct{}{}:
					return nil
				case <-turn:
					return errInjected
				}
			})
		},
		func(_ *testing.T, n *observed) { n.fault.Store(nil) },
		[]string{"PlazaErrorBudgetBurnFast"},
	},
	{
		"transactions take more than half a second",
		func(_ *testing.T, n *observed) {
			n.setFault(func() error { <-time.After(700 * time.Millisecond); return nil }) //nolint:forbidigo // the fault is the delay
		},
		func(_ *testing.T, n *observed) { n.fault.Store(nil) },
		[]string{"PlazaLatencyBudgetBurnFast"},
	},
	{
		"the server of a region stops",
		func(_ *testing.T, n *observed) {
			n.Stop(region.SG)
			n.report(func(s *v1alpha1.SocialNetworkStatus) {
				s.Regions[2].Conditions = conditions(metav1.ConditionFalse, v1alpha1.RegionAvailable)
			})
		},
		nil,
		[]string{"PlazaRegionDown"},
	},
	{
		"the operator reports that nothing is well",
		func(_ *testing.T, n *observed) { n.report(nothingIsWell) },
		func(_ *testing.T, n *observed) { n.report(func(*v1alpha1.SocialNetworkStatus) {}) },
		[]string{
			"PlazaKeysNotReady", "PlazaKeyRotationOverdue", "PlazaControlCertificateExpiring", "PlazaSchemaBehind", "PlazaMigrationFailing",
			"PlazaModerationNotApplied", "PlazaRowsNotPinned", "PlazaRolloutStopped", "PlazaNetworkNotReady", "PlazaBackupOverdue",
		},
	},
	{
		"the operator stops",
		func(_ *testing.T, n *observed) {
			n.observe(func(*v1alpha1.SocialNetworkStatus) {}, time.Now().Add(-time.Hour))
		},
		func(_ *testing.T, n *observed) { n.report(func(*v1alpha1.SocialNetworkStatus) {}) },
		[]string{"PlazaOperatorNotReconciling"},
	},
}

// TestFaults causes faults in a network under load, one after another: their alerts fire, and no longer once the fault
// has ended.
func TestFaults(t *testing.T) {
	n := startNetwork(t)
	p := startPrometheus(t, monitoring.RuleFaster(n.rendered(), factor).Spec, n.targets)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			for _, alert := range f.alerts {
				require.Zero(t, p.firing(t, alert), "%s fires before the fault", alert)
			}
			f.begin(t, n)
			p.await(t, f.alerts, func(firing int) bool { return firing > 0 })
			if f.end != nil {
				f.end(t, n)
				p.await(t, f.alerts, func(firing int) bool { return firing == 0 })
			}
		})
	}
}

// notProven are the alerts that TestFaults does not make fire, and why.
var notProven = map[string]string{
	"PlazaErrorBudgetBurnSlow":   "needs a fault of hours, or is not wanted while PlazaErrorBudgetBurnFast fires",
	"PlazaLatencyBudgetBurnSlow": "like PlazaErrorBudgetBurnSlow",
	"PlazaRegionNotScraped":      "needs a region that the operator can reach and Prometheus cannot",
	"PlazaServerDown":            "needs two servers in a region",
	"PlazaServerRestarting":      "needs servers in processes of their own",
	"PlazaDatabaseUnreachable":   "needs a database behind a proxy",
	"PlazaDatabasePoolSaturated": "needs statements that take long",
	"PlazaNoValidKey":            "needs keys that expire",
	"PlazaKeysExpiring":          "needs keys that expire",
	"PlazaPlacementNotChecked":   "needs CockroachDB",
	"PlazaOutboxNotDraining":     "needs a home that is away for five minutes",
	"PlazaScheduledPostsOverdue": "needs a job that fails for five minutes",
	"PlazaUserMoveStuck":         "needs a move that takes six hours",
	"PlazaRealtimeDelayed":       "needs a server that is slower than its events",
	"PlazaRegionEvacuated":       "fires after a day, and here after a quarter of an hour",
	"PlazaNetworkPaused":         "needs a paused network, in which other alerts are silent",
}

// TestEveryAlert checks that each alert is in faults or in notProven.
func TestEveryAlert(t *testing.T) {
	var proven []string
	for _, f := range faults {
		proven = append(proven, f.alerts...)
	}
	known := map[string]bool{}
	for _, group := range monitoring.Rule((&observed{sn: socialNetwork()}).rendered()).Spec.Groups {
		for _, r := range group.Rules {
			if r.Alert != "" {
				known[r.Alert] = true
				require.NotEqual(t, slices.Contains(proven, r.Alert), notProven[r.Alert] != "", r.Alert)
			}
		}
	}
	for name := range notProven {
		require.True(t, known[name], name)
	}
}

// await waits until the number of firing alerts is right for each name.
func (p *prometheus) await(t *testing.T, alerts []string, right func(firing int) bool) {
	t.Helper()
	var wrong []string
	require.Eventually(t, func() bool {
		wrong = slices.DeleteFunc(slices.Clone(alerts), func(alert string) bool { return right(p.firing(t, alert)) })
		return len(wrong) == 0
	}, 2*patience, time.Second, "%v", &wrong)
}

func (o *observed) setFault(f func() error) { o.fault.Store(&f) }

func (o *observed) report(change func(*v1alpha1.SocialNetworkStatus)) {
	o.observe(change, time.Now().Add(time.Hour))
}

func (o *observed) damageKeys(t *testing.T) {
	t.Helper()
	var err error
	o.serverKeys, err = os.ReadFile(o.Keys.Server)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.Keys.Server, []byte("damaged"), 0o600))
}

func (o *observed) repairKeys(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(o.Keys.Server, o.serverKeys, 0o600))
}

// nothingIsWell changes a status to one with every condition False.
func nothingIsWell(s *v1alpha1.SocialNetworkStatus) {
	past := metav1.NewTime(time.Now().Add(-24 * time.Hour))
	s.Schema, s.ServerKeys.NextRotation, s.Control.CertificatesNotAfter = v1alpha1.SchemaStatus{Current: "699", Target: "700", Attempts: 5}, &past, &past
	s.Backup = &v1alpha1.BackupStatus{LastSuccess: &past, OverdueAt: &past}
	for i := range s.Conditions {
		s.Conditions[i].Status = metav1.ConditionFalse
	}
	for i := range s.Regions {
		s.Regions[i].Conditions = conditions(metav1.ConditionFalse, v1alpha1.RegionUpdated)
	}
}
