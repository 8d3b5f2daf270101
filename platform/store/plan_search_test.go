package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/textsearch"
)

// Every tenth post contains the word common, and every post a word of its own. Communities have one word each.
var _ = planned((*collector).collectSearch,
	`INSERT INTO search_words (home, key, created_at, object_id, words, weight)
		SELECT HOME(c), 'common', AT(n, 7), ID(p, n, c), ' common ', 500
		FROM (SELECT n, CASE WHEN n % 4 = 0 THEN 3 ELSE 1 + n % 2999 END AS c FROM generate_series(10, 120000, 10) AS n) AS p`,
	`INSERT INTO search_words (home, key, created_at, object_id, words, weight)
		SELECT HOME(c), md5(n::text), AT(n, 7), ID(p, n, c), ' ' || md5(n::text) || ' ', 500
		FROM (SELECT n, CASE WHEN n % 4 = 0 THEN 3 ELSE 1 + n % 2999 END AS c FROM generate_series(1, 120000) AS n) AS p`,
	`INSERT INTO search_words (home, key, created_at, object_id, words, weight)
		SELECT HOME(n), 'group' || (n % 3000)::text, AT(n, 60), ID(c, n, n), ' group ', 500 FROM generate_series(1, 30000) AS n`,
)

func (c *collector) collectSearch() {
	var hits []textsearch.SearchHit
	searcher := textsearch.Searcher{UserID: userID(3), Communities: []string{communityID(3)}, Hidden: []string{userID(9)}}
	both(worldPosts/2, func(desc bool, at time.Time, id string) {
		page := textsearch.SearchPage{
			Searcher: searcher, SearchWord: textsearch.SearchWord{
				Key:  "common",
				Word: "common",
			}, Desc: desc, After: at, AfterID: id, Limit: pageRows,
		}
		c.reads(func(r *store.ReadBatch) { r.SearchPosts(textsearch.PostSearch{SearchPage: page}, &hits) })
		page.SearchWord = textsearch.SearchWord{Key: "group3", Word: "gro", IsPrefix: true}
		c.reads(func(r *store.ReadBatch) { r.SearchCommunities(textsearch.CommunitySearch{SearchPage: page}, &hits) })
	})
	c.lastWindows("search.posts", "search.communities")
	c.write(func(w *store.Tx) { w.DeleteSearchWords(postID(4), postID(8)) })
	c.write(func(w *store.Tx) {
		text := "A place"
		w.UpdateCommunity(communityID(3), communities.CommunityChange{Old: &communities.Community{ID: communityID(3)}, Description: &text},
			worldStart,
			new(*communities.Community))
	})
}
