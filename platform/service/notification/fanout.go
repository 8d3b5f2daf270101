package notification

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
)

// membersPerPage is the number of members who are notified by one outbox row.
const membersPerPage = 500

// fanOut is the payload of service.TopicPush: a notice for the members of a channel or community. Each page of members, in the order
// of their internal ids, has an outbox row of its own.
type fanOut struct {
	service.Notice

	After string `json:"after,omitempty"` // the internal id of the last member of the pages before
}

// fanOut pushes a new message or post to a page of members, and leaves the members after them to another outbox row.
func (s *Service) fanOut(ctx context.Context, f fanOut) error {
	if !s.Pushes() {
		return nil
	}
	switch f.Event {
	case service.NoticeMessage:
		return s.fanOutMessage(ctx, f)
	case "post.created", "post.approved":
		return s.fanOutPost(ctx, f)
	}
	return nil
}

// pushToOthers pushes an alert to users apart from its actor, users who block the actor and users whom the actor blocks.
func (s *Service) pushToOthers(ctx context.Context, userIDs []string, a alert) error {
	if len(userIDs) == 0 {
		return nil
	}
	var hidden []string
	reads := s.Store.NewReadBatch()
	reads.HiddenAmong(a.actorID, userIDs, &hidden)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	others := without(userIDs, func(id string) bool { return id == a.actorID || slices.Contains(hidden, id) })
	if len(others) == 0 {
		return nil
	}
	return s.pushTo(ctx, others, a)
}

// leaveNextPage leaves the members after a full page to another outbox row.
func (s *Service) leaveNextPage(ctx context.Context, f fanOut, page []string) error {
	if len(page) < membersPerPage {
		return nil
	}
	f.After = page[len(page)-1]
	tx := s.Store.NewTx(s.HomeOf(f.ID))
	row := tx.Emit(service.TopicPush, f, s.Now(), s.Outbox.FirstTry())
	return s.CommitSoon(ctx, tx, row)
}

// without returns the ids for which excluded returns false.
func without(ids []string, excluded func(id string) bool) []string {
	return slices.DeleteFunc(slices.Clone(ids), excluded)
}

// textOf returns the text of the data of a message or a post.
func textOf(data []byte) string {
	var content struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(data, &content) // custom data may have another form
	return content.Text
}
