//go:build alerts

package live_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/platform/region"
)

// fault is a fault of a network, and the alerts that must fire because of it.
type fault struct {
	name   string
	begin  func(*testing.T, *observed)
	end    func(*testing.T, *observed)
	alerts []string
	// lasting are alerts that must fire as well, whose windows are too long to see them end.
	lasting []string
}

// faults are in groups, one after another. Those of a group begin and end together, because none of them affects the alerts of the others.
// The first two come first, because requests that fail or take long for another reason make their alerts fire, too.
var faults = [][]fault{
	{
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
			[]string{"PlazaErrorBudgetBurnSlow"},
		},
	},
	{
		{
			"transactions take more than half a second",
			func(_ *testing.T, n *observed) {
				n.setFault(func() error { <-time.After(700 * time.Millisecond); return nil }) //nolint:forbidigo // the fault is the delay
			},
			func(_ *testing.T, n *observed) { n.fault.Store(nil) },
			[]string{"PlazaLatencyBudgetBurnFast"},
			[]string{"PlazaLatencyBudgetBurnSlow"},
		},
	},
	{
		{
			"the file of the server keys of every region is damaged",
			func(t *testing.T, n *observed) { t.Helper(); n.damageKeys(t) }, func(t *testing.T, n *observed) { t.Helper(); n.repairKeys(t) },
			[]string{"PlazaKeysFileUnreadable"},
			nil,
		},
		{
			"one of two pods of a region cannot be scraped",
			func(_ *testing.T, n *observed) { n.toSecond.Refuse() }, func(_ *testing.T, n *observed) { n.toSecond.Restore() },
			[]string{"PlazaServerDown"},
			nil,
		},
		{
			"a public host does not respond",
			func(_ *testing.T, n *observed) { n.hosts.set(t0, "us.acme.example") }, func(_ *testing.T, n *observed) { n.hosts.set(t0) },
			[]string{"PlazaHostUnreachable"},
			nil,
		},
		{
			"an event of the outbox cannot be delivered",
			func(t *testing.T, n *observed) { t.Helper(); n.exec(t, undeliverable) }, func(t *testing.T, n *observed) {
				t.Helper()
				n.exec(t, "DELETE FROM outbox WHERE topic = 'unknown-topic'")
			},
			[]string{"PlazaOutboxNotDraining"},
			nil,
		},
		{
			"a transaction does not end that locked a scheduled post",
			func(t *testing.T, n *observed) { t.Helper(); n.lockScheduledPost(t) }, func(t *testing.T, n *observed) { t.Helper(); n.unlock(t) },
			[]string{"PlazaScheduledPostsOverdue"},
			nil,
		},
	},
	{
		{
			"the server keys expire soon",
			func(t *testing.T, n *observed) { t.Helper(); n.expireKeys(t, time.Now().Add(time.Hour)) },
			func(t *testing.T, n *observed) { t.Helper(); n.repairKeys(t) },
			[]string{"PlazaKeysExpiring"},
			nil,
		},
		{
			"a webhook does not answer, and events are given up",
			func(t *testing.T, n *observed) { t.Helper(); n.breakWebhook(t) }, func(t *testing.T, n *observed) { t.Helper(); n.removeWebhook(t) },
			[]string{"PlazaWebhookFailing", "PlazaWebhookDeadLetters"},
			nil,
		},
		{
			"the certificate of a public host ends soon",
			func(_ *testing.T, n *observed) { n.hosts.set(time.Now().Add(24 * time.Hour)) }, func(_ *testing.T, n *observed) { n.hosts.set(t0) },
			[]string{"PlazaHostCertificateExpiring"},
			nil,
		},
		{
			"the operator reports that nothing is well",
			func(_ *testing.T, n *observed) { n.report(nothingIsWell) },
			func(_ *testing.T, n *observed) { n.report(func(*v1alpha1.SocialNetworkStatus) {}) },
			[]string{
				"PlazaKeysNotReady", "PlazaKeysMissing", "PlazaKeyRotationOverdue", "PlazaControlCertificateExpiring", "PlazaSchemaBehind",
				"PlazaMigrationFailing",
				"PlazaModerationNotApplied", "PlazaRowsNotPinned", "PlazaRolloutStopped", "PlazaNetworkNotReady", "PlazaBackupOverdue",
				"PlazaWebhooksNotApplied",
			},
			nil,
		},
	},
	{
		{
			"the server keys have expired",
			func(t *testing.T, n *observed) { t.Helper(); n.expireKeys(t, time.Now().Add(-time.Hour)) },
			func(t *testing.T, n *observed) { t.Helper(); n.repairKeys(t) },
			[]string{"PlazaNoValidKey"},
			nil,
		},
		{
			"a region that serves cannot be scraped",
			func(_ *testing.T, n *observed) { n.toSG.Refuse() }, func(_ *testing.T, n *observed) { n.toSG.Restore() },
			[]string{"PlazaRegionNotScraped"},
			nil,
		},
		{
			"the operator stops",
			func(_ *testing.T, n *observed) {
				n.observe(func(*v1alpha1.SocialNetworkStatus) {}, time.Now().Add(-time.Hour))
			},
			func(_ *testing.T, n *observed) { n.report(func(*v1alpha1.SocialNetworkStatus) {}) },
			[]string{"PlazaOperatorNotReconciling"},
			nil,
		},
	},
	{
		{
			"a home's database does not respond while a user moves there",
			func(t *testing.T, n *observed) {
				t.Helper()
				user := n.NewUser(t, region.US, "mover")
				n.Admin(region.US).Do(t, "POST", "/api/v4/users/"+user.UserID+"/move", map[string]any{"region": "eu"}).OK(t)
				n.toEU.Refuse() // the move takes some seconds
			},
			func(_ *testing.T, n *observed) { n.toEU.Restore() },
			[]string{"PlazaDatabaseUnreachable", "PlazaUserMoveStuck"},
			nil,
		},
	},
	{
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
			nil,
		},
	},
}

