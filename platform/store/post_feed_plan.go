package store

// Feeds are assembled when they are read: posts are not copied to followers, so that a post of an account with a million
// followers costs as much as any other, and follows, blocks and deletions take effect immediately.
//
// Each home with targets executes one statement. The statement finds the followed users in the home's mirror of follows, so
// that long lists of ids are never sent. There are two basic plans. Their costs depend on the number of targets, which is
// known in advance, and on the share of the home's posts that are on these targets, which is not.
//
// Walk reads the first posts of each target after the position with the index posts_by_created. Then it reads the rest of
// the page from those targets that have some of the first posts overall; no other target can be on the page. Its cost is
//
//	targets x probeCost
//
// Scan reads the home's posts in the order of the feed with the index posts_by_recency, keeps those on targets, and stops
// when the page is full. Its cost is
//
//	targets x listCost + posts x lookupCost    where posts = limit / share of the posts on targets
//
// A walk is therefore better for few targets, and a scan for many, unless the targets have been inactive. The share is
// estimated from a sample of the first posts. If these fill the page, or there are no further posts, the statement is done.
// Otherwise it continues with
//
//	a scan    if found x window >= limit x sample, followed by a walk if the scan does not fill the page,
//	a walk    otherwise,
//
// where window is the number of posts that a scan can read at the cost of the walk. The total cost is that of the sample and
// the cheaper plan, or twice the walk if the sample was misleading. The database only evaluates the steps that are needed.
//
// With thousands of targets, a small sample is sufficient and often contains the whole page: Mixed looks up the target of
// each sampled post, and builds the list of targets only if it must continue. A very long list exceeds the memory of a query:
// Probe looks up the target of every post.
//
// All plans return the same page and start at its position, so that late pages cost as much as the first one. BenchmarkFeed
// measures them. The costs are microseconds of PostgreSQL with all data in memory; with data on disk a walk is slower,
// because its reads are not sequential.
const (
	probeCost  = 10.0 // reading the first posts of a target
	listCost   = 0.5  // adding a target to the list
	lookupCost = 0.4  // looking up the target of a post in the list

	walkTargets = 128    // maximum for Walk
	scanTargets = 2000   // maximum for Scan
	listTargets = 20_000 // maximum for Mixed
	listSample  = 512    // posts sampled with a list
	probeSample = 128    // posts sampled by lookups
	feedWindow  = 20_000 // maximum number of posts that a scan reads
)

// feedPlan is the way in which a home finds its part of a page.
type feedPlan string

const (
	feedWalk     feedPlan = "Walk"
	feedScan     feedPlan = "Scan"
	feedMixed    feedPlan = "Mixed"
	feedProbe    feedPlan = "Probe"
	feedEveryone feedPlan = "Everyone"
)

// choosePlan returns the plan for a home with this number of targets.
func (q PostFeedQuery) choosePlan(targets int) feedPlan {
	switch {
	case q.Everyone:
		return feedEveryone
	case targets <= walkTargets:
		return feedWalk
	case targets <= scanTargets:
		return feedScan
	case targets <= listTargets:
		return feedMixed
	}
	return feedProbe
}

// scanWindow returns the number of posts that a scan may read at the cost of a walk.
func scanWindow(targets int) int {
	return min(feedWindow, int(float64(targets)*(probeCost-listCost)/lookupCost))
}

// firsts returns how many posts of each target a walk reads first: together twice a page, so that the bound of the page
// is known even if some targets have few posts.
func (q PostFeedQuery) firsts(targets int) int {
	return max(1, (2*q.Limit+targets-1)/max(1, targets))
}
