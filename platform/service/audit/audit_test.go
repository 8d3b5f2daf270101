package audit

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestListOf(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	s := New(r.deps, r)
	from, to := servicetest.Noon, servicetest.Noon.AddDate(0, 0, 1)
	channel := r.deps.Directory.ChannelID("general")
	type request = plazav1.ListAuditEventsRequest
	for name, test := range map[string]struct {
		req  *request
		want network.AuditList // nil homes: all of them; zero To: the end of time
	}{
		"everything":   {&request{}, network.AuditList{}},
		"an operation": {&request{Operation: "UserService/BanUser"}, network.AuditList{Operation: "UserService/BanUser"}},
		"a region":     {&request{Region: "sg"}, network.AuditList{Homes: []region.Code{region.SG}}},
		"a time":       {&request{From: timestamppb.New(from), To: timestamppb.New(to)}, network.AuditList{From: from, To: to}},
		"a post":       {&request{TargetType: "post", TargetId: "p"}, network.AuditList{Target: network.AuditTarget{Type: "post", ID: "p"}}},
		"a channel": {
			&request{TargetType: "channel", TargetId: "general"},
			network.AuditList{Target: network.AuditTarget{Type: "channel", ID: channel}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.want.Homes == nil {
				test.want.Homes = region.All()
			}
			if test.want.To.IsZero() {
				test.want.To = endOfTime
			}
			got, err := s.listOf(t.Context(), test.req)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	for _, req := range []*request{{TargetType: "post"}, {TargetId: "p"}} {
		_, err := s.listOf(t.Context(), req)
		require.Equal(t, fail.KindValidation, fail.From(err).Kind, "a target without its type or id")
	}
}

func TestEventOf(t *testing.T) {
	t.Parallel()
	id := region.NewID(region.SG)
	m := eventOf(network.AuditEvent{
		ID: id, At: servicetest.Noon, ActorKind: network.ActorUser, Actor: "internal", Operation: "UserService/BanUser",
		Targets: []byte(`[{"type": "user", "id": "u"}]`),
		KeyID:   "key", Roles: []string{"global-moderator"}, Permission: "BAN_USER", RequestID: "request",
	}, []network.AuditDetail{
		{Part: network.AuditAfter, Type: "user", ID: "u", Value: []byte(`{"isGlobalBan": true}`)},
		{Part: network.AuditOrigin, Value: []byte(`{"userId": "anna", "address": "192.0.2.1", "userAgent": "agent"}`)},
		{Part: network.AuditBefore, Type: "user", ID: "v", Value: []byte(`{"isGlobalBan": false}`)},
		{Part: network.AuditBefore, Type: "user", ID: "u", Value: []byte(`{"isGlobalBan": false}`)},
		{Part: network.AuditAfter, Type: "role", ID: "u", Value: []byte(`{"name": "x"}`)},
	})
	require.Equal(t, "sg", m.GetRegion())
	require.Equal(t, []string{id, "UserService/BanUser", "request"}, []string{m.GetEventId(), m.GetOperation(), m.GetRequestId()})
	require.Equal(t, servicetest.Noon, m.GetCreatedAt().AsTime())
	require.Equal(t, []string{network.ActorUser, "key", "BAN_USER"},
		[]string{m.GetActor().GetKind(), m.GetActor().GetKeyId(), m.GetActor().GetPermission()})
	require.Equal(t, []string{"global-moderator"}, m.GetActor().GetRoles())
	require.Equal(t, [2]string{"user", "u"}, [2]string{m.GetTargets()[0].GetType(), m.GetTargets()[0].GetId()})
	require.Equal(t, [2]string{"internal", "anna"}, [2]string{m.GetActor().GetId(), m.GetActor().GetUserId()})
	require.Equal(t, [2]string{"192.0.2.1", "agent"}, [2]string{m.GetAddress(), m.GetUserAgent()})
	require.Len(t, m.GetChanges(), 3, "one for each target: the type is part of it")
	both := m.GetChanges()[0]
	require.Equal(t, "false", string(freeform.Of(both.GetBefore()).Member("isGlobalBan")))
	require.Equal(t, "true", string(freeform.Of(both.GetAfter()).Member("isGlobalBan")))
	require.Nil(t, m.GetChanges()[1].GetAfter(), "what was deleted has no values after")
	require.Nil(t, m.GetChanges()[2].GetBefore(), "what was created has no values before")
}

// An erasure deletes details; the event stays readable.
func TestEventWithoutDetails(t *testing.T) {
	t.Parallel()
	m := eventOf(network.AuditEvent{ID: region.NewID(region.EU), ActorKind: network.ActorAdministrator, Actor: "admin"}, nil)
	require.Equal(t, "admin", m.GetActor().GetId())
	require.Empty(t, m.GetActor().GetUserId())
	require.Empty(t, m.GetChanges())
	require.Empty(t, m.GetAddress())
}
