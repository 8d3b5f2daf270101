package member

import (
	"context"
	"encoding/json"

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
	d.Outbox.Handle(store.TopicMembership, func(ctx context.Context, row store.OutboxRow) error {
		var mirrored []store.MirroredMember
		if err := json.Unmarshal(row.Payload, &mirrored); err != nil || len(mirrored) == 0 {
			return err
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
