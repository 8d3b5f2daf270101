package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/store/textsearch"
)

// Found are the objects in which a word of the text was found.
type Found struct {
	Word  string
	Exact []textsearch.SearchHit // that contain the word
	Stem  []textsearch.SearchHit // that contain words with the same first letters
}

// Ranked is an object with its score.
type Ranked struct {
	ID    string
	Score float64
}

// key returns the score as text, in the same order.
func (r Ranked) key() string { return fmt.Sprintf("%07d", int(math.Round(r.Score*1_000_000))) }

const (
	// stemWeight is how much a different word counts of one that is the same, if all of its letters were equal.
	stemWeight = 0.5
	// minSimilar is the smallest part of the letters that must be equal.
	minSimilar = 0.6
)

// Rank orders the objects of found by their similarity to the text, as BM25 does: by how often they contain the words and by
// how rare these are. SearchService.RankPosts documents it.
func Rank(found []Found) []Ranked {
	scores, total := map[string]float64{}, 0.0
	for _, f := range found {
		idf := math.Log(1 + (float64(maxCandidates)+1)/(float64(len(f.Exact))+0.5))
		total += idf
		for id, weight := range f.weights() {
			scores[id] += idf * weight
		}
	}
	ranked := make([]Ranked, 0, len(scores))
	for id, score := range scores {
		ranked = append(ranked, Ranked{id, min(1, score/total)})
	}
	slices.SortFunc(ranked, func(a, b Ranked) int { return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(b.ID, a.ID)) })
	return ranked
}

// weights returns the weights of the word in the objects.
func (f Found) weights() map[string]float64 {
	weights := map[string]float64{}
	for _, h := range f.Exact {
		weights[h.ID] = float64(h.Weight) / textsearch.MaxWeight
	}
	for _, h := range f.Stem {
		best := 0.0
		for word := range strings.FieldsSeq(h.Words) {
			if similar := similarity(f.Word, word); word != f.Word && similar >= minSimilar {
				best = max(best, similar)
			}
		}
		if best > 0 {
			weights[h.ID] = max(weights[h.ID], best*stemWeight*float64(h.Weight)/textsearch.MaxWeight)
		}
	}
	return weights
}

// similarity returns the part of the letters of the longer one of two words that are equal at their beginning.
func similarity(a, b string) float64 {
	equal := 0
	for equal < len(a) && equal < len(b) && a[equal] == b[equal] {
		equal++
	}
	longest := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	return float64(utf8.RuneCountInString(strings.ToValidUTF8(a[:equal], ""))) / float64(longest)
}
