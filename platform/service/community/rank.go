package community

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/store/communities"
)

// Trending communities are ordered by activity, see store.ReadBatch.ActivityAt: how many users have posted recently, where a
// user counts as one, as a half after a day and as an eighth after a week. Creating a community counts as a post.
//
// Recommended communities are those that the caller is not a member of, ordered by
//
//	score = activity + followed + category
//
//	followed    the number of members that the caller follows, at most 10: each counts as a user who has just posted
//	category    1 if the community has a category of a community of the caller's, else 0
//
// Both lists contain the communities of the newest posts of each home and its newest communities; the recommended ones also
// those of users that the caller follows. Equal scores are ordered by id. A list is as of the time of its first page, which
// the page token carries.
const (
	oneUser     = 1_000_000 // the unit of scores
	maxFollowed = 10
)

// ranked is a community with its score.
type ranked struct {
	communities.Rankable
	score int64
}

// key returns the score as text in the order of scores.
func (r ranked) key() string { return fmt.Sprintf("%020d", r.score) }

// byScore sorts communities by descending score and then by descending id.
func byScore(list []ranked) {
	slices.SortFunc(list, func(a, b ranked) int {
		return -cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.ID, b.ID))
	})
}

// taste is what the recommendations for a caller depend on.
type taste struct {
	// followed is the number of members that the caller follows, by community.
	followed map[string]int
	// categories are those of the caller's communities.
	categories map[string]bool
	// excluded are the communities that the caller is a member of or banned from.
	excluded map[string]bool
}

// newTaste returns the taste of a caller: joined are the communities of followed users, own some of the caller's.
func newTaste(joined []communities.UserCommunity, own []communities.Rankable, excluded []string) taste {
	t := taste{followed: map[string]int{}, categories: map[string]bool{}, excluded: map[string]bool{}}
	for _, j := range joined {
		t.followed[j.CommunityID]++
	}
	for _, c := range own {
		for _, id := range c.CategoryIDs {
			t.categories[id] = true
		}
	}
	for _, id := range excluded {
		t.excluded[id] = true
	}
	return t
}

// recommend returns the recommendations among communities with their activity.
func (t taste) recommend(active []ranked) []ranked {
	var list []ranked
	for _, c := range active {
		if !t.excluded[c.ID] {
			c.score += oneUser * int64(t.bonus(c.Rankable))
			list = append(list, c)
		}
	}
	byScore(list)
	return list
}

// bonus returns the number of users that the caller's taste counts for.
func (t taste) bonus(c communities.Rankable) int {
	n := min(t.followed[c.ID], maxFollowed)
	if slices.ContainsFunc(c.CategoryIDs, func(id string) bool { return t.categories[id] }) {
		n++
	}
	return n
}
