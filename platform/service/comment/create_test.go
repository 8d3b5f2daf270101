package comment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestRequireParent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		parent *store.Comment
		ok     bool
	}{
		"approved":        {&store.Comment{ReferenceID: "p", ApprovalStatus: store.Approved}, true},
		"missing":         {nil, false},
		"of another post": {&store.Comment{ReferenceID: "q", ApprovalStatus: store.Approved}, false},
		"waiting":         {&store.Comment{ReferenceID: "p", ApprovalStatus: store.Pending}, false},
		"declined":        {&store.Comment{ReferenceID: "p", ApprovalStatus: store.Declined}, false},
		"deleted":         {&store.Comment{ReferenceID: "p", ApprovalStatus: store.Approved, DeletedAt: &servicetest.Noon}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &draft{CreateCommentRequest: &plazav1.CreateCommentRequest{ReferenceId: "p"}, parent: test.parent}
			require.Equal(t, test.ok, d.requireParent() == nil)
		})
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	reviewed := &store.Community{CommentApproval: true}
	moderator := &store.Member{State: store.StateMember, Roles: []string{auth.RoleCommunityModerator}}
	for name, test := range map[string]struct {
		caller *auth.Caller
		target visibility.Target
		want   string
	}{
		"without review":         {servicetest.User(t, "u"), visibility.Target{Community: &store.Community{PostApproval: true}}, store.Approved},
		"with review":            {servicetest.User(t, "u"), visibility.Target{Community: reviewed}, store.Pending},
		"with review, moderator": {servicetest.User(t, "u"), visibility.Target{Community: reviewed, Member: moderator}, store.Approved},
		"network moderator":      {servicetest.User(t, "u", auth.RoleModerator), visibility.Target{Community: reviewed}, store.Approved},
		"on a wall":              {servicetest.User(t, "u"), visibility.Target{WallOwnerID: "w"}, store.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &draft{Request: &visibility.Request{Request: &service.Request{Caller: test.caller}}}
			d.Target = test.target
			require.Equal(t, test.want, d.approval())
		})
	}
}
