// Package poll holds questions with answers to vote for.
//
// A poll's life: open from the start; closed when its time has come, or when its creator or an administrator closes it;
// never open again. It lives where its creator does. A post takes it up by its id, once; from then on it is for those
// who may read the post. Before that, it is for whoever knows its id.
package poll

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PollService.
type Service struct{ *service.Deps }

// New makes the service, and registers what makes a poll part of a post that is stored at another home.
func New(d *service.Deps) *Service {
	s := &Service{d}
	d.Outbox.Handle(topicPollPosted, s.attach)
	return s
}

// topicPollPosted names the outbox rows of older servers; newer ones write service.TopicCarried.
const topicPollPosted = "pollPosted"

func (s *Service) attach(ctx context.Context, row store.OutboxRow) error {
	var m service.CarriedBy
	if err := json.Unmarshal(row.Payload, &m); err != nil {
		return err
	}
	w := s.Store.Write(service.HomeOf(m.PollID))
	w.AttachPoll(m.PollID, m.PostID)
	return w.Commit(ctx)
}

// CreatePoll makes a poll of the caller's.
func (s *Service) CreatePoll(ctx context.Context, req *connect.Request[plazav1.CreatePollRequest]) (*connect.Response[plazav1.PollResponse], error) {
	if err := check(req.Msg); err != nil {
		return nil, err
	}
	f := s.Begin(ctx)
	images := service.ReadFiles(f.Reads, imagesOf(req.Msg)...)
	rules := s.ReadTextRules(f.Reads, service.HomeOf(f.Caller.UserID))
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if err := f.RequireUser(); err != nil {
		return nil, err
	}
	if err := images.Err(); err != nil {
		return nil, err
	}
	p := s.newPoll(f.User(), req.Msg)
	if err := rules.Require(ctx, f.Caller, service.TextsOfPoll(p)); err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(p.ID))
	w.NewPoll(p)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.PollResponse{
		Polls: []*plazav1.Poll{s.View.Poll(p, nil, nil)}, Users: s.View.Users(f.UserRows()),
	}), nil
}

// imagesOf are the images of the answers.
func imagesOf(m *plazav1.CreatePollRequest) []service.FileRef {
	var refs []service.FileRef
	for i, a := range m.GetAnswers() {
		refs = append(refs, service.FileRef{ID: a.GetFileId(), Kind: "image", Field: fmt.Sprintf("answers[%d].fileId", i)})
	}
	return refs
}

// check is what the rules of the message cannot say.
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

// loaded is a poll as a request finds it.
type loaded struct {
	*service.First
	poll    *store.Poll
	creator []store.User
	mine    []store.PollVote // the caller's
	counts  store.Counts
	place   service.Place // of the post that it is part of; empty without one
}

// load reads a poll with its counts and the caller's votes, beside what more adds. What is deleted, or part of a post that
// the caller may not read, does not exist.
func (s *Service) load(ctx context.Context, id string, more func(*service.First)) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx), counts: store.Counts{}}
	l.Poll(id, &l.poll)
	l.CreatorOfPoll(id, &l.creator)
	l.CountsOf([]string{id}, l.counts)
	if l.Caller.UserID != "" {
		l.VotesOf([]string{id}, l.Caller.UserID, &l.mine)
	}
	if more != nil {
		more(l.First)
	}
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if l.poll == nil || l.poll.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	return l, s.requireSee(ctx, l)
}

// requireSee reads the post that the poll is part of, where it is one of somebody else's, and returns 400400 unless the
// caller may read it.
func (s *Service) requireSee(ctx context.Context, l *loaded) error {
	id := l.poll.PostID
	if id == "" || l.poll.CreatorID == l.Caller.UserID {
		return nil
	}
	place, err := s.SeePost(ctx, l.Caller, id)
	l.place = place
	return err
}

// requireOwn returns nil for the creator and for administrators.
func (l *loaded) requireOwn() error { return auth.RequireSelf(l.Caller, l.poll.CreatorID) }

func (s *Service) answer(l *loaded) *connect.Response[plazav1.PollResponse] {
	return connect.NewResponse(&plazav1.PollResponse{
		Polls: []*plazav1.Poll{s.View.Poll(*l.poll, l.counts, l.mine)}, Users: s.View.Users(l.creator),
	})
}

// GetPoll gets one poll.
func (s *Service) GetPoll(ctx context.Context, req *connect.Request[plazav1.GetPollRequest]) (*connect.Response[plazav1.PollResponse], error) {
	l, err := s.load(ctx, req.Msg.GetPollId(), nil)
	if err != nil {
		return nil, err
	}
	return s.answer(l), nil
}

// UpdatePoll closes a poll for good. Closing again changes nothing.
func (s *Service) UpdatePoll(ctx context.Context, req *connect.Request[plazav1.UpdatePollRequest]) (*connect.Response[plazav1.PollResponse], error) {
	l, err := s.load(ctx, req.Msg.GetPollId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.requireOwn(); err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(l.poll.ID))
	w.ClosePoll(l.poll.ID, s.Now(), fail.NotFound())
	w.PollAfter(l.poll.ID, &l.poll)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(l), nil
}

// DeletePoll deletes a poll. The post that it is part of stays.
func (s *Service) DeletePoll(ctx context.Context, req *connect.Request[plazav1.DeletePollRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	l, err := s.load(ctx, req.Msg.GetPollId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.requireOwn(); err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(l.poll.ID))
	w.DeletePoll(l.poll.ID, s.Now(), fail.NotFound())
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.StatusSuccessResponse{
		Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true,
	}), nil
}

// has reports whether the poll has an answer.
func (l *loaded) has(answerID string) bool {
	return slices.ContainsFunc(l.poll.Answers, func(a store.PollAnswer) bool { return a.ID == answerID })
}
