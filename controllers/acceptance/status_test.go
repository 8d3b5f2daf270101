package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// events returns the reason and the note of each event in the namespace, repeated by its count.
func (o *operator) events() []string {
	o.t.Helper()
	var list eventsv1.EventList
	require.NoError(o.t, o.client.List(context.Background(), &list, client.InNamespace(o.namespace)))
	var all []string
	for _, e := range list.Items {
		times := 1
		if e.Series != nil {
			times = int(e.Series.Count)
		}
		for range times {
			all = append(all, e.Type+" "+e.Reason+" "+e.Note)
		}
	}
	return all
}

// count returns the number of events with a reason.
func (o *operator) count(reason v1alpha1.Reason) (n int) {
	o.t.Helper()
	for _, e := range o.events() {
		var kind, why string
		_, _ = fmt.Sscan(e, &kind, &why)
		if why == string(reason) {
			n++
		}
	}
	return n
}

// happened waits for the number of events with a reason, and checks that no more follow.
func (o *operator) happened(want int, reason v1alpha1.Reason) {
	o.t.Helper()
	o.eventually("the events of "+string(reason), func() string { return notEqual(strconv.Itoa(o.count(reason)), strconv.Itoa(want)) })
	o.settle("acme")
	require.Equal(o.t, want, o.count(reason), "%s: %v", reason, o.events())
}

// TestOneEventForEachChange brings up a network, reconciles it repeatedly, and counts events.
func TestOneEventForEachChange(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	o.clock.add(time.Hour)
	for range 4 {
		o.pass("acme")
	}
	for reason, want := range map[v1alpha1.Reason]int{
		v1alpha1.ReasonMigrating:    2, // SchemaMigrated, and therefore Ready
		v1alpha1.ReasonMigrated:     1,
		v1alpha1.ReasonAllHolds:     1,
		v1alpha1.ReasonServing:      1,
		v1alpha1.ReasonKeysVerified: 1,
		v1alpha1.ReasonKeysCreated:  7, // the identity, two shared Secrets, the authority, and one per region
		v1alpha1.ReasonKeyActivated: 3,
		v1alpha1.ReasonInstalled:    1,
	} {
		o.happened(want, reason)
	}
	sn := get(o, &v1alpha1.SocialNetwork{}, "acme")
	d := o.deployment("acme", "eu")
	setStatus(o, d, lost)
	o.condition("acme", v1alpha1.ConditionReady, "False", v1alpha1.ReasonNotServing)
	o.setReady(d)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.happened(2, v1alpha1.ReasonNotServing)
	o.happened(2, v1alpha1.ReasonAllHolds)
	require.Equal(t, sn.Generation, get(o, &v1alpha1.SocialNetwork{}, "acme").Generation)
}

// TestGenerationIsObserved checks the observed generation of the status, of each condition, and of those of the
// regions.
func TestGenerationIsObserved(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Moderation.FlagLimit = 33 })
	o.condition("acme", v1alpha1.ConditionModerationApplied, "True", v1alpha1.ReasonModerationRuns)
	sn := get(o, &v1alpha1.SocialNetwork{}, "acme")
	require.Equal(t, int64(2), sn.Generation)
	require.Equal(t, sn.Generation, sn.Status.ObservedGeneration)
	all := sn.Status.Conditions
	require.Len(t, all, 14)
	for _, region := range sn.Status.Regions {
		require.Len(t, region.Conditions, 4)
		all = append(all, region.Conditions...)
	}
	for _, c := range all {
		require.Equal(t, sn.Generation, c.ObservedGeneration, c.Type)
		require.NotEmpty(t, c.Reason, c.Type)
		require.NotEmpty(t, c.Message, c.Type)
	}
}

// TestPrintedColumns checks the output of kubectl get sn.
func TestPrintedColumns(t *testing.T) {
	o := start(t)
	o.apply(sample(t, "socialnetwork"))
	o.condition("acme", v1alpha1.ConditionReady, "False", v1alpha1.ReasonMigrating)
	row := o.printed("acme")
	require.Equal(t, "False", row["Ready"])
	require.Equal(t, "0/3", row["Regions"])
	require.Equal(t, "Migrating", row["Reason"])
	o.migrate("acme")
	o.serve("acme", "us")
	o.serve("acme", "eu")
	o.condition("acme", v1alpha1.ConditionReady, "False", v1alpha1.ReasonProgressing)
	o.eventually("two regions", func() string { return notEqual(fmt.Sprint(o.printed("acme")["Regions"]), "2/3") })
	o.serve("acme", "sg")
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.condition("acme", v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
	require.Equal(t, []string{"Name", "Ready", "Regions", "Version", "Schema", "Alerts", "Paused", "Age"}, o.columns())
	row = o.printed("acme")
	age := row["Age"]
	delete(row, "Age")
	require.NotEmpty(t, age)
	require.Equal(t, map[string]any{
		"Name": "acme", "Ready": "True", "Regions": "3/3", "Version": "v1", "Schema": "92", "Alerts": "True", "Paused": false,
		"Reason": "AllHolds", "Message": "Every region serves the spec.",
	}, row)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Paused = true })
	require.Equal(t, true, o.printed("acme")["Paused"])
}

