// Package notification tells users, in their trays and on their devices, about changes that concern them and their content.
//
// The transaction of a change writes a notice to the outbox (service.Notice). When the notice is delivered, this package determines
// whom it concerns and adds an item to the tray of each of them, at the user's home. Users are not notified of their own acts,
// of what they may not see, or of acts by users whom they block or who block them.
//
// What is in a tray is also pushed to the user's devices, if the user's settings allow it. New messages and posts are pushed to the
// members of their channel or community, a page of members for each outbox row. The transaction that fills a tray also adds the pushes,
// as rows at the user's home, which a job sends.
package notification

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/span"
)

// Service implements NotificationService.
type Service struct{ *service.Deps }

// New returns the service of notifications.
func New(d *service.Deps) *Service { return &Service{d} }

// Register registers the outbox handlers that fill trays and push. A notice that arrives twice changes nothing.
func Register(d *service.Deps) {
	s := New(d)
	queue := s.newQueue()
	service.HandleOutbox(d, service.TopicNotice, func(ctx context.Context, n service.Notice) error {
		n.Trace = span.Of(ctx)
		return queue.Add(ctx, struct{}{}, n)
	})
	service.HandleOutbox(d, service.TopicPush, s.fanOut)
	service.HandleOutbox(d, topicToken, s.takeToken)
}
