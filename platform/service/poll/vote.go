package poll

import (
	"context"
	"errors"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The sentences of refusals.
var (
	errClosed  = fail.New(fail.CodeBadRequest, "The poll is closed")
	errVoted   = fail.New(fail.CodeBadRequest, "You have voted already: change the vote instead")
	errSingle  = fail.New(fail.CodeBadRequest, "The poll takes one answer")
	errAnswers = fail.Validation("answerIds: must be answers of the poll")
)

// errChanged says that another call of the same user got ahead.
var errChanged = errors.New("the user's votes changed meanwhile")

// VotePoll votes as the caller. The same vote again changes nothing; another one is refused.
func (s *Service) VotePoll(ctx context.Context, req *connect.Request[plazav1.VotePollRequest]) (*connect.Response[plazav1.PollResponse], error) {
	return s.vote(ctx, req.Msg.GetPollId(), req.Msg.GetAnswerIds(), false)
}

// ChangePollVote puts the caller's votes in place of earlier ones; none at all takes them back.
func (s *Service) ChangePollVote(ctx context.Context, req *connect.Request[plazav1.ChangePollVoteRequest]) (*connect.Response[plazav1.PollResponse], error) {
	return s.vote(ctx, req.Msg.GetPollId(), req.Msg.GetAnswerIds(), true)
}

// vote brings the caller's votes to wanted. Where another call of theirs gets ahead, it starts over with what stands then.
func (s *Service) vote(ctx context.Context, pollID string, wanted []string, replace bool) (*connect.Response[plazav1.PollResponse], error) {
	wanted = slices.Compact(slices.Sorted(slices.Values(wanted)))
	for range 3 {
		l, err := s.loadToVote(ctx, pollID, wanted)
		if err != nil {
			return nil, err
		}
		old := l.votes()
		if slices.Equal(old, wanted) {
			return s.answer(l), nil
		}
		switch {
		case len(old) > 0 && !replace:
			return nil, errVoted
		case l.poll.IsClosed(s.Now()):
			return nil, errClosed
		}
		err = s.changeVotes(ctx, l, old, wanted)
		if err == nil {
			return s.answer(l), nil
		}
		if !errors.Is(err, errChanged) {
			return nil, err
		}
	}
	return nil, fail.Conflict()
}

// loadToVote loads a poll for a caller who may vote in it for the wanted answers.
func (s *Service) loadToVote(ctx context.Context, pollID string, wanted []string) (*loaded, error) {
	l, err := s.load(ctx, pollID, nil)
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	if service.MembershipOf(l.place.Member).Banned {
		return nil, fail.Banned()
	}
	if slices.ContainsFunc(wanted, func(id string) bool { return !l.has(id) }) {
		return nil, errAnswers
	}
	if l.poll.AnswerType == "single" && len(wanted) > 1 {
		return nil, errSingle
	}
	return l, nil
}

// votes are the answers that the caller votes for, sorted.
func (l *loaded) votes() []string {
	var ids []string
	for _, v := range l.mine {
		ids = append(ids, v.AnswerID)
	}
	slices.Sort(ids)
	return ids
}

// changeVotes stores the change, and reads the counts as they stand then.
func (s *Service) changeVotes(ctx context.Context, l *loaded, old, wanted []string) error {
	home, now := service.HomeOf(l.poll.ID), s.Now()
	c := store.VoteChange{PollID: l.poll.ID, UserID: l.Caller.UserID, Old: old}
	after := slices.DeleteFunc(slices.Clone(l.mine), func(v store.PollVote) bool { return !slices.Contains(wanted, v.AnswerID) })
	for _, id := range old {
		if !slices.Contains(wanted, id) {
			c.Removed = append(c.Removed, id)
		}
	}
	for _, id := range wanted {
		if !slices.Contains(old, id) {
			c.Added = append(c.Added, store.PollVote{PollID: c.PollID, UserID: c.UserID, AnswerID: id, ID: s.NewID(home), CreatedAt: now})
		}
	}
	counts := store.Counts{}
	w := s.Store.Write(home)
	w.ChangeVotes(c, now, fail.NotFound(), errClosed, errChanged)
	w.CountsAfter([]string{c.PollID}, counts)
	if err := w.Commit(ctx); err != nil {
		return err
	}
	l.mine, l.counts = slices.Concat(after, c.Added), counts
	return nil
}

// ListPollVoters lists who voted for an answer.
func (s *Service) ListPollVoters(ctx context.Context, req *connect.Request[plazav1.ListPollVotersRequest]) (*connect.Response[plazav1.ListPollVotersResponse], error) {
	m := req.Msg
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := store.VoteList{PollID: m.GetPollId(), AnswerID: m.GetAnswerId(), Desc: (m.GetSortBy() != "firstCreated") != cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var votes []store.PollVote
	l, err := s.load(ctx, m.GetPollId(), func(f *service.First) { f.ListVotes(list, &votes) })
	if err != nil {
		return nil, err
	}
	if !l.has(m.GetAnswerId()) {
		return nil, fail.NotFound()
	}
	votes, paging := page.Window(cursor, votes, func(v store.PollVote) (time.Time, string, string) { return v.CreatedAt, "", v.ID })
	voters, err := s.voters(ctx, votes)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.ListPollVotersResponse{
		Polls: []*plazav1.Poll{s.View.Poll(*l.poll, l.counts, l.mine)}, Users: s.View.Users(l.creator),
		UsersAnswered: s.View.Users(voters), Paging: paging,
	}), nil
}

// voters reads the users of votes, in their order.
func (s *Service) voters(ctx context.Context, votes []store.PollVote) ([]store.User, error) {
	order := make([]string, len(votes))
	for i, v := range votes {
		order[i] = v.UserID
	}
	var users []store.User
	reads := s.Store.Related()
	reads.Users(order, &users)
	err := reads.Run(ctx)
	slices.SortFunc(users, func(a, b store.User) int { return slices.Index(order, a.ID) - slices.Index(order, b.ID) })
	return users, err
}
