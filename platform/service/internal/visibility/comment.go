package visibility

import (
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
)

// RequireApproved returns 400400 for a comment that is not approved: such a comment takes no replies, flags or reactions.
func RequireApproved(c *store.Comment) error {
	if c.ApprovalStatus != store.Approved {
		return fail.NotFound()
	}
	return nil
}
