package feed

import (
	"math"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store"
)

// customRanking orders a feed by score, window by window: the newest windowOf posts are one window, ranked among themselves,
// the next ones are the next. A post is never pushed out of sight by a better one, and a page costs the same however deep it
// lies.
//
//	score = engagement * affinity / decay
//
//	engagement = 1 + log2(1 + reactions + 2*comments)         each counted up to 100; the tenth reaction says less than the first
//	affinity   = 1 + 0.5*liked/(liked+1)                       liked: other posts of the same author or the same wall or
//	                                                          community in the window that the reader reacted to; at most 1.5
//	decay      = (1 + hours/6)^1.2                             hours since the post was made
//
// A fresh post without an answer scores 1, as does one of six hours with three reactions and a comment, about.
//
// Everything is as it was when the first page was read: that time travels in the token, posts and answers of later are not
// counted. So the order stands still while a reader pages. What may still move a post is what is gone without a trace: a
// reaction taken back, a comment purged.
const (
	decayHours    = 6
	decayPower    = 1.2
	commentWeight = 2
	affinityMax   = 0.5
)

// minWindow is the least that is ranked together.
const minWindow = 200

// windowOf is how many posts are ranked together: whole pages, so that no page spans two windows.
func windowOf(limit int) int { return (minWindow + limit - 1) / limit * limit }

// ranked is an entry with its score in millionths: what the token carries.
type ranked struct {
	store.FeedEntry
	score int32
}

// rank orders the entries of one window, best first; of equal ones the greater id goes first.
func rank(entries []store.FeedEntry, asOf time.Time) []ranked {
	liked := likes(entries)
	out := make([]ranked, len(entries))
	for i, e := range entries {
		out[i] = ranked{FeedEntry: e, score: score(e, liked.besides(e), asOf)}
	}
	slices.SortFunc(out, func(a, b ranked) int { return before(a.score, a.ID, b.score, b.ID) })
	return out
}

// before compares positions in a window: negative where a goes first.
func before(aScore int32, aID string, bScore int32, bID string) int {
	switch {
	case aScore > bScore || (aScore == bScore && aID > bID):
		return -1
	case aScore == bScore && aID == bID:
		return 0
	}
	return 1
}

// score is the formula.
func score(e store.FeedEntry, liked int, asOf time.Time) int32 {
	engagement := 1 + math.Log2(float64(1+e.Reactions+commentWeight*e.Comments))
	affinity := 1 + affinityMax*float64(liked)/float64(liked+1)
	hours := max(0, asOf.Sub(e.CreatedAt).Hours())
	decay := math.Pow(1+hours/decayHours, decayPower)
	return int32(math.Round(engagement * affinity / decay * 1e6)) // at most 15 millions
}

// likedBy counts the entries that the reader reacted to, by author and by target.
type likedBy map[string]int

func likes(entries []store.FeedEntry) likedBy {
	l := likedBy{}
	for _, e := range entries {
		if e.Mine {
			l[e.AuthorID]++
			if e.TargetID != e.AuthorID {
				l[e.TargetID]++
			}
		}
	}
	return l
}

// besides counts those of e's author and target other than e itself.
func (l likedBy) besides(e store.FeedEntry) int {
	n := l[e.AuthorID]
	if e.TargetID != e.AuthorID {
		n = max(n, l[e.TargetID])
	}
	if e.Mine {
		n--
	}
	return n
}
