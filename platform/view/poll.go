package view

import (
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Poll converts a poll. counts must hold the votes per answer; mine are the viewer's votes, which may include other
// polls.
func (b *Builder) Poll(p content.Poll, counts core.Counts, mine []content.PollVote) *plazav1.Poll {
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
			VoteCount: count(counts.Of(p.ID, content.CountVotes(a.ID))), IsVotedByUser: voted[a.ID],
		})
	}
	return m
}

// pollIDs returns the ids of the polls that the posts embed.
func (l *loader) pollIDs() []string { return l.embeddedIDs("poll", "pollId") }

// readPolls reads the polls of the posts, their counts and the viewer's votes.
func (l *loader) readPolls(batch *store.ReadBatch) {
	ids := l.pollIDs()
	batch.Polls(ids, &l.polls)
	batch.CountsOf(ids, l.Counts)
	if l.viewerID != "" {
		batch.VotesOf(ids, l.viewerID, &l.votes)
	}
}

// buildPolls adds the polls in the order of their posts, without deleted ones.
func (l *loader) buildPolls(a *Aggregate) {
	polls, _ := shownEmbeds(l.pollIDs(), l.polls, nil, func(p content.Poll) embed { return embed{id: p.ID, deleted: p.DeletedAt != nil} })
	for _, p := range polls {
		a.Polls = append(a.Polls, l.builder.Poll(p, l.Counts, l.votes))
	}
}
