package comment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestRequireParent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		parent *content.Comment
		ok     bool
	}{
		"approved":        {&content.Comment{ReferenceID: "p", ApprovalStatus: content.Approved}, true},
		"missing":         {nil, false},
		"of another post": {&content.Comment{ReferenceID: "q", ApprovalStatus: content.Approved}, false},
		"waiting":         {&content.Comment{ReferenceID: "p", ApprovalStatus: content.Pending}, false},
		"declined":        {&content.Comment{ReferenceID: "p", ApprovalStatus: content.Declined}, false},
		"deleted":         {&content.Comment{ReferenceID: "p", ApprovalStatus: content.Approved, DeletedAt: &servicetest.Noon}, false},
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
	reviewed := &communities.Community{CommentApproval: true}
	moderator := &communities.Member{State: communities.StateMember, Roles: []string{auth.RoleCommunityModerator}}
	for name, test := range map[string]struct {
		caller *auth.Caller
		target visibility.Target
		want   string
	}{
		"without review": {
			servicetest.User(t, "u"),
			visibility.Target{Community: &communities.Community{PostApproval: true}},
			content.Approved,
		},
		"with review":            {servicetest.User(t, "u"), visibility.Target{Community: reviewed}, content.Pending},
		"with review, moderator": {servicetest.User(t, "u"), visibility.Target{Community: reviewed, Member: moderator}, content.Approved},
		"network moderator":      {servicetest.User(t, "u", auth.RoleModerator), visibility.Target{Community: reviewed}, content.Approved},
		"on a wall":              {servicetest.User(t, "u"), visibility.Target{WallOwnerID: "w"}, content.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &draft{Request: &visibility.Request{Request: &service.Request{Caller: test.caller}}}
			d.Target = test.target
			require.Equal(t, test.want, d.approval())
		})
	}
}