// undeliverable inserts an event that no handler accepts.
const undeliverable = `INSERT INTO outbox (home, lane, id, topic, payload, not_before, created_at) VALUES ('us', 0, 'undeliverable', 'unknown-topic', '{}', now(), now())`

// TestFaults causes faults in a network under load, one group after another: their alerts fire, and no longer once the faults
// have ended.
func TestFaults(t *testing.T) {
	n := startNetwork(t)
	p := startPrometheus(t, monitoring.RuleFaster(n.rendered(), factor).Spec, n.targets, n.hosts.scraped(n.rendered()))
	for _, group := range faults {
		requireSilent(t, p, group)
		for _, f := range group {
			f.begin(t, n)
		}
		for _, f := range group {
			t.Run(f.name, func(t *testing.T) {
				p.await(t, slices.Concat(f.alerts, f.lasting), func(firing int) bool { return firing > 0 })
			})
		}
		endAll(t, p, n, group)
	}
}

// requireSilent waits until no alert of the faults fires because of earlier ones, such as a backlog that they left.
func requireSilent(t *testing.T, p *server, group []fault) {
	t.Helper()
	var alerts []string
	for _, f := range group {
		alerts = slices.Concat(alerts, f.alerts, f.lasting)
	}
	p.await(t, alerts, func(firing int) bool { return firing == 0 })
}

// endAll ends faults, and waits until their alerts do not fire.
func endAll(t *testing.T, p *server, n *observed, group []fault) {
	t.Helper()
	var alerts []string
	for _, f := range group {
		if f.end != nil {
			f.end(t, n)
			alerts = append(alerts, f.alerts...)
		}
	}
	p.await(t, alerts, func(firing int) bool { return firing == 0 })
}

// notProven are the alerts that TestFaults does not make fire, and why.
var notProven = map[string]string{
	"PlazaServerRestarting":      "needs servers in processes of their own: make observe FAULT=restarts shows it",
	"PlazaDatabasePoolSaturated": "needs more requests at once than the load sends",
	"PlazaRealtimeDelayed":       "needs a server that is slower than its events",
	"PlazaPlacementNotChecked":   "needs CockroachDB",
	"PlazaRegionEvacuated":       "fires after a day: TestOperatorAlerts of controllers/acceptance",
	"PlazaNetworkPaused":         "fires after a day: TestOperatorAlerts of controllers/acceptance",
}

