package placement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/placement"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

// placed returns a check of the database, some minutes after the start.
func placed(minute int, state, reason string, rows ...statusz.TableNotPinned) statusz.Placement {
	return statusz.Placement{
		State: state, Reason: reason, CheckedAt: stagetest.Start.Add(time.Duration(minute) * time.Minute), Tables: 41, NotPinned: rows,
		Want: statusz.PlacementWanted{
			Localities: map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"},
			Primary:    "us", Survive: "zone",
		},
	}
}

// messages are the whole messages of cases of TestPlacement.
var messages = map[string]string{
	"pinned":                 "The rows of all 41 tables are stored where the spec requires.",
	"pinned, with a note":    "The rows of all 41 tables are stored as the spec requires: zone survival is that of the cluster.",
	"without regions":        "The database is a CockroachDB whose nodes have no localities, so it stores rows anywhere.",
	"postgresql":             "The database is PostgreSQL, which stores all rows in one place.",
	"a table elsewhere":      "1 of 41 tables are not stored where the spec requires: table posts has REGIONAL BY TABLE IN PRIMARY REGION.",
	"the database's regions": "0 of 41 tables are not stored where the spec requires: the database has survival goal region.",
	"many": "14 of 41 tables are not stored where the spec requires: table t0 has GLOBAL; table t1 has GLOBAL; table t2 has GLOBAL; " +
		"table t3 has GLOBAL; table t4 has GLOBAL; table t5 has GLOBAL; table t6 has GLOBAL; table t7 has GLOBAL; table t8 has GLOBAL; " +
		"table t9 has GLOBAL; and 4 more.",
	"every check failed": "The placement could not be read from the database: time-out.",
	"not asked yet":      "No server has checked the placement yet.",
	"another goal":       "The servers still run with other placement settings than the spec's.",
	"no servers":         "No server is ready yet.",
}

// TestPlacementOfSomeServers checks that servers after one that does not respond count, and which one is named if none responds.
func TestPlacementOfSomeServers(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS)
	pods := h.Servers.Pods[v1alpha1.RegionUS]
	pods[0].Unreachable = true
	pods[1].Placement = placed(1, statusz.Pinned, statusz.ReasonAllTablesPinned)
	result := h.Run(placement.Stage{})
	require.Equal(t, v1alpha1.ReasonAllTablesPinned, result.Reason)
	require.Equal(t, v1alpha1.ConditionRegionsPinned, result.Condition)
	pods[1].Unreachable = true
	result = h.Run(placement.Stage{})
	require.Regexp(t, `^No server answers: pod acme-us-1: .*connection refused.*\.$`, result.Message)
}

