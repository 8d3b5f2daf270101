package store

// A feed of many targets is put together when it is read: nothing is copied to followers when somebody posts, so a post of
// an account with a million followers costs what every post costs, and a follow, a block or a deletion shows at once.
//
// Each home that has targets is asked one statement. It finds whom the reader follows by itself, in the mirror of follows
// that it has of its own users: lists of thousands of ids never travel. There are two ways to the page. What they cost depends
// on how many targets there are, which is known before, and on how many of the home's posts stand on them, which is not.
//
// Walk looks at the first posts of each target past the position, a probe of posts_by_created each; of the targets that have
// some of the first of all, for the page can come from no other, it reads the rest of the page. That costs
//
//	targets x probeCost
//
// Scan goes through posts_by_recency, the home's posts in the order of the feed, keeps those that stand on targets, and stops
// when the page is full. That costs
//
//	targets x listCost + posts x lookCost    where posts = limit / share of the posts that stand on targets
//
// So a walk is right for few targets, and a scan the more so the more they are, unless they have fallen silent. The share is
// told by a sample of the first posts. Where they fill the page, or no posts are left, that is it. Otherwise the statement goes
// on with
//
//	a scan    where found x window >= limit x sample, and with a walk where the scan does not fill the page,
//	a walk    elsewhere,
//
// where window is how many posts a scan may look at for the price of the walk. So a page costs the cheaper way and the sample,
// and where the sample misleads, the walk twice. The database evaluates only what it comes to.
//
// Where there are thousands of targets, a small sample tells enough, and often holds the whole page: Mixed asks of each of its
// posts whether the reader follows where it stands, and makes the list only to go on. A list of very many does not fit into
// the memory of a query at all: Probe asks of every post.
//
// All ways give the same page, and all start at its position, so that a late page costs what the first one does. BenchmarkFeed
// measures them. The costs are those of PostgreSQL with everything in memory, in microseconds; where the disk is asked, a walk
// suffers more, for what it reads lies apart.
const (
	probeCost = 10.0 // a target's first posts
	listCost  = 0.5  // a target put into a list
	lookCost  = 0.4  // a post held against the list

	walkTargets = 128    // up to which a walk is cheap
	scanTargets = 2000   // up to which the list is made for the sample
	listTargets = 20_000 // up to which it is made at all
	listSample  = 512    // posts that are held against the list
	probeSample = 128    // posts that are asked about
	feedWindow  = 20_000 // posts that a scan looks at, at most
)

type feedWay string

const (
	feedWalk     feedWay = "Walk"
	feedScan     feedWay = "Scan"
	feedMixed    feedWay = "Mixed"
	feedProbe    feedWay = "Probe"
	feedEveryone feedWay = "Everyone"
)

// way chooses how a home with so many targets finds its part of the page.
func (q FeedQuery) way(targets int) feedWay {
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

// scanWindow is how many posts a scan may look at: as many as cost what a walk would.
func scanWindow(targets int) int {
	return min(feedWindow, int(float64(targets)*(probeCost-listCost)/lookCost))
}

// firsts is how many posts of each target a walk looks at first: twice a page of all of them together, so that targets that have
// none or few do not keep it from knowing where the page ends.
func (q FeedQuery) firsts(targets int) int {
	return max(1, (2*q.Limit+targets-1)/max(1, targets))
}
