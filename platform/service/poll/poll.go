// Package poll implements polls.
//
// A poll is open until its closing time, or until its creator or an administrator closes it; it never opens again. It
// is stored at the home of its creator. A post can show it, by its id and at most one post; from then on only callers
// who may read the post can see the poll. Until then every caller who knows its id can.
package poll

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PollService.
type Service struct{ *service.Deps }

// New returns the service of polls.
func New(d *service.Deps) *Service { return &Service{d} }

// CreatePoll creates a poll of the caller's.
func (s *Service) CreatePoll(ctx context.Context, req *plazav1.CreatePollRequest) (*plazav1.PollResponse, error) {
	if err := check(req); err != nil {
		return nil, err
	}
	f := s.NewRequest(ctx)
	images := fileref.Read(f.ReadBatch, imagesOf(req)...)
	rules := textrules.Read(s.Deps, f.ReadBatch, service.HomeOf(f.Caller.UserID))
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if err := f.RequireUser(); err != nil {
		return nil, err
	}
	if err := images.Err(); err != nil {
		return nil, err
	}
	p := s.newPoll(f.User(), req)
	if err := rules.Require(ctx, f.Caller, textrules.TextOfPoll(p)); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(service.HomeOf(p.ID))
	tx.InsertPoll(p)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &plazav1.PollResponse{
		Polls: []*plazav1.Poll{s.View.Poll(p, nil, nil)}, Users: s.View.Users(f.UserRows()),
	}, nil
}

// imagesOf returns the references of the answers to images.
func imagesOf(m *plazav1.CreatePollRequest) []fileref.Reference {
	var refs []fileref.Reference
	for i, a := range m.GetAnswers() {
		refs = append(refs, fileref.Reference{ID: a.GetFileId(), Kind: "image", Field: fmt.Sprintf("answers[%d].fileId", i)})
	}
	return refs
}

// check validates what the rules of the message cannot express.
func check(m *plazav1.CreatePollRequest) error {
	for i, a := range m.GetAnswers() {
		switch {
		case a.GetDataType() == "image" && a.GetFileId() == "":
			return fail.Validation(fmt.Sprintf("answers[%d].fileId: an image answer needs an image", i))
		case a.GetDataType() != "image" && a.GetData() == "":
			return fail.Validation(fmt.Sprintf("answers[%d].data: a text answer needs a text", i))
		}
	}
	if in := m.GetClosedIn(); in != math.Trunc(in) {
		return fail.Validation("closedIn: must be a whole number of milliseconds")
	}
	return nil
}

func (s *Service) newPoll(creator *store.User, m *plazav1.CreatePollRequest) store.Poll {
	home, now := service.HomeOf(creator.ID), s.Now()
	p := store.Poll{
		ID: s.NewID(home), CreatorID: creator.ID, CreatorPublicID: creator.PublicID, Title: m.GetTitle(), Question: m.GetQuestion(),
		AnswerType: m.GetAnswerType(), ClosedIn: int64(m.GetClosedIn()), CreatedAt: now, UpdatedAt: now,
	}
	if p.AnswerType == "" {
		p.AnswerType = "single"
	}
	if p.ClosedIn > 0 {
		at := now.Add(time.Duration(p.ClosedIn) * time.Millisecond)
		p.ClosesAt = &at
	}
	for _, a := range m.GetAnswers() {
		answer := store.PollAnswer{ID: s.NewID(home), DataType: a.GetDataType(), Data: a.GetData(), FileID: a.GetFileId()}
		if answer.DataType == "" {
			answer.DataType = "text"
		}
		p.Answers = append(p.Answers, answer)
	}
	return p
}

// loaded is a poll that the caller may see.
type loaded struct {
	*service.Request
	poll    *store.Poll
	creator []store.User
	mine    []store.PollVote // the caller's
	counts  store.Counts
	target  visibility.Target // of the post that the poll is part of; zero without one
}

// load reads a poll that the caller may see, with its counts, the caller's votes, and whatever more adds to the same
// round trip.
func (s *Service) load(ctx context.Context, id string, more func(*service.Request)) (*loaded, error) {
	l := &loaded{Request: s.NewRequest(ctx), counts: store.Counts{}}
	l.Poll(id, &l.poll)
	l.CreatorOfPoll(id, &l.creator)
	l.CountsOf([]string{id}, l.counts)
	if l.Caller.UserID != "" {
		l.VotesOf([]string{id}, l.Caller.UserID, &l.mine)
	}
	if more != nil {
		more(l.Request)
	}
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if l.poll == nil || l.poll.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	return l, s.requireSee(ctx, l)
}

// requireSee returns 400400 unless the caller may read the post that shows the poll. The creator of the poll can
// always see it.
func (s *Service) requireSee(ctx context.Context, l *loaded) error {
	id := l.poll.PostID
	if id == "" || l.poll.CreatorID == l.Caller.UserID {
		return nil
	}
	ref, err := visibility.LoadPost(ctx, s.Deps, l.Caller, id)
	if err != nil {
		return err
	}
	l.target = ref.Target
	return nil
}

// requireOwn returns nil if the caller is the creator or an administrator.
func (l *loaded) requireOwn() error { return auth.RequireSelf(l.Caller, l.poll.CreatorID) }

func (s *Service) respond(l *loaded) *plazav1.PollResponse {
	return &plazav1.PollResponse{
		Polls: []*plazav1.Poll{s.View.Poll(*l.poll, l.counts, l.mine)}, Users: s.View.Users(l.creator),
	}
}

// GetPoll returns one poll.
func (s *Service) GetPoll(ctx context.Context, req *plazav1.GetPollRequest) (*plazav1.PollResponse, error) {
	l, err := s.load(ctx, req.GetPollId(), nil)
	if err != nil {
		return nil, err
	}
	return s.respond(l), nil
}

// UpdatePoll closes a poll for good. Closing a closed poll changes nothing.
func (s *Service) UpdatePoll(ctx context.Context, req *plazav1.UpdatePollRequest) (*plazav1.PollResponse, error) {
	l, err := s.load(ctx, req.GetPollId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.requireOwn(); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(service.HomeOf(l.poll.ID))
	tx.ClosePoll(l.poll.ID, s.Now(), fail.NotFound())
	tx.SelectPoll(l.poll.ID, &l.poll)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(l), nil
}

// DeletePoll deletes a poll. The post that shows it stays.
func (s *Service) DeletePoll(ctx context.Context, req *plazav1.DeletePollRequest) (*plazav1.StatusSuccessResponse, error) {
	l, err := s.load(ctx, req.GetPollId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.requireOwn(); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(service.HomeOf(l.poll.ID))
	tx.DeletePoll(l.poll.ID, s.Now(), fail.NotFound())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return service.StatusSuccess(), nil
}

// has reports whether the poll has an answer.
func (l *loaded) has(answerID string) bool {
	return slices.ContainsFunc(l.poll.Answers, func(a store.PollAnswer) bool { return a.ID == answerID })
}
