package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// printFeeds prints the measurements of feeds and their goals.
func (r *report) printFeeds(out io.Writer) error {
	if len(r.feeds) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\nfeeds on %d posts, pages of %d, one connection\n\n", r.feedPosts, feedLimit)
	err := printTable(out, tabwriter.AlignRight, "feed\tp50\tp99\tround trips/op", func(t io.Writer) {
		for _, f := range r.feeds {
			fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t\n", f.name, milliseconds(f.p50()), milliseconds(f.load.percentile(0.99)), f.tripsEach())
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	return printTable(out, 0, goalHeader, r.goalsOfFeeds)
}

func (r *report) goalsOfFeeds(t io.Writer) {
	most := 0.0
	for _, f := range r.feeds {
		r.feedGoals(t, f)
		most = max(most, f.tripsEach())
	}
	goal(t, "every feed: database round trips", fmt.Sprintf("at most %.0f", maxFeedTrips), fmt.Sprintf("%.2f", most),
		math.Round(most) <= maxFeedTrips) // the workers' own requests vary slightly
}

// feedGoals compares a first page with that of a reader who follows few accounts, and with a late page of the same
// reader.
func (r *report) feedGoals(t io.Writer, f *feedCase) {
	few := followed()[0]
	switch {
	case f.page != 1:
		return
	case f.order == "":
		r.feedGoal(t, fmt.Sprintf("%s: p50 relative to following %d", f.name, few), f, r.followingFeed("lastCreated", few, 1), maxFeedRatio)
		return
	case f.follows != few:
		r.feedGoal(t, fmt.Sprintf("following, %s: p50 of %d followed relative to %d", f.order, f.follows, few), f,
			r.followingFeed(f.order, few, 1), maxFeedRatio)
	}
	r.feedGoal(t, fmt.Sprintf("following, %s, %d followed: p50 of page %d relative to page 1", f.order, f.follows, latePage),
		r.followingFeed(f.order, f.follows, latePage), f, maxPageRatio)
}

func (r *report) feedGoal(t io.Writer, what string, one, by *feedCase, limit float64) {
	ratio := float64(one.p50()) / float64(max(time.Microsecond, by.p50()))
	goal(t, what, fmt.Sprintf("at most %.1f", limit), fmt.Sprintf("%.2f (%s to %s)", ratio, milliseconds(one.p50()), milliseconds(by.p50())),
		math.Round(ratio*100)/100 <= limit)
}

func (r *report) followingFeed(order string, follows, page int) *feedCase {
	for _, f := range r.feeds {
		if f.order == order && f.follows == follows && f.page == page {
			return f
		}
	}
	return &feedCase{}
}
