package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/people"
)

func TestReadsOfNothing(t *testing.T) {
	s := open(t, "postgresql://nobody@127.0.0.1:1/nothing")
	var users []people.User
	var community *communities.Community
	r := s.NewReadBatch()
	r.Users([]string{"not an id", "ff0000000000000000000000"}, &users)
	r.Community("", &community)
	require.True(t, r.Empty())
	run(t, r)
	require.Empty(t, users)
	require.Nil(t, community)
}

func TestReadsOfSeveralHomes(t *testing.T) {
	s := openNew(t)
	var ids []string
	for _, home := range region.All() {
		ids = append(ids, newUser(t, s, home, "of-"+string(home)).ID)
	}
	var users, same []people.User
	r := s.NewReadBatch()
	r.Users(ids, &users)
	r.Users(ids[:1], &same)
	run(t, r)
	got := []string{}
	for _, u := range users {
		got = append(got, u.ID)
	}
	require.ElementsMatch(t, ids, got)
	require.Len(t, same, 1)
	require.Empty(t, r.Missing())
}

// TestNewContentIsStoredOnce does the same to what the program makes: counts follow.
func TestNewContentIsStoredOnce(t *testing.T) {
	url := dbtest.New(t)
	p := proxy.New(t, url)
	s := open(t, p.Through(url), func(c *db.Config) { c.PoolSize = 1; c.StatementTimeout = time.Minute })
	community := newCommunity(t, s, region.US)
	for name, write := range map[string]func(w *store.Tx){
		"community":    func(w *store.Tx) { w.InsertCommunity(aCommunity(region.US), nil, now) },
		"category":     func(w *store.Tx) { w.InsertCategory(aCategory(region.US, "News"), now) },
		"join request": func(w *store.Tx) { w.InsertJoinRequest(aJoinRequest(community), core.ErrConflict) },
		"post":         func(w *store.Tx) { w.InsertPost(aPost(community)) },
		"comment":      func(w *store.Tx) { w.InsertComment(aComment(aPost(community))) },
	} {
		t.Run(name, func(t *testing.T) {
			warm := s.NewTx(region.US)
			write(warm)
			commit(t, warm)
			p.LoseAnswers(1)
			w := s.NewTx(region.US)
			write(w)
			commit(t, w)
		})
	}
	post := aPost(community)
	warm := s.NewTx(region.US)
	warm.InsertComment(aComment(post))
	commit(t, warm)
	p.LoseAnswers(1)
	w := s.NewTx(region.US)
	w.InsertComment(aComment(post))
	commit(t, w)
	require.Equal(t, int64(2), countsOf(t, s, post.ID).Of(post.ID, core.CountComments))
}
