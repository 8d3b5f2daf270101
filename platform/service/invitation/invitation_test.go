package invitation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestCheckType(t *testing.T) {
	for _, c := range []struct {
		kind, target string
		ok           bool
	}{
		{"", "", true},
		{store.InviteMember, "", true},
		{"", store.InviteToRoom, true},
		{store.InviteMember, store.InviteToCommunity, true},
		{store.InviteCoHost, store.InviteToRoom, true},
		{store.InviteCoHost, store.InviteToCommunity, false},
		{store.InviteMember, store.InviteToRoom, false},
	} {
		require.Equal(t, c.ok, checkType(c.kind, c.target) == nil, "%s to %s", c.kind, c.target)
	}
}

func TestHasStatus(t *testing.T) {
	for _, c := range []struct {
		now, wanted string
		done        bool
		err         error
	}{
		{store.JoinPending, store.JoinApproved, false, nil},
		{store.JoinApproved, store.JoinApproved, true, nil},
		{store.JoinRejected, store.JoinApproved, false, errNotPending},
		{store.JoinCancelled, store.JoinRejected, false, errNotPending},
		{store.JoinCancelled, store.JoinCancelled, true, nil},
	} {
		done, err := (&answer{row: &store.Invitation{Status: c.now}}).hasStatus(c.wanted)
		require.Equal(t, c.done, done, "%s to %s", c.now, c.wanted)
		require.ErrorIs(t, err, c.err)
	}
}

func TestRequireResend(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name             string
		status           string
		created, updated time.Duration // before now
		want             error
	}{
		{"just made", store.JoinPending, 0, 0, nil},
		{"resent ten minutes ago", store.JoinPending, time.Hour, resendInterval, nil},
		{"resent later", store.JoinPending, time.Hour, resendInterval - time.Second, fail.RateLimited("", time.Second)},
		{"answered", store.JoinRejected, time.Hour, time.Hour, errNotPending},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := store.Invitation{Status: c.status, CreatedAt: now.Add(-c.created), UpdatedAt: now.Add(-c.updated)}
			require.ErrorIs(t, (&answer{row: &row, now: now}).requireResend(), c.want)
		})
	}
}

func TestTypesOf(t *testing.T) {
	require.Nil(t, typesOf(&plazav1.ListMyInvitationsRequest{}))
	require.Equal(t, []string{store.InviteMember}, typesOf(&plazav1.ListMyInvitationsRequest{TargetType: store.InviteToCommunity}))
	require.Equal(t, []string{store.InviteCoHost}, typesOf(&plazav1.ListMyInvitationsRequest{TargetType: store.InviteToRoom}))
	require.Equal(t, []string{"x"}, typesOf(&plazav1.ListMyInvitationsRequest{Type: "x", TargetType: store.InviteToRoom}))
}

func TestCheckUser(t *testing.T) {
	now := time.Now()
	room := &store.Room{Participants: []store.RoomParticipant{{UserID: "host"}}}
	members := []store.Member{
		{UserID: "member", State: store.StateMember},
		{UserID: "banned", State: store.StateBanned},
		{UserID: "former", State: store.StateLeft},
	}
	for _, c := range []struct {
		name string
		user store.User
		room *store.Room
		want error
	}{
		{"stranger", store.User{ID: "stranger"}, nil, nil},
		{"former member", store.User{ID: "former"}, nil, nil},
		{"member", store.User{ID: "member"}, nil, errMember},
		{"banned", store.User{ID: "banned"}, nil, fail.Banned()},
		{"deleted", store.User{ID: "stranger", DeletedAt: &now}, nil, fail.NotFound()},
		{"participant", store.User{ID: "host"}, room, errParticipant},
		{"not a participant", store.User{ID: "stranger"}, room, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &draft{target: target{room: c.room}, members: members}
			require.ErrorIs(t, d.checkUser(c.user), c.want)
		})
	}
}

func TestRequireTarget(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		target target
		ok     bool
	}{
		"community":         {target{kind: store.InviteToCommunity, community: &store.Community{}}, true},
		"no community":      {target{kind: store.InviteToCommunity}, false},
		"deleted community": {target{kind: store.InviteToCommunity, community: &store.Community{DeletedAt: &now}}, false},
		"room":              {target{kind: store.InviteToRoom, room: &store.Room{}}, true},
		"no room":           {target{kind: store.InviteToRoom}, false},
		"deleted room":      {target{kind: store.InviteToRoom, room: &store.Room{DeletedAt: &now}}, false},
	} {
		require.Equal(t, c.ok, c.target.require() == nil, name)
	}
}
