package follow

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxBlocks is the maximum number of users that a user can block. Every feed query excludes the posts of all of them.
const maxBlocks = 1000

var (
	errSelfBlock = fail.New(fail.CodeBadRequest, "You cannot block yourself")
	errMaxBlocks = fail.New(fail.CodeMaxBlocked, "The maximum number of blocked users is reached")
)

// BlockUser blocks a user, and ends the follows between the caller and the user.
func (s *Service) BlockUser(ctx context.Context, req *plazav1.BlockUserRequest) (*plazav1.FollowInfoResponse, error) {
	return s.setBlock(ctx, req.GetUserId(), people.BlockBlocked)
}

// UnblockUser ends a block. Without one it is 400400.
func (s *Service) UnblockUser(ctx context.Context, req *plazav1.UnblockUserRequest) (*plazav1.FollowInfoResponse, error) {
	return s.setBlock(ctx, req.GetUserId(), people.BlockNone)
}

// setBlock sets the status of the caller's block of a user, and returns the block and the follow counts of both.
func (s *Service) setBlock(ctx context.Context, publicID, status string) (*plazav1.FollowInfoResponse, error) {
	var p *pair
	block, err := service.RetryOnConflict(ctx, func() (b people.Block, err error) {
		if p, err = s.loadToBlock(ctx, publicID, status); err != nil {
			return b, err
		}
		if p.myBlock != nil && p.myBlock.Status == status {
			return *p.myBlock, nil
		}
		b = p.withBlock(status, s.Now())
		return b, s.storeBlock(ctx, p, b)
	})
	if err != nil {
		return nil, err
	}
	resp := &plazav1.FollowInfoResponse{Follows: []*plazav1.Follow{s.View.Block(block)}}
	resp.FollowCounts, err = s.countBoth(ctx, p)
	return resp, err
}

// loadToBlock loads the pair and checks that the caller may give the block the status.
func (s *Service) loadToBlock(ctx context.Context, publicID, status string) (*pair, error) {
	counts := core.Counts{}
	p := s.newPair(ctx, publicID)
	p.CountsOf([]string{p.Caller.UserID}, counts)
	p.Check(p.RequireUser)
	p.Check(func() error { return p.requireBlock(status, counts.Of(p.Caller.UserID, people.CountBlocks)) })
	return p, p.Run(ctx)
}

// requireBlock returns an error unless the caller, who has a number of blocks, may give the block the status.
func (p *pair) requireBlock(status string, blocks int64) error {
	switch {
	case p.otherID == p.Caller.UserID:
		return errSelfBlock
	case status == people.BlockNone && !p.myBlock.IsActive():
		return fail.NotFound()
	case status == people.BlockBlocked && !p.myBlock.IsActive() && blocks >= maxBlocks:
		return errMaxBlocks
	}
	return nil
}

// withBlock returns the caller's block of the other user with a status.
func (p *pair) withBlock(status string, now time.Time) people.Block {
	b := people.Block{
		BlockerID: p.User().ID, BlockerPublicID: p.User().PublicID, BlockedID: p.other.ID, BlockedPublicID: p.other.PublicID,
		Status: status, CreatedAt: now, UpdatedAt: now,
	}
	if p.myBlock != nil && status == people.BlockNone {
		b.CreatedAt = p.myBlock.CreatedAt
	}
	return b
}

// storeBlock writes a block at the blocker's home, and ends the follows that the home stores: the blocker's own, and
// its copy of the other user's. The other user's home ends the latter itself.
func (s *Service) storeBlock(ctx context.Context, p *pair, b people.Block) error {
	now := s.Now()
	firstTry := now.Add(events.Grace)
	tx := s.Store.NewTx(s.HomeOf(b.BlockerID))
	outboxRows := []core.OutboxRow{tx.ChangeBlock(people.BlockChange{Old: p.myBlock, New: b}, now, firstTry)}
	if b.IsActive() {
		if p.mine.Active() {
			t := transition{p.User(), p.other, p.mine, people.FollowNone}
			outboxRows = append(outboxRows, tx.ChangeFollow(people.FollowChange{Old: p.mine, New: t.apply(now)}, now, firstTry)...)
		}
		tx.GuardNoFollow(b.BlockerID, b.BlockedID)
		tx.EndFollower(b.BlockerID, b.BlockedID)
	}
	return s.Commit(ctx, tx, outboxRows...)
}

// countBoth reads the current follow counts of both users. The counts of a user whose home is unavailable are zero.
func (s *Service) countBoth(ctx context.Context, p *pair) ([]*plazav1.FollowCount, error) {
	counts := core.Counts{}
	reads := s.Store.NewBestEffortBatch()
	reads.CountsOf([]string{p.User().ID, p.other.ID}, counts)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	return []*plazav1.FollowCount{s.followCounts(*p.User(), counts, true), s.followCounts(*p.other, counts, false)}, nil
}

// ListBlockedUsers lists the users that the caller blocks, newest first.
func (s *Service) ListBlockedUsers(ctx context.Context, req *plazav1.ListBlockedUsersRequest) (*plazav1.ListBlockedUsersResponse, error) {
	r := s.NewUserRequest(ctx)
	cursor := r.Page(page.Merge(req.GetOptions(), req.Limit, req.GetToken()))
	caller := r.Caller.UserID
	counts := core.Counts{}
	var rows []people.Block
	list := people.BlockList{UserID: caller, Desc: !cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	r.ListBlocks(list, &rows)
	r.CountsOf([]string{caller}, counts)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(b people.Block) (time.Time, string, string) { return b.CreatedAt, "", b.BlockedID })
	m := &plazav1.ListBlockedUsersResponse{Paging: &plazav1.BlockPaging{
		Next: paging.GetNext(), Previous: paging.GetPrevious(), Prev: paging.GetPrev(),
		Total: narrow.To[int32](counts.Of(caller, people.CountBlocks)),
	}}
	rows, users, err := withUsers(ctx, s, rows, func(b people.Block) string { return b.BlockedID }, caller, req.IsDeleted)
	users = slices.DeleteFunc(users, func(u people.User) bool { return u.ID == caller }) // clients take every user in the list for blocked
	m.Follows, m.Users = service.Map(rows, s.View.Block), s.View.Users(ctx, users)
	return m, err
}
