package member

import (
	"context"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
)

// Service implements MemberService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// Register registers the outbox handler that copies memberships to the homes of their users.
func Register(d *service.Deps) {
	service.HandleOutbox(d, communities.TopicMembership, func(ctx context.Context, mirrored []communities.MirroredMember) error {
		byHome := map[region.Code][]communities.MirroredMember{} // users may have moved since
		for _, m := range mirrored {
			byHome[d.HomeOf(m.UserID)] = append(byHome[d.HomeOf(m.UserID)], m)
		}
		for home, part := range byHome {
			tx := d.Store.NewTx(home)
			tx.MirrorMembers(part)
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
