package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// messages lists messages of the chat's default subchannel.
func (c *chat) messages(t *testing.T, by *apptest.Client, query url.Values) *apptest.Response {
	t.Helper()
	q := url.Values{"messageFeedId": {c.id}}
	maps.Copy(q, query)
	return by.Do(t, http.MethodGet, messagesPath+"?"+q.Encode(), nil)
}

// segments returns the segments of an answer's messages.
func segments(t *testing.T, r *apptest.Response) []int {
	t.Helper()
	requireAggregate(t, r, "", messageAggregate)
	list := []int{}
	for i := range r.List(t, "messages") {
		list = append(list, r.Int(t, fmt.Sprint("messages.", i, ".segment")))
	}
	return list
}

func span(from, to int) []int {
	var list []int
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

func TestListMessages(t *testing.T) {
	t.Parallel()
	author, reader := newUser(t, region.EU, "author"), newUser(t, region.SG, "reader")
	c := newChat(t, author, reader)
	parent := c.newMessage(t, author, "1", object{"tags": []string{"a"}})
	c.newMessage(t, author, "2", object{"tags": []string{"a", "b"}})
	c.newMessage(t, reader, "3", object{"parentId": parent})
	gone := c.newMessage(t, author, "4", object{"tags": []string{"b"}})
	flagged := c.newMessage(t, author, "5")
	author.Do(t, http.MethodPost, messagesPath, object{"messageFeedId": c.id, "dataType": "custom"}).OK(t)
	author.Do(t, http.MethodDelete, messagesPath+"/"+gone, nil).OK(t)
	reader.Do(t, http.MethodPost, messagesPath+"/"+flagged+"/flags", nil).OK(t)
	for name, tc := range map[string]struct {
		query url.Values
		want  []int
	}{
		"newest first":     {nil, []int{6, 5, 4, 3, 2, 1}},
		"oldest first":     {url.Values{"options[sortBy]": {"segmentAsc"}}, []int{1, 2, 3, 4, 5, 6}},
		"live":             {url.Values{"isDeleted": {"false"}}, []int{6, 5, 3, 2, 1}},
		"deleted":          {url.Values{"isDeleted": {"true"}}, []int{4}},
		"replies":          {url.Values{"parentId": {parent}}, []int{3}},
		"no replies":       {url.Values{"parentId": {""}, "isDeleted": {"false"}}, []int{6, 5, 2, 1}},
		"one of the tags":  {url.Values{"includeTags[]": {"a", "x"}}, []int{2, 1}},
		"none of the tags": {url.Values{"excludeTags[]": {"b"}}, []int{6, 5, 3, 1}},
		"both":             {url.Values{"includeTags[]": {"a"}, "excludeTags[]": {"b"}}, []int{1}},
		"of a type":        {url.Values{"dataType": {"custom"}}, []int{6}},
		"flagged":          {url.Values{"hasFlags": {"true"}}, []int{5}},
		"not flagged":      {url.Values{"hasFlags": {"false"}, "options[limit]": {"2"}}, []int{6, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, segments(t, c.messages(t, author, tc.query)))
		})
	}
	for parameter, value := range map[string]string{
		"options[token]": "x", "options[sortBy]": "lastCreated", "dataType": "poll", "messageFeedId": "",
	} {
		requireRefused(t, c.messages(t, reader, url.Values{parameter: {value}}), http.StatusUnprocessableEntity, 500000)
	}
	for _, limit := range []string{"0", "101"} {
		requireRefused(t, c.messages(t, reader, url.Values{"options[limit]": {limit}}), http.StatusUnprocessableEntity, 500000)
	}
	requireRefused(t, c.messages(t, reader, url.Values{"messageFeedId": {"nothing"}}), http.StatusNotFound, 400400)
	requireRefused(t, c.messages(t, reader, url.Values{"options[around]": {"nothing"}}), http.StatusNotFound, 400400)
	elsewhere := newChat(t, author).newMessage(t, author, "in another channel")
	requireRefused(t, c.messages(t, author, url.Values{"options[around]": {elsewhere}}), http.StatusNotFound, 400400)
}

