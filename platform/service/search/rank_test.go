package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/search"
	"github.com/plaza-social/plaza/platform/store/textsearch"
)

func hit(id string, weight int64, words string) textsearch.SearchHit {
	return textsearch.SearchHit{ID: id, Weight: weight, Words: words}
}

// order returns the ids of what is ranked, and the scores.
func order(t *testing.T, found ...search.Found) ([]string, map[string]float64) {
	t.Helper()
	var ids []string
	scores := map[string]float64{}
	for _, r := range search.Rank(found) {
		require.Positive(t, r.Score)
		require.LessOrEqual(t, r.Score, 1.0)
		ids, scores[r.ID] = append(ids, r.ID), r.Score
	}
	return ids, scores
}

func TestRankByWeight(t *testing.T) {
	t.Parallel()
	ids, scores := order(t, search.Found{Word: "rope", Exact: []textsearch.SearchHit{
		hit("a", 300, ""), hit("b", 700, ""),
		hit("c", 1000, ""),
	}})
	require.Equal(t, []string{"c", "b", "a"}, ids)
	require.InDelta(t, 1, scores["c"], 1e-9)
	require.InDelta(t, 0.3, scores["a"], 1e-9)
}

// TestRankByRarity checks that a rare word counts more than a frequent one, and two more than one.
func TestRankByRarity(t *testing.T) {
	t.Parallel()
	frequent := search.Found{Word: "the", Exact: []textsearch.SearchHit{hit("common", 500, ""), hit("both", 500, "")}}
	for range 100 {
		frequent.Exact = append(frequent.Exact, hit("other", 100, ""))
	}
	ids, _ := order(t, frequent, search.Found{Word: "carabiner", Exact: []textsearch.SearchHit{hit("rare", 500, ""), hit("both", 500, "")}})
	require.Equal(t, []string{"both", "rare", "common", "other"}, ids)
}

// TestRankRelatedWords checks that words with the same beginning count less than the same ones, and others not at all.
func TestRankRelatedWords(t *testing.T) {
	t.Parallel()
	ids, scores := order(t, search.Found{
		Word: "climb", Exact: []textsearch.SearchHit{hit("same", 500, " climb ")},
		Stem: []textsearch.SearchHit{
			hit("same", 500, " climb climbing "), hit("near", 500, " climbs "), hit("far", 500, " climbing "), hit("none", 500, " clinic "),
		},
	})
	require.Equal(t, []string{"same", "near", "far"}, ids)
	require.InDelta(t, 0.5, scores["same"], 1e-9)
	require.InDelta(t, 0.5*0.5*5/6, scores["near"], 1e-9)
	require.InDelta(t, 0.5*0.5*5/8, scores["far"], 1e-9)
}

// TestRankSimilarWords checks from which similarity on a word with the same beginning counts: three fifths of the longer word's letters.
func TestRankSimilarWords(t *testing.T) {
	t.Parallel()
	ids, scores := order(t, search.Found{Word: "climb", Stem: []textsearch.SearchHit{
		hit("at the limit", 500, " click "), hit("below", 500, " clinic "), hit("letters", 500, " clïmb "),
	}})
	require.Equal(t, []string{"at the limit"}, ids)
	require.InDelta(t, 0.5*0.5*3/5, scores["at the limit"], 1e-9)
}

func TestRankNothing(t *testing.T) {
	t.Parallel()
	ids, _ := order(t)
	require.Empty(t, ids)
	ids, _ = order(t, search.Found{Word: "rope"})
	require.Empty(t, ids)
}