// TestEveryAlert checks that each alert is in faults or in notProven.
func TestEveryAlert(t *testing.T) {
	var proven []string
	for _, f := range slices.Concat(faults...) {
		proven = slices.Concat(proven, f.alerts, f.lasting)
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
func (p *server) await(t *testing.T, alerts []string, right func(firing int) bool) {
	t.Helper()
	var wrong []string
	require.Eventually(t, func() bool {
		wrong = slices.DeleteFunc(slices.Clone(alerts), func(alert string) bool { return right(p.firing(t, alert)) })
		return len(wrong) == 0
	}, 2*patience, time.Second, "%v", &wrong)
}

// lockScheduledPost makes a scheduled post due that the servers cannot publish, because another transaction has locked it.
func (o *observed) lockScheduledPost(t *testing.T) {
	t.Helper()
	author := o.NewUser(t, region.US, "scheduler")
	r := author.Do(t, http.MethodPost, "/api/v1/posts/schedule", map[string]any{
		"scheduledAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		"postData":    map[string]any{"targetType": "community", "targetId": author.NewCommunity(t), "data": map[string]any{"text": "later"}},
	})
	require.Equal(t, http.StatusCreated, r.Status)
	var err error
	o.locking, err = pgx.Connect(t.Context(), o.DatabaseURL)
	require.NoError(t, err)
	o.exec(t, "UPDATE scheduled_posts SET scheduled_at = now() + INTERVAL '20 seconds', due_at = now() + INTERVAL '20 seconds'")
	for _, statement := range []string{"BEGIN", "SELECT id FROM scheduled_posts FOR UPDATE"} {
		_, err = o.locking.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
}

// unlock ends the transaction that locks a scheduled post.
func (o *observed) unlock(t *testing.T) {
	t.Helper()
	require.NoError(t, o.locking.Close(t.Context()))
}

const webhooksPath = "/api/v3/network-settings/webhooks"

// breakWebhook creates a webhook whose receiver fails. When events of each home wait, the time of those ends that exist then.
func (o *observed) breakWebhook(t *testing.T) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(receiver.Close)
	admin := o.Admin(region.US)
	o.webhook = admin.Do(t, http.MethodPost, webhooksPath, map[string]any{"url": receiver.URL}).OK(t).String(t, "webhook.webhookId")
	require.Eventually(t, func() bool {
		return len(admin.Do(t, http.MethodGet, webhooksPath+"/"+o.webhook+"/deliveries?state=waiting", nil).OK(t).List(t, "deliveries")) > 2
	}, patience, time.Second)
	o.exec(t, "UPDATE webhook_deliveries SET expires_at = now() WHERE state IN ('waiting', 'blocked')")
}

func (o *observed) removeWebhook(t *testing.T) {
	t.Helper()
	o.Admin(region.US).Do(t, http.MethodDelete, webhooksPath+"/"+o.webhook, nil).OK(t)
}

// expireKeys makes the server keys valid until a time.
func (o *observed) expireKeys(t *testing.T, until time.Time) {
	t.Helper()
	var err error
	o.serverKeys, err = os.ReadFile(o.Keys.Server)
	require.NoError(t, err)
	var file struct {
		Keys []map[string]any `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(o.serverKeys, &file))
	require.NotEmpty(t, file.Keys)
	for _, key := range file.Keys {
		key["notAfter"] = until.UTC().Format(time.RFC3339)
	}
	changed, err := json.Marshal(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.Keys.Server, changed, 0o600))
}

// exec executes a statement in the database.
func (o *observed) exec(t *testing.T, statement string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), o.DatabaseURL)
	require.NoError(t, err)
	defer func() { _ = connection.Close(t.Context()) }()
	_, err = connection.Exec(t.Context(), statement)
	require.NoError(t, err)
}

// nothingIsWell changes a status to one with every condition False.
func nothingIsWell(s *v1alpha1.SocialNetworkStatus) {
	past := metav1.NewTime(time.Now().Add(-24 * time.Hour))
	s.Schema, s.ServerKeys.NextRotation, s.Control.CertificatesNotAfter = v1alpha1.SchemaStatus{Current: "699", Target: "700", Attempts: 5},
		&past, &past
	s.Backup, s.MissingKeys = &v1alpha1.BackupStatus{LastSuccess: &past, OverdueAt: &past}, []string{"acme-api-keys"}
	for i := range s.Conditions {
		s.Conditions[i].Status = metav1.ConditionFalse
	}
	for i := range s.Regions {
		s.Regions[i].Conditions = conditions(metav1.ConditionFalse, v1alpha1.RegionUpdated)
	}
}