func TestPlacement(t *testing.T) {
	pinned := placed(1, statusz.Pinned, statusz.ReasonAllTablesPinned)
	postgres := placed(1, statusz.Unknown, statusz.ReasonNoPlacement)
	without := placed(1, statusz.Unknown, statusz.ReasonNotRegional)
	posts := statusz.TableNotPinned{Table: "posts", Has: "REGIONAL BY TABLE IN PRIMARY REGION"}
	var many []statusz.TableNotPinned
	for i := range 14 {
		many = append(many, statusz.TableNotPinned{Table: fmt.Sprintf("t%d", i), Has: "GLOBAL"})
	}
	elsewhere := pinned
	elsewhere.Want.Survive = "region"
	abroad := pinned
	abroad.Want.Localities = map[string]string{"us": "us-west1"}
	other := pinned
	other.Want.Primary = "eu"
	noted := pinned
	noted.Message = "zone survival is that of the cluster"
	failed := placed(3, statusz.Unknown, statusz.ReasonCheckFailed)
	failed.Message = "time-out"
	later := placed(1, "later", statusz.ReasonAllTablesPinned)
	for name, c := range map[string]struct {
		us, eu      statusz.Placement
		spec        func(*v1alpha1.Database)
		unreachable bool
		noServers   bool
		status      metav1.ConditionStatus
		reason      v1alpha1.Reason
		says        string
		saysLess    string
	}{
		"pinned": {
			us: pinned, eu: pinned, status: metav1.ConditionTrue, reason: v1alpha1.ReasonAllTablesPinned,
			says: "The rows of all 41 tables are stored where the spec requires.",
		},
		"pinned, with a note": {
			us: noted, eu: noted, status: metav1.ConditionTrue, reason: v1alpha1.ReasonAllTablesPinned,
			says: "The rows of all 41 tables are stored as the spec requires: zone survival is that of the cluster.",
		},
		"without regions": {us: without, eu: without, status: metav1.ConditionUnknown, reason: v1alpha1.ReasonCockroachDBHasNoRegions},
		"postgresql":      {us: postgres, eu: postgres, status: metav1.ConditionUnknown, reason: v1alpha1.ReasonPostgreSQLHasNoPlacement},
		"a table elsewhere": {
			us: placed(2, statusz.NotPinned, statusz.ReasonTablesNotPinned, posts), eu: pinned, status: metav1.ConditionFalse,
			reason: v1alpha1.ReasonTablesNotPinned,
			says:   "1 of 41 tables are not stored where the spec requires: table posts has REGIONAL BY TABLE IN PRIMARY REGION.",
		},
		"put back since": {
			us: placed(2, statusz.NotPinned, statusz.ReasonTablesNotPinned, posts), eu: placed(3, statusz.Pinned, statusz.ReasonAllTablesPinned),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonAllTablesPinned,
		},
		"many": {
			us: placed(2, statusz.NotPinned, statusz.ReasonTablesNotPinned, many...), eu: pinned, status: metav1.ConditionFalse,
			reason: v1alpha1.ReasonTablesNotPinned,
			says:   "table t9 has GLOBAL; and 4 more.", saysLess: "t10",
		},
		"the database's regions": {
			us:     placed(2, statusz.NotPinned, statusz.ReasonDatabaseRegionsDiffer, statusz.TableNotPinned{Has: "survival goal region"}),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonDatabaseRegionsDiffer,
			says: "0 of 41 tables are not stored where the spec requires: the database has survival goal region.",
		},
		"a check failed, an earlier one did not": {us: failed, eu: pinned, status: metav1.ConditionTrue, reason: v1alpha1.ReasonAllTablesPinned},
		"every check failed": {
			us: failed, eu: failed, status: metav1.ConditionUnknown,
			reason: v1alpha1.ReasonPlacementCheckFailed, says: "time-out",
		},
		"not asked yet": {
			us: placed(0, statusz.Unknown, statusz.ReasonNotCheckedYet),
			eu: placed(0, statusz.Unknown, statusz.ReasonNotCheckedYet), status: metav1.ConditionUnknown,
			reason: v1alpha1.ReasonPlacementNotChecked,
		},
		"another goal": {
			us: elsewhere, eu: abroad, status: metav1.ConditionUnknown, reason: v1alpha1.ReasonPlacementNotChecked,
			says: "other placement settings than the spec's",
		},
		"the spec's goal": {
			us: elsewhere, eu: abroad, spec: func(db *v1alpha1.Database) { db.Survive = "region" }, status: metav1.ConditionTrue,
			reason: v1alpha1.ReasonAllTablesPinned,
		},
		"another primary region": {
			us: other, eu: other, status: metav1.ConditionUnknown, reason: v1alpha1.ReasonPlacementNotChecked,
			says: "other placement settings than the spec's",
		},
		"the spec's primary region": {
			us: pinned, eu: other, spec: func(db *v1alpha1.Database) { db.PrimaryRegion = "eu" }, status: metav1.ConditionTrue,
			reason: v1alpha1.ReasonAllTablesPinned,
		},
		"a state of a later version": {us: later, eu: later, status: metav1.ConditionUnknown, reason: v1alpha1.ReasonPlacementNotChecked},
		"silent servers": {
			unreachable: true, status: metav1.ConditionUnknown, reason: v1alpha1.ReasonServersSilent,
			says: "connection refused",
		},
		"no servers": {noServers: true, status: metav1.ConditionUnknown, reason: v1alpha1.ReasonNoServers},
	} {
		t.Run(name, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
			if c.spec != nil {
				c.spec(&h.SN.Spec.Database)
			}
			for code, placement := range map[v1alpha1.RegionCode]statusz.Placement{v1alpha1.RegionUS: c.us, v1alpha1.RegionEU: c.eu} {
				for _, pod := range h.Servers.Pods[code] {
					pod.Placement, pod.Unreachable = placement, c.unreachable
				}
			}
			if c.noServers {
				h.Servers.Pods = nil
			}
			result := h.Run(placement.Stage{})
			require.Equal(t, c.status, result.Status, result.Message)
			require.Equal(t, c.reason, result.Reason)
			require.Contains(t, result.Message, c.says)
			if message := messages[name]; message != "" {
				require.Equal(t, message, result.Message)
			}
			if c.saysLess != "" {
				require.NotContains(t, result.Message, c.saysLess)
			}
		})
	}
}
