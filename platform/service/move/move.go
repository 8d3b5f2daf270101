// Package move implements MoveService, which moves users to other home regions.
//
// Ids keep the home that they contain. The ids that move with a user, and where their rows are, are stored in moved_ids and
// user_homes, of which every home has a copy, and every server follows the copy of its region, see db.Routes. A job of the
// home that the user's id contains takes the states in order:
//
//	collecting  The ids are collected. Requests do not notice.
//	announced   Servers know the ids. Those that were written since are added, and the bytes of files are copied to the storage of
//	            the new home. Then requests that concern the user wait, for a second or two, while all rows move in one
//	            transaction. The next state is cleaning.
//	frozen      Only if the rows cannot move at once and the move allows an interruption: a server does not follow the move in
//	            time, or an earlier version of servers is running. No server writes rows of these ids.
//	moving      No server reads or writes rows of these ids. Rows that did not move at once move a page in each transaction.
//	cleaning    The rows are at the new home and can be read and written. What remains at the old one is removed.
//	done
//	cancelled   The rows are at the old home, for example because they cannot move at once and no interruption is allowed.
//
// A move at once waits until every running server has stored that it follows the move and that the statements which it sent before
// have ended, see db.Routes. Between the other states the job waits for as long as a server that could not store that takes to
// know the new one, or to refuse to send statements, and for the time limit of statements. Each state is processed in steps, see
// steps, so that another server can continue.
package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// MaxMovedIDs is the maximum number of moved ids of a network. Every server keeps them in memory, about 60 bytes each.
const MaxMovedIDs = 1_000_000

// Options configures the service.
type Options struct {
	Storage *storage.Storage
	// Settle is the time in which every server learns about a state, and statements that it sent before have ended.
	Settle time.Duration
	// Limits are the time limits of moves at once.
	Limits limits.Limits
	// MaxIDs is the maximum number of moved ids of the network; MaxMovedIDs when zero.
	MaxIDs int64
	// Registerer registers the metrics; none are registered when nil.
	Registerer prometheus.Registerer
}

// Service implements MoveService.
type Service struct {
	*service.Deps
	Options
	metrics *metrics
}

// New returns the service.
func New(d *service.Deps, o Options) *Service {
	if o.MaxIDs == 0 {
		o.MaxIDs = MaxMovedIDs
	}
	return &Service{d, o, newMetrics(o.Registerer)}
}

// refusal returns the error of a move that is not possible.
func refusal(detail string) error { return fail.Conflict().WithDetails(detail) }

var errTooMany = refusal("region: the network has too many moved ids; no more users can be moved")

// MoveUser begins the move of a user to another home region.
func (s *Service) MoveUser(ctx context.Context, req *plazav1.MoveUserRequest) (*plazav1.UserMoveResponse, error) {
	ctx = lifecycle.WithMover(ctx) // a move in progress is a conflict rather than a reason to try again
	to, err := region.Parse(req.GetRegion())
	if err != nil {
		return nil, fail.Validation("region: must be us, eu or sg")
	}
	var users []people.User
	r := s.NewPrivilegedRequest(ctx, auth.ManageAdmin)
	userID := r.Resolve(ctx, req.GetUserId())
	r.Users([]string{userID}, &users)
	r.CheckFound(func() bool { return len(users) > 0 && users[0].DeletedAt == nil })
	r.AfterRun(func(ctx context.Context) error { return s.requirePossible(ctx, userID, to) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	wanted := lifecycle.UserMove{ID: userID, FromHome: s.HomeOf(userID), ToHome: to, AllowInterruption: req.GetAllowInterruption()}
	var m *lifecycle.UserMove
	tx := s.Store.NewTx(lifecycle.MoveHome(userID))
	tx.StartUserMove(wanted, s.Now(), &m)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	if m == nil || m.State != lifecycle.MoveCollecting || m.ToHome != to {
		return nil, refusal("userId: the user is being moved already")
	}
	return &plazav1.UserMoveResponse{Move: message(*m)}, nil
}

// requirePossible returns an error if a user cannot be moved to a home.
func (s *Service) requirePossible(ctx context.Context, userID string, to region.Code) error {
	var last *lifecycle.UserMove
	var others int64
	reads := s.Store.NewReadBatch()
	reads.UserMove(userID, &last)
	reads.CountOtherMovedIDs(s.Region, userID, &others)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	from := s.HomeOf(userID)
	switch {
	case last != nil && last.State != lifecycle.MoveDone && last.State != lifecycle.MoveCancelled:
		return refusal("userId: the user is being moved already")
	case from == to:
		return refusal(fmt.Sprintf("region: the home region of the user is %s already", to))
	case s.Storage.Has(from) && !s.Storage.Has(to):
		return refusal(fmt.Sprintf("region: %s has no storage for the files of the user", to))
	case others >= s.MaxIDs:
		return errTooMany
	}
	return s.requireServers(ctx)
}

// requireServers returns an error if a running server does not follow moves: it would write rows at their former home.
func (s *Service) requireServers(ctx context.Context) error {
	unable, err := service.Read(ctx, s.Deps, (*store.ReadBatch).ServersWithout, network.CapabilityMoves)
	if err != nil || len(unable) == 0 {
		return err
	}
	return refusal(fmt.Sprintf("region: the server %s of version %q does not follow moves; replace all servers of this version first",
		unable[0].ID, unable[0].Version))
}

// GetUserMove returns the progress of the last move of a user.
func (s *Service) GetUserMove(ctx context.Context, req *plazav1.GetUserMoveRequest) (*plazav1.UserMoveResponse, error) {
	ctx = lifecycle.WithMover(ctx)
	var m *lifecycle.UserMove
	r := s.NewPrivilegedRequest(ctx, auth.ManageAdmin)
	userID := r.Resolve(ctx, req.GetUserId())
	if region.ValidID(userID) {
		r.UserMove(userID, &m)
	}
	r.CheckFound(func() bool { return m != nil })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return &plazav1.UserMoveResponse{Move: message(*m)}, nil
}

func message(m lifecycle.UserMove) *plazav1.UserMove {
	out := &plazav1.UserMove{
		From: string(m.FromHome), To: string(m.ToHome), State: string(m.State), Reason: m.Reason, Step: m.Step, Moved: steps.Counts(m.Moved),
		AllowInterruption: m.AllowInterruption,
		RequestedAt:       timestamppb.New(m.RequestedAt), UpdatedAt: timestamppb.New(m.UpdatedAt),
	}
	if m.FinishedAt != nil {
		out.FinishedAt = timestamppb.New(*m.FinishedAt)
	}
	return out
}

// noStorage reports whether err says that a home has no storage, and so no files.
func noStorage(err error) bool { return errors.Is(err, storage.ErrNone) }
