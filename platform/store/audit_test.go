package store_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// auditedID returns the id of an event that insertAuditEvents inserts.
func auditedID(n int) string { return region.FixedID(region.EU)[:23] + strconv.Itoa(n) }

// insertAuditEvents inserts events at the seconds 0 to 5, of two actors and two operations, on two targets.
func insertAuditEvents(t *testing.T, s *store.Store) {
	t.Helper()
	w := s.NewTx(region.EU)
	for i := range 6 {
		e := network.AuditEvent{
			At: later(i), ID: auditedID(i), ActorKind: network.ActorUser, Actor: "ab"[i%2 : i%2+1],
			Operation: "xy"[i/3 : i/3+1],
		}
		targets := []network.AuditTarget{{Type: "user", ID: "u" + strconv.Itoa(i%3)}, {Type: "post", ID: "u1"}}
		w.InsertAuditEvent(e, targets, network.AuditSource{Address: "192.0.2.1"}, "")
		w.InsertAuditEvent(e, targets, network.AuditSource{Address: "192.0.2.2"}, "") // again
	}
	commit(t, w)
}

// TestListAuditEvents reads events by each filter, within a range of times that does not include its end, in pages of two.
func TestListAuditEvents(t *testing.T) {
	s := openNew(t)
	insertAuditEvents(t, s)
	for name, tc := range map[string]struct {
		list network.AuditList
		want []int
	}{
		"all":                       {network.AuditList{From: later(0), To: later(6)}, []int{0, 1, 2, 3, 4, 5}},
		"a range":                   {network.AuditList{From: later(1), To: later(4)}, []int{1, 2, 3}},
		"an actor":                  {network.AuditList{From: later(0), To: later(6), Actor: "a"}, []int{0, 2, 4}},
		"an actor in a range":       {network.AuditList{From: later(2), To: later(4), Actor: "a"}, []int{2}},
		"an actor and an operation": {network.AuditList{From: later(0), To: later(6), Actor: "a", Operation: "y"}, []int{4}},
		"an operation":              {network.AuditList{From: later(0), To: later(6), Operation: "y"}, []int{3, 4, 5}},
		"an operation in a range":   {network.AuditList{From: later(4), To: later(5), Operation: "y"}, []int{4}},
		"a target": {
			network.AuditList{From: later(0), To: later(6), Target: network.AuditTarget{Type: "user", ID: "u1"}},
			[]int{1, 4},
		},
		"a target in a range": {network.AuditList{From: later(1), To: later(4), Target: network.AuditTarget{Type: "user", ID: "u1"}}, []int{1}},
		"a target of another type": {
			network.AuditList{From: later(0), To: later(2), Target: network.AuditTarget{Type: "post", ID: "u1"}},
			[]int{0, 1},
		},
		"a target and an actor": {network.AuditList{
			From: later(0), To: later(6), Actor: "b",
			Target: network.AuditTarget{Type: "user", ID: "u1"},
		}, []int{1}},
		"a target and an operation": {network.AuditList{
			From: later(0), To: later(6), Operation: "y",
			Target: network.AuditTarget{Type: "user", ID: "u1"},
		}, []int{4}},
	} {
		list := tc.list
		list.Homes, list.Limit = []region.Code{region.EU}, 10
		require.Equal(t, tc.want, listAudit(t, s, list), name)
		list.Limit = 2
		require.Equal(t, tc.want, listAuditPages(t, s, list), name)
		slices.Reverse(tc.want)
		list.Desc, list.After, list.AfterID = true, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "g"
		require.Equal(t, tc.want, listAuditPages(t, s, list), name)
	}
	require.Empty(t, listAudit(t, s, network.AuditList{Homes: []region.Code{region.US}, From: later(0), To: later(6), Limit: 10}))
}

// listAuditPages returns the numbers of the events of a list and of the pages that follow.
func listAuditPages(t *testing.T, s *store.Store, list network.AuditList) (numbers []int) {
	t.Helper()
	for range 5 {
		page := listAudit(t, s, list)
		numbers = append(numbers, page...)
		if len(page) < list.Limit {
			return numbers
		}
		last := page[len(page)-1]
		list.After, list.AfterID = later(last), auditedID(last)
	}
	require.Fail(t, "endless list")
	return nil
}

// listAudit returns the numbers of the events of a list.
func listAudit(t *testing.T, s *store.Store, list network.AuditList) []int {
	t.Helper()
	var found []network.AuditEvent
	r := s.NewReadBatch()
	r.ListAuditEvents(list, &found)
	run(t, r)
	numbers := make([]int, len(found))
	for i, e := range found {
		n, err := strconv.Atoi(e.ID[23:])
		require.NoError(t, err)
		numbers[i] = n
	}
	return numbers
}

// TestAuditDetailsAreStoredOnce inserts an event twice, as a repeated transaction does: the first origin remains.
func TestAuditDetailsAreStoredOnce(t *testing.T) {
	s := openNew(t)
	insertAuditEvents(t, s)
	var details []network.AuditDetail
	r := s.NewReadBatch()
	r.AuditDetails([]string{auditedID(1)}, &details)
	run(t, r)
	require.Len(t, details, 1)
	require.Equal(t, []string{network.AuditOrigin, "", ""}, []string{details[0].Part, details[0].Type, details[0].ID})
	require.JSONEq(t, `{"address": "192.0.2.1"}`, string(details[0].Value))
}
