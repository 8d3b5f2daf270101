package message

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
)

func insertionOf(ctx context.Context, user, id string, at int) *insertion {
	return &insertion{
		ctx: ctx, user: user, done: make(chan struct{}),
		message: store.Message{ID: id, FeedID: "feed", CreatedAt: time.Unix(int64(at), 0)},
	}
}

func idsOf(group []*insertion) []string {
	var ids []string
	for _, in := range group {
		ids = append(ids, in.message.ID)
	}
	return ids
}

// held are groups whose commits wait until the test receives them.
type held struct {
	*groups
	commits chan []*insertion
}

func holdGroups() held {
	commits := make(chan []*insertion)
	return held{&groups{waiting: map[string][]*insertion{}, commit: func(all []*insertion) { commits <- all }}, commits}
}

func TestMessagesShareTheNextTransaction(t *testing.T) {
	g := holdGroups()
	first := insertionOf(t.Context(), "a", "1", 1)
	ended, end := context.WithCancel(t.Context())
	require.True(t, g.enqueue(first))
	for !g.takenAll("feed") {
	}
	require.True(t, g.enqueue(insertionOf(t.Context(), "a", "3", 3)))
	require.True(t, g.enqueue(insertionOf(t.Context(), "b", "2", 2)))
	require.True(t, g.enqueue(insertionOf(ended, "c", "4", 4)))
	end()
	require.Equal(t, []string{"1"}, idsOf(<-g.commits))
	<-first.done
	require.Equal(t, []string{"2", "3"}, idsOf(<-g.commits), "in the order of their times, without ended requests")
}

// takenAll reports whether a transaction is in progress and no messages are waiting.
func (g *groups) takenAll(feedID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting, busy := g.waiting[feedID]
	return busy && len(waiting) == 0
}

func TestMessagesThatWaitAreLimited(t *testing.T) {
	g := holdGroups()
	g.waiting["feed"] = make([]*insertion, maxWaiting-1)
	require.True(t, g.enqueue(insertionOf(t.Context(), "a", "last", 1)))
	err := g.add(t.Context(), insertionOf(t.Context(), "a", "one too many", 1))
	require.ErrorIs(t, err, fail.Unavailable("", nil))
}

func TestAddReturnsWhenTheRequestEnds(t *testing.T) {
	g := holdGroups()
	g.waiting["feed"] = nil // a transaction is in progress
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, g.add(canceled, insertionOf(canceled, "a", "1", 1)), context.Canceled)
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	require.ErrorIs(t, g.add(late, insertionOf(late, "a", "2", 2)), fail.Unavailable("", nil))
}

func TestChooseFairly(t *testing.T) {
	var waiting []*insertion
	for i := range maxGroup {
		waiting = append(waiting, insertionOf(t.Context(), "many", strconv.Itoa(i), i))
	}
	group, rest := chooseFairly(waiting)
	require.Len(t, group, maxGroup)
	require.Empty(t, rest)
	waiting = append(waiting, insertionOf(t.Context(), "few", "x", 100))
	group, rest = chooseFairly(waiting)
	require.Len(t, group, maxGroup)
	require.Contains(t, idsOf(group), "x")
	require.Equal(t, []string{strconv.Itoa(maxGroup - 1)}, idsOf(rest))
}

func TestMembersAndParentsOfGroup(t *testing.T) {
	group := []*insertion{
		{asMember: true, message: store.Message{CreatorID: "b", ParentID: "p"}},
		{asMember: true, message: store.Message{CreatorID: "a", ParentID: "p"}},
		{asMember: true, message: store.Message{CreatorID: "b"}},
		{message: store.Message{CreatorID: "admin"}},
	}
	require.Equal(t, []string{"a", "b"}, membersOf(group))
	require.Equal(t, []string{"p"}, parentsOf([]store.Message{group[0].message, group[1].message, group[2].message}))
}
