package message

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

func insertionOf(ctx context.Context, user, id string, at int) *insertion {
	return &insertion{
		ctx: ctx, user: user,
		message: messaging.Message{ID: id, FeedID: "feed", CreatedAt: time.Unix(int64(at), 0)},
	}
}

// heldQueue returns the queue of a service whose transactions wait for release and fail with fail.NotFound, and the ids of their messages.
func heldQueue() (s *Service, commits *[][]string, release chan struct{}) {
	s, commits, release = New(nil), new([][]string), make(chan struct{})
	s.queue.Commit = func(_ context.Context, _ string, group []*insertion) []error {
		<-release
		group = byTime(group)
		*commits = append(*commits, service.Map(group, func(in *insertion) string { return in.message.ID }))
		return groupcommit.Each(fail.NotFound(), len(group))
	}
	return s, commits, release
}

func TestMessagesShareTheNextTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, commits, release := heldQueue()
		ended, end := context.WithCancel(t.Context())
		add := func(ctx context.Context, user, id string, at int) {
			go func() { _ = s.enqueue(ctx, insertionOf(ctx, user, id, at)) }()
			synctest.Wait()
		}
		add(t.Context(), "a", "1", 1)
		add(t.Context(), "a", "3", 3)
		add(t.Context(), "b", "2", 2)
		add(ended, "c", "4", 4)
		end()
		close(release)
		synctest.Wait()
		require.Equal(t, [][]string{{"1"}, {"2", "3"}}, *commits, "in the order of their times, without ended requests")
	})
}

func TestMessagesThatWaitAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, release := heldQueue()
		for i := range maxWaiting + 1 {
			require.True(t, s.queue.Go(t.Context(), "feed", insertionOf(t.Context(), "a", strconv.Itoa(i), i)))
			synctest.Wait()
		}
		require.ErrorIs(t, s.enqueue(t.Context(), insertionOf(t.Context(), "a", "one too many", 1)), fail.Unavailable("", nil))
		close(release)
	})
}

func TestAddReturnsWhenTheRequestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, release := heldQueue()
		require.True(t, s.queue.Go(t.Context(), "feed", insertionOf(t.Context(), "a", "0", 0)))
		synctest.Wait()
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, s.enqueue(canceled, insertionOf(canceled, "a", "1", 1)), context.Canceled)
		late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer stop()
		require.ErrorIs(t, s.enqueue(late, insertionOf(late, "a", "2", 2)), fail.Unavailable("", nil))
		close(release)
	})
}

func TestUsersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, commits, release := heldQueue()
		add := func(user, id string, at int) {
			require.True(t, s.queue.Go(t.Context(), "feed", insertionOf(t.Context(), user, id, at)))
			synctest.Wait()
		}
		add("first", "first", 0)
		for i := range maxGroup {
			add("many", strconv.Itoa(i), i)
		}
		add("few", "x", 100)
		close(release)
		synctest.Wait()
		require.Len(t, *commits, 3)
		require.Len(t, (*commits)[1], maxGroup)
		require.Contains(t, (*commits)[1], "x")
		require.Equal(t, []string{strconv.Itoa(maxGroup - 1)}, (*commits)[2])
	})
}

func TestMembersAndParentsOfGroup(t *testing.T) {
	group := []*insertion{
		{asMember: true, message: messaging.Message{CreatorID: "b", ParentID: "p"}},
		{asMember: true, message: messaging.Message{CreatorID: "a", ParentID: "p"}},
		{asMember: true, message: messaging.Message{CreatorID: "b"}},
		{message: messaging.Message{CreatorID: "admin"}},
	}
	require.Equal(t, []string{"a", "b"}, membersOf(group))
	require.Equal(t, []string{"p"}, parentsOf([]messaging.Message{group[0].message, group[1].message, group[2].message}))
}

// TestByTime checks that a group keeps its order, in which the queue receives the errors.
func TestByTime(t *testing.T) {
	group := []*insertion{insertionOf(t.Context(), "a", "2", 2), insertionOf(t.Context(), "b", "1", 1)}
	require.Equal(t, []*insertion{group[1], group[0]}, byTime(group))
	require.Equal(t, "2", group[0].message.ID)
}
