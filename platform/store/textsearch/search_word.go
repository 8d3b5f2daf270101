package textsearch

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/store/db"
)

// The constants of BM25, and the number of words of a usual text.
const (
	saturation   = 1.2
	lengthNorm   = 0.75
	usualLength  = 20.0
	titleRepeats = 3 // a word of a title or a tag counts as much as three of a text
	// MaxWeight is the weight of a word that is all there is of an object.
	MaxWeight = 1000
)

var (
	sqlSearchWordsInsert = db.Register("searchWords.insert", `INSERT INTO search_words (home, object_id, created_at, key, words, weight)
		SELECT $1, $2, $3::timestamptz, t.key, t.words, t.weight
		FROM (SELECT unnest($4::text[]) AS key, unnest($5::text[]) AS words, unnest($6::bigint[]) AS weight) AS t`)
	sqlSearchWordsDelete = db.Register("searchWords.delete", `DELETE FROM search_words WHERE home = $1 AND object_id = ANY($2::text[])`)
)

// Document is an object that searches find.
type Document struct {
	ID        string
	Kind      SearchKind
	CreatedAt time.Time
	Title     string // what the object is called, and its tags
	Text      string
	Hashtags  []string
}

// searchWord is a row of search_words.
type searchWord struct {
	words  []string
	weight int64
}

// rows returns the rows of a document by key.
func (d Document) rows() map[string]searchWord {
	rows := map[string]searchWord{}
	counts, length := d.count()
	for word, n := range counts {
		weight := max(1, int64(MaxWeight*n/(n+saturation*(1-lengthNorm+lengthNorm*length/usualLength))))
		rows[SearchKey(d.Kind, word)] = searchWord{[]string{word}, weight}
		if utf8.RuneCountInString(word) >= StemRunes {
			stem := rows[StemKey(d.Kind, word)]
			rows[StemKey(d.Kind, word)] = searchWord{append(stem.words, word), max(stem.weight, weight)}
		}
	}
	for _, tag := range d.Hashtags {
		rows[SearchKey(SearchHashtags, FoldWord(tag))] = searchWord{[]string{FoldWord(tag)}, MaxWeight}
	}
	return rows
}

// count returns how often the document contains each of its first words, and its length.
func (d Document) count() (counts map[string]float64, length float64) {
	counts = map[string]float64{}
	add := func(words []string, n float64) {
		for _, word := range words {
			if _, known := counts[word]; known || len(counts) < maxSearchWords {
				counts[word] += n
			}
			length += n
		}
	}
	add(Words(d.Title), titleRepeats)
	add(Words(d.Text), 1)
	for _, tag := range d.Hashtags {
		add(Words(tag), 1)
	}
	return counts, length
}

// columns returns the rows of a document as the columns of a statement, in the order of the keys.
func (d Document) columns() (keys, words []string, weights []int64) {
	rows := d.rows()
	keys = slices.Sorted(maps.Keys(rows))
	words, weights = make([]string, len(keys)), make([]int64, len(keys))
	for i, key := range keys {
		slices.Sort(rows[key].words)
		words[i], weights[i] = " "+strings.Join(rows[key].words, " ")+" ", rows[key].weight
	}
	return keys, words, weights
}

// InsertSearchWords stores what searches find a new object by.
func (w Tx) InsertSearchWords(d Document) {
	if keys, words, weights := d.columns(); len(keys) > 0 {
		w.Exec(sqlSearchWordsInsert, d.ID, d.CreatedAt, keys, words, weights)
	}
}

// ReplaceSearchWords is InsertSearchWords for an object that may have words already.
func (w Tx) ReplaceSearchWords(d Document) {
	w.DeleteSearchWords(d.ID)
	w.InsertSearchWords(d)
}

// DeleteSearchWords removes objects from searches. Call it when they are deleted.
func (w Tx) DeleteSearchWords(objectIDs ...string) { w.Exec(sqlSearchWordsDelete, objectIDs) }
