package view

import (
	"encoding/json"
	"time"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Poll makes the message of a poll. mine are the viewer's votes, in this poll and in others; counts holds those of the
// poll's answers.
func (b *Builder) Poll(p store.Poll, counts store.Counts, mine []store.PollVote) *plazav1.Poll {
	m := &plazav1.Poll{
		PollId:         p.ID,
		UserId:         p.CreatorPublicID,
		UserInternalId: p.CreatorID,
		UserPublicId:   p.CreatorPublicID,
		Title:          p.Title,
		Question:       p.Question,
		AnswerType:     p.AnswerType,
		CreatedAt:      isoTime(p.CreatedAt),
		Status:         "open",
		ClosedIn:       float64(p.ClosedIn),
	}
	if end := p.End(); end != nil {
		m.ClosedAt = isoTime(*end)
	}
	if p.IsClosed(b.now()) {
		m.Status = "closed"
	}
	voted := map[string]bool{}
	for _, v := range mine {
		if v.PollID == p.ID {
			voted[v.AnswerID] = true
		}
	}
	m.IsVoted = len(voted) > 0
	for _, a := range p.Answers {
		m.Answers = append(m.Answers, &plazav1.PollAnswer{
			Id: a.ID, DataType: a.DataType, Data: a.Data, FileId: a.FileID,
			VoteCount: count(counts.Of(p.ID, store.CountVotes(a.ID))), IsVotedByUser: voted[a.ID],
		})
	}
	return m
}

// isoTime is a time in a field that is a text.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// pollOf is the id of the poll that a post, or a child of one, is about; empty without one.
func pollOf(p store.Post) string {
	if p.StructureType != "poll" || p.DeletedAt != nil {
		return ""
	}
	var data struct {
		PollID string `json:"pollId"`
	}
	if err := json.Unmarshal(p.Data, &data); err != nil {
		return ""
	}
	return data.PollID
}

// readPolls reads the polls of the posts with their counts, and what the viewer votes for.
func (g *gathering) readPolls(reads *store.ReadBatch) {
	wanted := newSet()
	for _, p := range g.Posts {
		wanted.add(pollOf(p))
	}
	ids := wanted.list()
	if len(ids) == 0 {
		return
	}
	reads.Polls(ids, &g.polls)
	reads.CountsOf(ids, g.Counts)
	if g.viewerID != "" {
		reads.VotesOf(ids, g.viewerID, &g.votes)
	}
}

// buildPolls keeps the polls in the order of their posts; deleted ones are not there.
func (g *gathering) buildPolls(a *Aggregate) {
	seen := newSet()
	for _, post := range g.Posts {
		for _, p := range g.polls {
			if p.ID == pollOf(post) && p.DeletedAt == nil && !seen.has[p.ID] {
				seen.add(p.ID)
				a.Polls = append(a.Polls, g.builder.Poll(p, g.Counts, g.votes))
			}
		}
	}
}
