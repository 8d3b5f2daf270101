package invitation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestCheckType(t *testing.T) {
	for _, c := range []struct {
		kind, target string
		ok           bool
	}{
		{"", "", true},
		{communities.InviteMember, "", true},
		{"", communities.InviteToRoom, true},
		{communities.InviteMember, communities.InviteToCommunity, true},
		{communities.InviteCoHost, communities.InviteToRoom, true},
		{communities.InviteCoHost, communities.InviteToCommunity, false},
		{communities.InviteMember, communities.InviteToRoom, false},
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
		{communities.JoinPending, communities.JoinApproved, false, nil},
		{communities.JoinApproved, communities.JoinApproved, true, nil},
		{communities.JoinRejected, communities.JoinApproved, false, errNotPending},
		{communities.JoinCancelled, communities.JoinRejected, false, errNotPending},
		{communities.JoinCancelled, communities.JoinCancelled, true, nil},
	} {
		done, err := (&answer{row: &communities.Invitation{Status: c.now}}).hasStatus(c.wanted)
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
		{"just made", communities.JoinPending, 0, 0, nil},
		{"resent ten minutes ago", communities.JoinPending, time.Hour, resendInterval, nil},
		{"resent later", communities.JoinPending, time.Hour, resendInterval - time.Second, fail.RateLimited("", time.Second)},
		{"answered", communities.JoinRejected, time.Hour, time.Hour, errNotPending},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := communities.Invitation{Status: c.status, CreatedAt: now.Add(-c.created), UpdatedAt: now.Add(-c.updated)}
			require.ErrorIs(t, (&answer{row: &row, now: now}).requireResend(), c.want)
		})
	}
}

func TestTypesOf(t *testing.T) {
	require.Nil(t, typesOf(&plazav1.ListMyInvitationsRequest{}))
	require.Equal(t, []string{communities.InviteMember}, typesOf(&plazav1.ListMyInvitationsRequest{TargetType: communities.InviteToCommunity}))
	require.Equal(t, []string{communities.InviteCoHost}, typesOf(&plazav1.ListMyInvitationsRequest{TargetType: communities.InviteToRoom}))
	require.Equal(t, []string{"x"}, typesOf(&plazav1.ListMyInvitationsRequest{Type: "x", TargetType: communities.InviteToRoom}))
}

func TestCheckUser(t *testing.T) {
	now := time.Now()
	room := &media.Room{Participants: []media.RoomParticipant{{UserID: "host"}}}
	members := []communities.Member{
		{UserID: "member", State: communities.StateMember},
		{UserID: "banned", State: communities.StateBanned},
		{UserID: "former", State: communities.StateLeft},
	}
	for _, c := range []struct {
		name string
		user people.User
		room *media.Room
		want error
	}{
		{"stranger", people.User{ID: "stranger"}, nil, nil},
		{"former member", people.User{ID: "former"}, nil, nil},
		{"member", people.User{ID: "member"}, nil, errMember},
		{"banned", people.User{ID: "banned"}, nil, fail.Banned()},
		{"deleted", people.User{ID: "stranger", DeletedAt: &now}, nil, fail.NotFound()},
		{"participant", people.User{ID: "host"}, room, errParticipant},
		{"not a participant", people.User{ID: "stranger"}, room, nil},
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
		"community":         {target{kind: communities.InviteToCommunity, community: &communities.Community{}}, true},
		"no community":      {target{kind: communities.InviteToCommunity}, false},
		"deleted community": {target{kind: communities.InviteToCommunity, community: &communities.Community{DeletedAt: &now}}, false},
		"room":              {target{kind: communities.InviteToRoom, room: &media.Room{}}, true},
		"no room":           {target{kind: communities.InviteToRoom}, false},
		"deleted room":      {target{kind: communities.InviteToRoom, room: &media.Room{DeletedAt: &now}}, false},
	} {
		require.Equal(t, c.ok, c.target.require() == nil, name)
	}
}
