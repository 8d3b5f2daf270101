package poll

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Refusals of votes.
var (
	errClosed  = fail.New(fail.CodeBadRequest, "The poll is closed")
	errVoted   = fail.New(fail.CodeBadRequest, "You have already voted; change the vote instead")
	errSingle  = fail.New(fail.CodeBadRequest, "This poll accepts one answer only")
	errAnswers = fail.Validation("answerIds: must be answers of the poll")
)

// VotePoll votes as the caller. Voting for the same answers again changes nothing; voting for others is refused.
func (s *Service) VotePoll(ctx context.Context, req *plazav1.VotePollRequest) (*plazav1.PollResponse, error) {
	return s.vote(ctx, req.GetPollId(), req.GetAnswerIds(), false)
}

// ChangePollVote replaces the caller's votes. An empty list removes them.
func (s *Service) ChangePollVote(ctx context.Context, req *plazav1.ChangePollVoteRequest) (*plazav1.PollResponse, error) {
	return s.vote(ctx, req.GetPollId(), req.GetAnswerIds(), true)
}

// vote changes the caller's votes to wanted. It retries if another call of the same user commits concurrently.
func (s *Service) vote(ctx context.Context, pollID string, wanted []string, replace bool) (*plazav1.PollResponse, error) {
	wanted = service.SortedSet(wanted)
	return service.RetryOnConflict(ctx, func() (*plazav1.PollResponse, error) { return s.tryVote(ctx, pollID, wanted, replace) })
}

// tryVote is one attempt of vote. It returns service.ErrConflict if the votes of the user changed concurrently.
func (s *Service) tryVote(ctx context.Context, pollID string, wanted []string, replace bool) (*plazav1.PollResponse, error) {
	l := s.newRequest(ctx, pollID)
	l.Check(func() error { return l.requireVote(wanted) })
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	old := l.votes()
	changes, err := decideVote(old, wanted, replace, l.poll.IsClosed(s.Now()))
	if changes {
		err = s.changeVotes(ctx, l, old, wanted)
	}
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, l), nil
}

// decideVote reports whether a vote for the wanted answers changes the old votes. Both are sorted. A vote that changes
// nothing is never refused.
func decideVote(old, wanted []string, replace, closed bool) (changes bool, err error) {
	switch {
	case slices.Equal(old, wanted):
		return false, nil
	case len(old) > 0 && !replace:
		return false, errVoted
	case closed:
		return false, errClosed
	}
	return true, nil
}

// requireVote returns nil if the caller may vote for the wanted answers.
func (l *loaded) requireVote(wanted []string) error {
	if err := l.RequireUser(); err != nil {
		return err
	}
	if visibility.MembershipOf(l.target.Member).Banned {
		return fail.Banned()
	}
	return requireAnswers(l.poll, wanted)
}

// requireAnswers returns nil if the poll accepts the wanted answers together.
func requireAnswers(p *content.Poll, wanted []string) error {
	switch {
	case slices.ContainsFunc(wanted, func(id string) bool { return !hasAnswer(p, id) }):
		return errAnswers
	case p.AnswerType == "single" && len(wanted) > 1:
		return errSingle
	}
	return nil
}

// votes returns the answers that the caller votes for, sorted.
func (l *loaded) votes() []string {
	return service.SortedSet(service.Map(l.mine, func(v content.PollVote) string { return v.AnswerID }))
}

// changeVotes commits the change and updates the counts that were read: reading all shards of the counts in the
// transaction would make all votes in the poll conflict.
func (s *Service) changeVotes(ctx context.Context, l *loaded, old, wanted []string) error {
	home, now := s.HomeOf(l.poll.ID), s.Now()
	c := content.VoteChange{PollID: l.poll.ID, UserID: l.Caller.UserID, Old: old}
	after := slices.DeleteFunc(slices.Clone(l.mine), func(v content.PollVote) bool { return !slices.Contains(wanted, v.AnswerID) })
	c.Removed = missingIn(wanted, old)
	for _, id := range missingIn(old, wanted) {
		c.Added = append(c.Added, content.PollVote{PollID: c.PollID, UserID: c.UserID, AnswerID: id, ID: s.NewID(home), CreatedAt: now})
	}
	tx := s.Store.NewTx(home)
	tx.ChangeVotes(c, now, fail.NotFound(), errClosed, service.ErrConflict)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	l.mine = slices.Concat(after, c.Added)
	for _, id := range c.Removed {
		l.counts.Add(c.PollID, content.CountVotes(id), -1)
	}
	for _, v := range c.Added {
		l.counts.Add(c.PollID, content.CountVotes(v.AnswerID), +1)
	}
	return nil
}

// missingIn returns the answers that are not in list.
func missingIn(list, answers []string) []string {
	return slices.DeleteFunc(slices.Clone(answers), func(id string) bool { return slices.Contains(list, id) })
}

// ListPollVoters lists the users who voted for an answer.
func (s *Service) ListPollVoters(ctx context.Context, m *plazav1.ListPollVotersRequest) (*plazav1.ListPollVotersResponse, error) {
	l := s.newRequest(ctx, m.GetPollId())
	cursor := l.Page(m.GetOptions())
	list := content.VoteList{
		PollID: m.GetPollId(), AnswerID: m.GetAnswerId(), Desc: (m.GetSortBy() != "firstCreated") != cursor.Back,
		Limit: cursor.Limit + 1,
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var votes []content.PollVote
	l.ListVotes(list, &votes)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if !hasAnswer(l.poll, m.GetAnswerId()) {
		return nil, fail.NotFound()
	}
	votes, paging := page.Window(cursor, votes, func(v content.PollVote) (time.Time, string, string) { return v.CreatedAt, "", v.ID })
	voters, err := s.ReadUsers(ctx, service.Map(votes, func(v content.PollVote) string { return v.UserID }))
	return &plazav1.ListPollVotersResponse{
		Polls: []*plazav1.Poll{s.View.Poll(*l.poll, l.counts, l.mine)}, Users: s.View.Users(ctx, l.creator),
		UsersAnswered: s.View.Users(ctx, voters), Paging: paging,
	}, err
}
