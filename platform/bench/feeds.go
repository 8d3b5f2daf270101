package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Goals for feeds.
const (
	maxFeedRatio = 3.0 // p50 of a feed relative to that of a user who follows 10 accounts
	maxPageRatio = 1.2 // p50 of page 50 relative to that of page 1
	maxFeedTrips = 5.0 // database round trips per request; only ranked feeds need the fifth
	latePage     = 50
	feedLimit    = 20
)

// feedName is the name of the feed measurements for -only.
const feedName = "feeds at scale"

// feedCase is one page of one feed.
type feedCase struct {
	name    string
	order   string // of following feeds
	follows int
	page    int

	op    *operation
	load  load
	trips float64 // per request
}

// feeds measures pages of feeds on many posts. It returns nil if they are not selected.
func (b *bench) feeds(ctx context.Context) ([]*feedCase, error) {
	if b.feedPosts == 0 || !strings.Contains(feedName, b.only) {
		return nil, nil
	}
	e := b.environment
	b.progress.sayf("adding %d posts for feeds", b.feedPosts)
	readers, err := e.seedFeeds(ctx, b.progress, b.feedPosts)
	if err != nil {
		return nil, err
	}
	c, err := dial(ctx, e.plaza().api)
	if err != nil {
		return nil, err
	}
	defer c.close()
	following, err := followingCases(c, readers)
	if err != nil {
		return nil, err
	}
	others, err := e.otherFeeds(c, readers[len(readers)/2])
	if err != nil {
		return nil, err
	}
	cases := slices.Concat(following, others)
	for round := range b.rounds + 1 {
		for _, one := range cases {
			if err := b.readFeed(ctx, c, one, round == 0); err != nil {
				return nil, err
			}
		}
		b.progress.sayf("feeds: round %d of %d", round, b.rounds)
	}
	return cases, nil
}

// readFeed measures one case for a while and discards the result if warm is true.
func (b *bench) readFeed(ctx context.Context, c *client, one *feedCase, warm bool) error {
	before, err := b.environment.plaza().metrics(ctx)
	if err != nil {
		return err
	}
	l, err := drive(ctx, one.op, []*client{c}, b.length())
	if err != nil {
		return fmt.Errorf("%s: %w", one.name, err)
	}
	after, err := b.environment.plaza().metrics(ctx)
	if err != nil || warm {
		return err
	}
	one.load.add(l)
	one.trips += after.since(before).rounds() - b.idle[b.environment.plaza()].rounds()*l.elapsed.Seconds()
	return nil
}

// rounds returns the number of sequential rounds of database requests. A round queries several homes concurrently, so
// the home with the most requests determines it.
func (c counters) rounds() float64 { return slices.Max(append(c.of(roundTrips), 0)) }

// tripsEach returns the number of rounds per request.
func (f *feedCase) tripsEach() float64 { return f.trips / float64(max(1, len(f.load.latencies))) }

func (f *feedCase) p50() time.Duration { return f.load.percentile(0.5) }

// followingCases returns the first and a late page of the following feed of every reader, in both orders.
func followingCases(c *client, readers []feedReader) ([]*feedCase, error) {
	var cases []*feedCase
	for _, order := range []string{"lastCreated", "customRanking"} {
		for _, r := range readers {
			first := fmt.Sprintf("/api/v1/me/following-feeds?sortBy=%s&limit=%d", order, feedLimit)
			late, err := walk(c, r.person, first, latePage)
			if err != nil {
				return nil, err
			}
			for i, path := range []string{first, late} {
				page := []int{1, latePage}[i]
				name := fmt.Sprintf("following, %s, %d followed, page %d", order, r.follows, page)
				one := newFeedCase(name, r.person, path)
				one.order, one.follows, one.page = order, r.follows, page
				cases = append(cases, one)
			}
		}
	}
	return cases, nil
}

// otherFeeds returns the first pages of the other feeds.
func (e *environment) otherFeeds(c *client, reader feedReader) ([]*feedCase, error) {
	for range feedLimit { // posts on a content target, at the server's home
		body := `{"targetType":"content","targetId":"article","data":{"text":"Under an article"}}`
		if _, err := c.json(httpRequest("POST", "/api/v4/posts", reader.token, body)); err != nil {
			return nil, err
		}
	}
	wall, err := c.json(httpRequest("GET", fmt.Sprintf("/api/v1/me/following-feeds?sortBy=lastCreated&limit=%d", feedLimit), reader.token, ""))
	if err != nil {
		return nil, err
	}
	owner, _ := objects(wall["posts"])[0]["targetInternalId"].(string)
	var cases []*feedCase
	for _, feed := range [][2]string{
		{"global v3", "/api/v3/global-feeds?limit=20"},
		{"global v4", "/api/v4/me/global-feeds?limit=20"},
		{"global v5, ranked", "/api/v5/me/global-feeds?limit=20"},
		{"content", "/api/v3/content-feeds?options%5Blimit%5D=20"},
		{"community, published", "/api/v3/community-feeds/" + e.data.feed + "?limit=20"},
		{"user", "/api/v3/user-feeds/" + owner + "?limit=20"},
	} {
		cases = append(cases, newFeedCase(feed[0], reader.person, feed[1]))
	}
	return cases, nil
}

func newFeedCase(name string, reader person, path string) *feedCase {
	request := httpRequest(http.MethodGet, path, reader.token, "")
	return &feedCase{name: name, page: 1, op: &operation{name: name, request: func(int64) []byte { return request }}}
}

// walk follows the page tokens of a feed up to a page and returns the path of that page.
func walk(c *client, reader person, path string, page int) (string, error) {
	base, _, _ := strings.Cut(path, "&limit")
	for at := 1; at < page; at++ {
		answer, err := c.json(httpRequest(http.MethodGet, path, reader.token, ""))
		if err != nil {
			return "", err
		}
		paging, _ := answer["paging"].(map[string]any)
		token, _ := paging["next"].(string)
		if token == "" || len(objects(answer["posts"])) != feedLimit {
			return "", fmt.Errorf("page %d of %s is the last one: increase -feed-posts", at, path)
		}
		path = base + "&token=" + url.QueryEscape(token)
	}
	return path, nil
}