// columns are the printer columns of kubectl get sn, in order.
func (o *operator) columns() (names []string) {
	o.t.Helper()
	for _, column := range o.table("").ColumnDefinitions {
		if column.Priority == 0 {
			names = append(names, column.Name)
		}
	}
	return names
}

// printed returns a network as kubectl prints it.
func (o *operator) printed(name string) map[string]any {
	o.t.Helper()
	table := o.table("/" + name)
	require.Len(o.t, table.Rows, 1)
	row := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		row[column.Name] = table.Rows[0].Cells[i]
	}
	return row
}

// table requests the networks of the namespace, or one of them, as a table.
func (o *operator) table(path string) *metav1.Table {
	o.t.Helper()
	set, err := kubernetes.NewForConfig(env.Config)
	require.NoError(o.t, err)
	table := &metav1.Table{}
	text, err := set.RESTClient().Get().AbsPath("/apis/plaza.social/v1alpha1/namespaces/"+o.namespace+"/socialnetworks"+path).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(context.Background())
	require.NoError(o.t, err)
	require.NoError(o.t, json.Unmarshal(text, table))
	return table
}

// TestPaused pauses a network: changes are listed but not applied, and expired keys are still revoked.
func TestPaused(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	o.clock.add(time.Hour)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRotate: "now"})
	})
	o.waitStates("acme", "Active Retiring", "us", "eu", "sg")
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Paused = true
		logLevel("debug")(sn)
		sn.Spec.Regions[1].Replicas = new(int32(5))
		sn.Spec.Regions[0].Ingress = &v1alpha1.Ingress{ClassName: "nginx"}
		sn.Spec.Moderation.FlagLimit = 5
		sn.Spec.NetworkPolicy.Enabled = false
	})
	o.condition("acme", v1alpha1.ConditionPaused, "True", v1alpha1.ReasonPausedBySpec)
	o.condition("acme", v1alpha1.ConditionReady, "False", v1alpha1.ReasonPausedBySpec)
	pending := get(o, &v1alpha1.SocialNetwork{}, "acme").Status.PendingChanges
	for _, want := range []string{
		"create Ingress acme-us", "push the moderation settings to us, eu and sg", "delete NetworkPolicy acme-sg",
	} {
		require.Contains(t, pending, want)
	}
	for _, code := range []string{"us", "eu", "sg"} {
		require.Contains(t, strings.Join(pending, "\n"), "change Deployment acme-"+code+": ")
	}
	require.Contains(t, pending, "change Deployment acme-eu: replicas from 2 to 5; variable PLAZA_LOG_LEVEL; the pods are replaced")
	o.pass("acme")
	o.settle("acme")
	pushes := o.servers.pushed()
	before := get(o, &v1alpha1.SocialNetwork{}, "acme").Status
	o.pass("acme")
	require.Equal(t, before, get(o, &v1alpha1.SocialNetwork{}, "acme").Status)
	o.requireNoWrites("acme")
	require.Equal(t, pushes, o.servers.pushed())
	require.Empty(t, o.levelOf("acme", "us"))

	o.clock.add(2 * time.Hour)
	o.pass("acme")
	o.waitStates("acme", "Active", "us", "eu", "sg")
	for _, write := range o.writes.take() {
		require.Regexp(t, "/secrets/acme-(..-server|recovery)-keys|/status|/events", write)
	}
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Paused = false })
	o.waitLevel("acme", "us", "debug")
	o.condition("acme", v1alpha1.ConditionPaused, "False", v1alpha1.ReasonNotPaused)
	o.condition("acme", v1alpha1.ConditionModerationApplied, "True", v1alpha1.ReasonModerationRuns)
	require.Empty(t, get(o, &v1alpha1.SocialNetwork{}, "acme").Status.PendingChanges)
}

// TestModerationDrift changes the settings of the servers outside the spec.
func TestModerationDrift(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	o.servers.all(func(s *server) {
		s.status.Moderation.IsReportEnabled = false
		s.status.Moderation.Digest = s.status.Moderation.Hash()
	})
	pushes := o.servers.pushed()
	o.pass("acme")
	o.eventually("the settings to be put back", func() string {
		if o.servers.pushed() == pushes {
			return "nothing was pushed"
		}
		return ""
	})
	o.condition("acme", v1alpha1.ConditionModerationApplied, "True", v1alpha1.ReasonModerationRuns)
	o.happened(1, v1alpha1.ReasonModerationDrift)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	require.NotNil(t, get(o, &corev1.Service{}, render.RegionName("acme", "us")))
}