// TestPagesOfMessages reads a subchannel from each end, and from the middle in both directions.
func TestPagesOfMessages(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.US, "author")
	c := newChat(t, author)
	const all = 11
	var ids []string
	for n := range all {
		ids = append(ids, c.newMessage(t, author, strconv.Itoa(n+1), object{"tags": []string{"all"}}))
	}
	walk := func(t *testing.T, query url.Values, onward string) (seen [][]int, last *apptest.Response) {
		t.Helper()
		last = c.messages(t, author, query)
		for {
			seen = append(seen, segments(t, last))
			token := last.String(t, "paging."+onward)
			if token == "" {
				return seen, last
			}
			next := url.Values{"options[token]": {token}, "options[sortBy]": query["options[sortBy]"], "includeTags[]": query["includeTags[]"]}
			last = c.messages(t, author, next)
		}
	}
	for _, sort := range []string{"segmentAsc", "segmentDesc"} {
		want := span(1, all)
		if sort == "segmentDesc" {
			slices.Reverse(want)
		}
		seen, last := walk(t, url.Values{"options[sortBy]": {sort}, "options[limit]": {"4"}}, "next")
		require.Equal(t, want, slices.Concat(seen...), sort)
		require.Len(t, seen, 3)
		back, _ := walk(t, url.Values{"options[sortBy]": {sort}, "options[token]": {last.String(t, "paging.previous")}}, "previous")
		slices.Reverse(back)
		require.Equal(t, want[:8], slices.Concat(back...), sort)
		for _, tags := range [][]string{nil, {"all"}} { // messages with a tag are looked for in windows
			for at := range all {
				around := url.Values{"options[sortBy]": {sort}, "options[limit]": {"4"}, "options[around]": {ids[at]}, "includeTags[]": tags}
				r := c.messages(t, author, around)
				page := segments(t, r)
				require.Len(t, page, 4)
				require.Contains(t, page, at+1)
				ahead, _ := walk(t, around, "previous")
				behind, _ := walk(t, around, "next")
				slices.Reverse(ahead)
				require.Equal(t, want, append(slices.Concat(ahead[:len(ahead)-1]...), slices.Concat(behind...)...), "around %d, %s %v", at+1, sort,
					tags)
			}
		}
	}
	require.Equal(t, span(1, 3), segments(t, c.messages(t, author, url.Values{
		"options[sortBy]": {"segmentAsc"}, "options[around]": {ids[1]}, "options[limit]": {"3"},
	})))
}

// TestManyWritersOfOneSubchannel has members of every region write concurrently. Every acknowledged message is
// stored once, and the segments have no gaps.
func TestManyWritersOfOneSubchannel(t *testing.T) {
	t.Parallel()
	const writers, each = 12, 5
	var members []*apptest.Client
	for i := range writers {
		members = append(members, newUser(t, region.All()[i%3], "writer"))
	}
	c := newChat(t, members[0], members[1:]...)
	var mu sync.Mutex
	acknowledged := map[string]int{}
	var g sync.WaitGroup
	for _, writer := range members {
		g.Go(func() {
			for n := range each {
				r := writer.Do(t, http.MethodPost, messagesPath, object{
					"messageFeedId": c.id, "data": object{"text": fmt.Sprint(writer.UserID, " ", n)}, "referenceId": strconv.Itoa(n),
				})
				if r.Status != http.StatusOK {
					t.Errorf("not written: %s", r.Short())
					return
				}
				mu.Lock()
				acknowledged[r.String(t, "messages.0.messageId")] = r.Int(t, "messages.0.segment")
				mu.Unlock()
			}
		})
	}
	g.Wait()
	r := c.messages(t, members[0], url.Values{"options[sortBy]": {"segmentAsc"}, "options[limit]": {"100"}})
	require.Equal(t, span(1, writers*each), segments(t, r))
	stored := map[string]int{}
	for i := range r.List(t, "messages") {
		m := fmt.Sprint("messages.", i, ".")
		stored[r.String(t, m+"messageId")] = r.Int(t, m+"segment")
	}
	require.Equal(t, acknowledged, stored)
	require.Equal(t, writers*each, r.Int(t, "messageFeeds.0.childCount"))
}

// TestRepeatedMessagesAmongOthers has a member send the same message several times while others write. Messages share
// transactions, and the repeated one must not make those of the others fail.
func TestRepeatedMessagesAmongOthers(t *testing.T) {
	t.Parallel()
	const each = 8
	other := newUser(t, region.US, "writer")
	repeats := newUser(t, region.US, "writer")
	c := newChat(t, other, repeats)
	repeated := make([]string, each)
	var g sync.WaitGroup
	for n := range each {
		g.Go(func() {
			r := other.Do(t, http.MethodPost, messagesPath,
				object{"messageFeedId": c.id, "data": object{"text": "different"}, "referenceId": strconv.Itoa(n)})
			if r.Status != http.StatusOK {
				t.Errorf("not written: %s", r.Short())
			}
		})
		g.Go(func() {
			r := repeats.Do(t, http.MethodPost, messagesPath, object{"messageFeedId": c.id, "data": object{"text": "same"}, "referenceId": "same"})
			if r.Status != http.StatusOK {
				t.Errorf("not written: %s", r.Short())
				return
			}
			repeated[n] = r.String(t, "messages.0.messageId")
		})
	}
	g.Wait()
	require.Len(t, slices.Compact(repeated), 1)
	r := c.messages(t, other, url.Values{"options[sortBy]": {"segmentAsc"}, "options[limit]": {"100"}})
	require.Equal(t, span(1, each+1), segments(t, r))
}
