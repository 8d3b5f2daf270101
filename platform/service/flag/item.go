package flag

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
)

// itemRequest is a request about one item. Run fails unless the caller may see the item.
type itemRequest struct {
	*service.Request
	item *content.FlagItem

	target visibility.Target // the community of content that is in one
	access chat.Access       // to the channel of a message
}

// newItemRequest starts a request about the item of a target.
func (s *Service) newItemRequest(ctx context.Context, targetID string) *itemRequest {
	r := &itemRequest{Request: s.NewRequest(ctx)}
	r.FlagItem(targetID, &r.item)
	r.CheckFound(func() bool { return r.item != nil })
	r.AfterRun(r.loadPlace)
	r.CheckFound(r.maySee)
	return r
}

// loadPlace reads the caller's relation to the place of the item.
func (r *itemRequest) loadPlace(ctx context.Context) (err error) {
	switch {
	case r.item.PlaceID == "":
		return nil
	case r.item.TargetType == content.FlagMessage:
		access, err := chat.LoadAccess(ctx, r.Deps, r.Caller, []string{r.item.PlaceID})
		r.access = access[r.item.PlaceID]
		return err
	}
	targets, err := visibility.LoadTargets(ctx, r.Deps, r.Caller, map[string]string{r.item.PlaceID: "community"})
	r.target = targets[r.item.PlaceID]
	return err
}

// maySee reports whether the caller may see the item.
func (r *itemRequest) maySee() bool {
	switch {
	case auth.Allowed(r.Caller, auth.ViewModerationFeed, auth.Scope{}):
		return true
	case r.item.PlaceID == "":
		return false
	case r.item.TargetType == content.FlagMessage:
		return requireChannel(r.Caller, r.access) == nil
	}
	return requireCommunity(r.Caller, r.target) == nil
}

// checkChange adds the check that the caller may change the item, which requires the same as clearing the flags.
func (r *itemRequest) checkChange() {
	r.Check(func() error {
		switch r.item.TargetType {
		case content.FlagUser:
			return auth.Require(r.Caller, auth.ModerateUser, auth.Scope{})
		case content.FlagMessage:
			return r.requireChannel()
		case content.FlagStory:
			if auth.Allowed(r.Caller, auth.ModerateStory, auth.Scope{}) {
				return nil
			}
			return auth.Require(r.Caller, auth.ManageCommunityStory, r.target.Scope(""))
		}
		return auth.Require(r.Caller, auth.ModeratePostAndComment, r.target.Scope(""))
	})
}

func (r *itemRequest) requireChannel() error {
	if r.access.CanModerate(r.Caller, auth.DeleteMessage) {
		return nil
	}
	return fail.NotAllowed()
}

// errHeld refuses changes of an item by others than the moderator who claimed or resolved it.
var errHeld = fail.New(fail.CodeConflict,
	"Another moderator has claimed or resolved this item. Only they and moderators of higher authority can change it")

// requireOver returns errHeld unless the caller is the holder of the item or has authority over the holder. It takes a
// round trip for other callers than the holder and administrators.
func (r *itemRequest) requireOver(ctx context.Context, holderID string) error {
	switch {
	case r.Caller.Kind == auth.Admin || r.Caller.UserID == holderID:
		return nil
	case holderID == content.FlagAdministrator:
		return errHeld
	}
	inPlace := r.target.ReadAuthority
	if r.access.Channel != nil {
		inPlace = r.access.ReadAuthority
	}
	holder, err := r.Deps.AuthorityOf(ctx, holderID, inPlace)
	if err == nil && r.Caller.Authority(r.authorityInPlace()).RequireOver(holder) != nil {
		err = errHeld
	}
	return err
}

func (r *itemRequest) authorityInPlace() auth.Authority {
	if r.access.Channel != nil {
		return r.access.AuthorityOf(r.Caller.UserID, r.access.User)
	}
	return r.target.AuthorityOf(r.Caller.UserID, r.target.Member)
}
