package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// TestUsersAreChangedInOneOrder changes users of a community and of a channel, whom the caller names in the reverse order of their ids.
func TestUsersAreChangedInOneOrder(t *testing.T) {
	st := open(t, dbtest.New(t))
	community, channel := region.NewID(region.EU), region.NewID(region.EU)
	var members []communities.MemberChange
	var users []messaging.ChannelUserChange
	for _, id := range []string{region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)} {
		m, u := communities.Member{UserID: id, State: communities.StateMember}, messaging.ChannelUser{UserID: id, Membership: "member"}
		members = append(members, communities.MemberChange{Old: &m, New: communities.Member{UserID: id, State: communities.StateLeft}})
		users = append(users, messaging.ChannelUserChange{Old: &u, New: messaging.ChannelUser{UserID: id, Membership: "none"}})
	}
	slices.SortFunc(members, func(a, b communities.MemberChange) int { return strings.Compare(b.New.UserID, a.New.UserID) })
	slices.SortFunc(users, func(a, b messaging.ChannelUserChange) int { return strings.Compare(b.New.UserID, a.New.UserID) })
	for name, change := range map[string]func(w *store.Tx){
		"members":       func(w *store.Tx) { w.ChangeMembers(community, members, time.Now(), time.Now()) },
		"channel users": func(w *store.Tx) { w.ChangeChannelUsers(channel, users, time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := st.NewTx(region.EU)
			change(w)
			require.NoError(t, db.CheckLocks(w.Queued()))
		})
	}
}
