// Package notification fills the trays of users with notifications about changes that concern them and their content.
//
// The transaction of a change writes a notice to the outbox (service.Notice). When the notice is delivered, this package determines
// whom it concerns and adds an item to the tray of each of them, at the user's home. Users are not notified of their own acts,
// of what they may not see, or of acts by users whom they block or who block them.
package notification

import (
	"github.com/plaza-social/plaza/platform/service"
)

// Service implements NotificationService.
type Service struct{ *service.Deps }

// New returns the service of notifications.
func New(d *service.Deps) *Service { return &Service{d} }

// Register registers the outbox handler that fills trays. A notice that arrives twice changes nothing.
func Register(d *service.Deps) {
	queue := New(d).newQueue()
	service.HandleOutbox(d, service.TopicNotice, queue.Add)
}
