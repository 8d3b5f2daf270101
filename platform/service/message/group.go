package message

import (
	"context"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Limits of the messages of a subchannel that share transactions.
const (
	maxGroup   = 32  // messages in one transaction
	maxWaiting = 256 // messages that wait for the transactions of one subchannel
)

// insertion is a message to insert and the result.
type insertion struct {
	ctx      context.Context   // of the request, which waits for the result
	user     string            // internal id of the caller
	asMember bool              // the author writes as a member of the channel
	message  messaging.Message // with its segment once done
	feed     *messaging.MessageFeed
	err      error
}

// newQueue returns the queue of messages by subchannel: its transactions follow one after the other, because the row of the subchannel,
// which numbers the messages, admits no more. Messages that arrive during a transaction share the next one, so that the rate does not
// depend on how long a transaction takes.
func (s *Service) newQueue() *groupcommit.Queue[string, *insertion] {
	return &groupcommit.Queue[string, *insertion]{
		Max: maxGroup, MaxWaiting: maxWaiting, DropsLeft: true, User: func(in *insertion) string { return in.user },
		Commit: func(_ context.Context, _ string, group []*insertion) []error {
			s.commitGroup(byTime(group)) //nolint:contextcheck // each message has its own
			return service.Map(group, func(in *insertion) error { return in.err })
		},
	}
}

// enqueue inserts a message with others. It returns an error if there was no transaction in the time of ctx; the message may still be
// inserted then.
func (s *Service) enqueue(ctx context.Context, in *insertion) error {
	err := s.queue.Add(ctx, in.message.FeedID, in)
	if _, tried := errors.AsType[*fail.Error](err); !tried &&
		(errors.Is(err, groupcommit.ErrFull) || errors.Is(err, context.DeadlineExceeded)) {
		return fail.Unavailable("too many messages are sent to the subchannel; try again later", ctx.Err())
	}
	return err
}

// byTime returns a group in the order of the times of its messages.
func byTime(group []*insertion) []*insertion {
	return slices.SortedStableFunc(slices.Values(group), func(a, b *insertion) int {
		return a.message.CreatedAt.Compare(b.message.CreatedAt)
	})
}

// commitGroup commits the messages of a group together. If that fails for a reason that may concern only one of them, it commits each of
// them alone.
func (s *Service) commitGroup(group []*insertion) {
	if len(group) == 1 {
		s.commitMessages(group[0].ctx, group...)
		return
	}
	s.commitMessages(network.WithoutIdempotency(context.WithoutCancel(group[0].ctx)), group...)
	if err := group[0].err; err == nil || errors.Is(err, fail.Unavailable("", nil)) {
		return
	}
	for _, in := range group {
		s.commitMessages(in.ctx, in)
	}
}

// commitMessages inserts messages of one subchannel in one transaction, together with the events that update the markers
// of the channel's members, and sets their results.
func (s *Service) commitMessages(ctx context.Context, group ...*insertion) {
	var stored []messaging.Message
	var feed *messaging.MessageFeed
	first := group[0].message
	tx := s.Store.NewTx(s.HomeOf(first.ID))
	messages := service.Map(group, func(in *insertion) messaging.Message { return in.message })
	ids := service.Map(messages, func(m messaging.Message) string { return m.ID })
	tx.GuardChannel(first.ChannelID, fail.NotFound())
	for _, author := range membersOf(group) {
		tx.GuardChannelMember(first.ChannelID, author, fail.NotChannelMember())
	}
	for _, id := range parentsOf(messages) {
		tx.GuardMessage(id, fail.NotFound())
	}
	tx.InsertMessages(messages, fail.NotFound(), errAlreadyExists, &stored)
	var outboxRows []core.OutboxRow
	if first.ChannelType != messaging.ChannelLive { // live channels have no markers
		created := events.MessagesCreated{ChannelID: first.ChannelID, FeedID: first.FeedID, MessageIDs: ids}
		outboxRows = append(outboxRows, events.EmitMessagesCreated(tx, created, first.CreatedAt))
		outboxRows = append(outboxRows, s.pushes(tx, messages)...)
	}
	changes := service.Map(messages, s.MessageChange)
	authors := service.Map(messages, func(m messaging.Message) string { return m.CreatorID })
	outboxRows = append(outboxRows, events.EmitChanges(tx, "message.created", changes, authors, first.CreatedAt)...)
	tx.SelectMessageFeed(first.FeedID, &feed)
	err := s.CommitSoon(ctx, tx, outboxRows...)
	for _, in := range group {
		in.set(stored, feed, err)
	}
}

// pushes writes what is pushed of messages to the outbox of tx, and returns the rows.
func (s *Service) pushes(tx *store.Tx, messages []messaging.Message) []core.OutboxRow {
	var rows []core.OutboxRow
	for _, m := range messages {
		rows = append(rows, s.EmitPush(tx, service.Notice{Event: service.NoticeMessage, ID: m.ID})...)
	}
	return rows
}

// set stores the result of a transaction.
func (in *insertion) set(stored []messaging.Message, feed *messaging.MessageFeed, err error) {
	in.err = err
	if err != nil {
		return
	}
	if m := service.Find(stored, func(m messaging.Message) bool { return m.ID == in.message.ID }); m != nil {
		in.message = *m
	}
	if feed != nil {
		in.feed = feed
	}
}

// membersOf returns the authors who write as members, each once.
func membersOf(group []*insertion) []string {
	var ids []string
	for _, in := range group {
		if in.asMember {
			ids = append(ids, in.message.CreatorID)
		}
	}
	return service.SortedSet(ids)
}

// parentsOf returns the parents of replies, each once.
func parentsOf(messages []messaging.Message) []string {
	ids := service.SortedSet(service.Map(messages, func(m messaging.Message) string { return m.ParentID }))
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}
