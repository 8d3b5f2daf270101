package content

import (
	"strings"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// feedTargets is the number of targets of a home that a feed reads one by one.
const feedTargets = 64

// sqlFollowedFirst reads up to $3 followed users of each home that ids contain.
var sqlFollowedFirst = db.Register("follows.first", followedFirst())

func followedFirst() string {
	var branches []string
	for _, home := range region.All() {
		from, to := region.IDRange(home)
		branches = append(branches, `(SELECT followee_id FROM follows WHERE home = $1 AND follower_id = $2 AND status = 'accepted'
			AND followee_id > '`+from+`' AND followee_id < '`+to+`' LIMIT $3::bigint)`)
	}
	return strings.Join(branches, " UNION ALL ")
}

// Followed reads the users that a user follows, as far as PostFeedQuery.Follow needs them.
func (r ReadBatch) Followed(userID string, into *[]string) {
	r.AddAt(userID, sqlFollowedFirst, db.Values(into), userID, feedTargets+1)
}

// FollowedAtHome reads all users of a home whom a user follows.
func (r ReadBatch) FollowedAtHome(home region.Code, readerID string, into *[]string) {
	r.Add(home, sqlFollowersOf, db.Values(into), readerID)
}

// Follow includes the walls of followed users, which Followed has read. counts contains the numbers of users that the
// reader follows.
func (q *PostFeedQuery) Follow(followed []string, counts core.Counts, routes *db.Routes) {
	q.Following, q.Followed, q.FollowedAt = true, followed, map[region.Code]int64{}
	read := map[region.Code]int64{}
	for _, id := range followed {
		if home, err := region.HomeOf(id); err == nil {
			read[home]++
		}
	}
	for _, home := range region.All() {
		if read[home] <= feedTargets {
			continue
		}
		n := max(read[home], counts.Of(q.ReaderID, core.CountFollowing(home)))
		q.FollowedAt[home] += n
		for _, other := range region.All() { // followed users may have moved
			if moved := min(routes.Moved(home, other), n); moved > 0 {
				q.FollowedAt[other] += moved
			}
		}
	}
}
