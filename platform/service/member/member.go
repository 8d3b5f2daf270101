package member

import (
	"context"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Service implements MemberService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// Register registers the outbox handler that copies memberships to the homes of their users.
func Register(d *service.Deps) {
	service.HandleOutbox(d, store.TopicMembership, func(ctx context.Context, mirrored []store.MirroredMember) error {
		if len(mirrored) == 0 {
			return nil
		}
		home, err := region.HomeOf(mirrored[0].UserID)
		if err != nil {
			return err
		}
		tx := d.Store.NewTx(home)
		tx.MirrorMembers(mirrored)
		return tx.Commit(ctx)
	})
}
