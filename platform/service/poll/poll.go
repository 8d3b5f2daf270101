// Package poll implements polls.
//
// A poll is open until its closing time, or until its creator or an administrator closes it; it never opens again. It
// is stored at the home of its creator. A post can show it, by its id and at most one post; from then on only callers
// who may read the post can see the poll. Until then every caller who knows its id can.
package poll

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
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
	f := s.NewUserRequest(ctx)
	fileref.Require(f, imagesOf(req)...)
	textrules.Require(f, s.HomeOf(f.Caller.UserID), textOf(req))
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	p := s.newPoll(s.HomeOf(f.Caller.UserID), f.User(), req)
	auth.Created(ctx, "poll", p.ID)
	tx := s.Store.NewTx(s.HomeOf(p.ID))
	tx.InsertPoll(p)
	return &plazav1.PollResponse{
		Polls: []*plazav1.Poll{s.View.Poll(p, nil, nil)}, Users: s.View.Users(ctx, f.UserRows()),
	}, tx.Commit(ctx)
}

// textOf returns the title, question and answers of a new poll.
func textOf(m *plazav1.CreatePollRequest) textrules.UserText {
	t := textrules.TextOfFields(&m.Title, &m.Question)
	for _, a := range m.GetAnswers() {
		t.Texts = append(t.Texts, a.GetData())
	}
	return t
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

func (s *Service) newPoll(home region.Code, creator *people.User, m *plazav1.CreatePollRequest) content.Poll {
	now := s.Now()
	p := content.Poll{
		ID: s.NewID(home), CreatorID: creator.ID, CreatorPublicID: creator.PublicID, Title: m.GetTitle(), Question: m.GetQuestion(),
		AnswerType: cmp.Or(m.GetAnswerType(), "single"), ClosedIn: int64(m.GetClosedIn()), CreatedAt: now, UpdatedAt: now,
	}
	if p.ClosedIn > 0 {
		at := now.Add(time.Duration(p.ClosedIn) * time.Millisecond)
		p.ClosesAt = &at
	}
	for _, a := range m.GetAnswers() {
		p.Answers = append(p.Answers, content.PollAnswer{
			ID: s.NewID(home), DataType: cmp.Or(a.GetDataType(), "text"), Data: a.GetData(), FileID: a.GetFileId(),
		})
	}
	return p
}

// loaded is a poll that the caller may see.
type loaded struct {
	*service.Request
	poll    *content.Poll
	creator []people.User
	mine    []content.PollVote // the caller's
	counts  core.Counts
	target  visibility.Target // of the post that the poll is part of; zero without one
}

// newRequest starts a request about a poll, with its counts and the caller's votes. Its Run fails unless the caller may
// see the poll.
func (s *Service) newRequest(ctx context.Context, id string) *loaded {
	l := &loaded{Request: s.NewRequest(ctx), counts: core.Counts{}}
	l.Poll(id, &l.poll)
	l.CreatorOfPoll(id, &l.creator)
	l.CountsOf([]string{id}, l.counts)
	l.VotesOf([]string{id}, l.Caller.UserID, &l.mine)
	l.AfterRun(func(ctx context.Context) error { return s.requireSee(ctx, l) })
	return l
}

// newOwn is newRequest for operations of the creator and of administrators.
func (s *Service) newOwn(ctx context.Context, id string) *loaded {
	l := s.newRequest(ctx, id)
	l.Check(func() error { return auth.RequireSelf(l.Caller, l.poll.CreatorID) })
	return l
}

// requireSee returns 400400 if the poll is deleted, and unless the caller may read the post that shows it. The creator
// of the poll can always see it.
func (s *Service) requireSee(ctx context.Context, l *loaded) error {
	if l.poll == nil || l.poll.DeletedAt != nil {
		return fail.NotFound()
	}
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

func (s *Service) respond(ctx context.Context, l *loaded) *plazav1.PollResponse {
	return &plazav1.PollResponse{
		Polls: []*plazav1.Poll{s.View.Poll(*l.poll, l.counts, l.mine)}, Users: s.View.Users(ctx, l.creator),
	}
}

// GetPoll returns one poll.
func (s *Service) GetPoll(ctx context.Context, req *plazav1.GetPollRequest) (*plazav1.PollResponse, error) {
	l := s.newRequest(ctx, req.GetPollId())
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l), nil
}

// UpdatePoll closes a poll for good. Closing a closed poll changes nothing.
func (s *Service) UpdatePoll(ctx context.Context, req *plazav1.UpdatePollRequest) (*plazav1.PollResponse, error) {
	l := s.newOwn(ctx, req.GetPollId())
	err := l.Write(ctx, req.GetPollId(), func(tx *store.Tx) {
		tx.ClosePoll(req.GetPollId(), s.Now(), fail.NotFound())
		tx.SelectPoll(req.GetPollId(), &l.poll)
	})
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, l), nil
}

// DeletePoll deletes a poll. The post that shows it stays.
func (s *Service) DeletePoll(ctx context.Context, req *plazav1.DeletePollRequest) (*plazav1.StatusSuccessResponse, error) {
	id := req.GetPollId()
	return service.StatusSuccess(), s.newOwn(ctx, id).Write(ctx, id, func(tx *store.Tx) { tx.DeletePoll(id, s.Now(), fail.NotFound()) })
}

// hasAnswer reports whether a poll has an answer.
func hasAnswer(p *content.Poll, answerID string) bool {
	return slices.ContainsFunc(p.Answers, func(a content.PollAnswer) bool { return a.ID == answerID })
}
