package feed

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/store/content"
)

// customRanking orders a feed by score within windows: the newest windowOf posts are ranked among themselves, then
// the next ones. So a post is never displaced for long by better ones, and the cost of a page does not depend on its
// depth.
//
//	score = engagement * affinity / decay
//
//	engagement = 1 + log2(1 + reactions + 2*comments)         each counted up to 100; the logarithm damps large numbers
//	affinity   = 1 + 0.5*liked/(liked+1)                      liked: other posts of the same author or target in the window that the
//	                                                          reader reacted to; at most 1.5
//	decay      = (1 + hours/6)^1.2                            hours since the post was created
//
// A new post without reactions scores 1, about as much as one of six hours ago with three reactions and a comment.
//
// The token carries the time at which the first page was read, and later posts, reactions and comments are not
// counted. So the order is stable while a reader pages. Only what leaves no trace can still move a post: a removed
// reaction or a purged comment.
const (
	decayHours    = 6
	decayPower    = 1.2
	commentWeight = 2
	affinityMax   = 0.5
)

// minWindow is the minimum number of posts that are ranked together.
const minWindow = 200

// windowOf returns the number of posts that are ranked together. It is a multiple of the page size, so that no page
// spans two windows.
func windowOf(limit int) int { return (minWindow + limit - 1) / limit * limit }

// ranked is an entry with its score in millionths, the unit of page tokens.
type ranked struct {
	content.PostFeedEntry
	score int32
}

// rank orders the entries of one window by descending score, and by descending id for equal scores.
func rank(entries []content.PostFeedEntry, asOf time.Time) []ranked {
	liked := likes(entries)
	out := make([]ranked, len(entries))
	for i, e := range entries {
		out[i] = ranked{PostFeedEntry: e, score: score(e, liked.excluding(e), asOf)}
	}
	slices.SortFunc(out, func(a, b ranked) int { return before(a.score, a.ID, b.score, b.ID) })
	return out
}

// before compares positions in a window. It is negative if a comes first.
func before(aScore int32, aID string, bScore int32, bID string) int {
	return cmp.Or(cmp.Compare(bScore, aScore), strings.Compare(bID, aID))
}

// score implements the formula of customRanking.
func score(e content.PostFeedEntry, liked int, asOf time.Time) int32 {
	engagement := 1 + math.Log2(float64(1+e.Reactions+commentWeight*e.Comments))
	affinity := 1 + affinityMax*float64(liked)/float64(liked+1)
	hours := max(0, asOf.Sub(e.CreatedAt).Hours())
	decay := math.Pow(1+hours/decayHours, decayPower)
	return int32(math.Round(engagement * affinity / decay * 1e6)) // at most 15 millions
}

// likedBy counts the entries that the reader reacted to by author and by target.
type likedBy map[string]int

func likes(entries []content.PostFeedEntry) likedBy {
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

// excluding returns the number of liked entries of e's author and target, without e itself.
func (l likedBy) excluding(e content.PostFeedEntry) int {
	n := l[e.AuthorID]
	if e.TargetID != e.AuthorID {
		n = max(n, l[e.TargetID])
	}
	if e.Mine {
		n--
	}
	return n
}
