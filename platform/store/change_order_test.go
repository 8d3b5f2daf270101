package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestUsersAreChangedInOneOrder changes users of a community and of a channel, whom the caller names in the reverse order of their ids.
func TestUsersAreChangedInOneOrder(t *testing.T) {
	st := open(t, dbtest.New(t))
	community, channel := region.NewID(region.EU), region.NewID(region.EU)
	var members []store.MemberChange
	var users []store.ChannelUserChange
	for _, id := range []string{region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)} {
		m, u := store.Member{UserID: id, State: store.StateMember}, store.ChannelUser{UserID: id, Membership: "member"}
		members = append(members, store.MemberChange{Old: &m, New: store.Member{UserID: id, State: store.StateLeft}})
		users = append(users, store.ChannelUserChange{Old: &u, New: store.ChannelUser{UserID: id, Membership: "none"}})
	}
	slices.SortFunc(members, func(a, b store.MemberChange) int { return strings.Compare(b.New.UserID, a.New.UserID) })
	slices.SortFunc(users, func(a, b store.ChannelUserChange) int { return strings.Compare(b.New.UserID, a.New.UserID) })
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
