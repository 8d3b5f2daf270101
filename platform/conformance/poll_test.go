package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const pollsPath = "/api/v3/polls"

var (
	pollFields = resource{
		"pollId": "id", "userId": "s", "userInternalId": "id", "userPublicId": "s", "title": "s", "question": "s", "answers": "[]",
		"answerType": "s", "closedAt": "s", "createdAt": "ts", "isVoted": "b", "status": "s", "closedIn": "i",
	}
	pollAnswerFields = resource{"dataType": "s", "data": "s", "fileId": "s", "voteCount": "i", "isVotedByUser": "b", "id": "id"}
	pollAggregate    = []string{"polls", "users"}
)

// poll returns the body of a request for a poll.
func poll(t *testing.T, more ...object) object {
	t.Helper()
	answers := []object{{"dataType": "text", "data": "this"}, {"data": "that"}, {"dataType": "image", "fileId": fileOf(t, "image")}}
	return with(object{"question": "Which?", "answers": answers}, more...)
}

func newPoll(t *testing.T, c *apptest.Client, more ...object) string {
	t.Helper()
	return c.Do(t, http.MethodPost, pollsPath, poll(t, more...)).OK(t).String(t, "polls.0.pollId")
}

// requirePoll checks an answer with one poll and returns the ids of its answers.
func requirePoll(t *testing.T, r *apptest.Response) []string {
	t.Helper()
	a := requireAggregate(t, r, "", pollAggregate)
	a.requireHas("polls", "users", text(a.one("polls"), "userId"))
	return answersOf(t, a.one("polls"))
}

func answersOf(t *testing.T, p object) []string {
	t.Helper()
	var ids []string
	for _, item := range p["answers"].([]any) {
		requireResource(t, "answers", pollAnswerFields, item)
		ids = append(ids, text(item.(object), "id"))
	}
	return ids
}

// requireVotes checks the counts of a poll's answers and which of them the caller voted for.
func requireVotes(t *testing.T, r *apptest.Response, counts []int, mine []bool) {
	t.Helper()
	requirePoll(t, r)
	voted := false
	for i, item := range r.List(t, "polls.0.answers") {
		answer := item.(object)
		require.InDelta(t, counts[i], answer["voteCount"], 0, "answer %d", i)
		require.Equal(t, mine[i], answer["isVotedByUser"], "answer %d", i)
		voted = voted || mine[i]
	}
	require.Equal(t, voted, r.Bool(t, "polls.0.isVoted"))
}

func votesPath(id string) string { return pollsPath + "/" + id + "/votes" }

func answering(ids ...string) object { return object{"answerIds": append([]string{}, ids...)} }

func TestPoll(t *testing.T) {
	t.Parallel()
	author, voter := newUser(t, region.EU, "author"), newUser(t, region.US, "voter")
	r := author.Do(t, http.MethodPost, pollsPath, poll(t, object{"title": "T", "closedIn": 2_592_000_000}))
	requireVotes(t, r, []int{0, 0, 0}, []bool{false, false, false})
	require.Equal(t, "Which?", r.String(t, "polls.0.question"))
	require.Equal(t, "T", r.String(t, "polls.0.title"))
	require.Equal(t, "single", r.String(t, "polls.0.answerType"))
	require.Equal(t, "open", r.String(t, "polls.0.status"))
	require.Equal(t, 2_592_000_000, r.Int(t, "polls.0.closedIn"), "30 days")
	created, err := time.Parse(time.RFC3339, r.String(t, "polls.0.createdAt"))
	require.NoError(t, err)
	require.Equal(t, created.Add(30*24*time.Hour).Format("2006-01-02T15:04:05.000Z"), r.String(t, "polls.0.closedAt"))
	require.Equal(t, author.UserID, r.String(t, "polls.0.userPublicId"))
	require.Equal(t, author.InternalID, r.String(t, "polls.0.userInternalId"))
	require.Equal(t, "image", r.String(t, "polls.0.answers.2.dataType"))
	require.Equal(t, "text", r.String(t, "polls.0.answers.1.dataType"))
	id, answers := r.String(t, "polls.0.pollId"), requirePoll(t, r)

	vote := voter.At(region.SG).Do(t, http.MethodPost, votesPath(id), with(answering(answers[1]), object{"pollId": id}))
	requireVotes(t, vote, []int{0, 1, 0}, []bool{false, true, false})
	requireVotes(t, author.Do(t, http.MethodPost, votesPath(id), answering(answers[1])), []int{0, 2, 0}, []bool{false, true, false})
	requireVotes(t, voter.Do(t, http.MethodPost, votesPath(id), answering(answers[1])), []int{0, 2, 0}, []bool{false, true, false})
	requireFailure(t, failure{status: 400, code: 400000}, voter.Do(t, http.MethodPost, votesPath(id), answering(answers[0])))
	requireVotes(t, voter.Do(t, http.MethodPut, votesPath(id), answering(answers[0])), []int{1, 1, 0}, []bool{true, false, false})
	requireVotes(t, voter.Do(t, http.MethodPut, votesPath(id), answering()), []int{0, 1, 0}, []bool{false, false, false})
	requireVotes(t, voter.Do(t, http.MethodPut, votesPath(id), answering()), []int{0, 1, 0}, []bool{false, false, false})
	requireVotes(t, voter.Do(t, http.MethodPost, votesPath(id), answering(answers[2])), []int{0, 1, 1}, []bool{false, false, true})
	requireVotes(t, admin(t).Do(t, http.MethodGet, pollsPath+"/"+id, nil), []int{0, 1, 1}, []bool{false, false, false})

	r = author.At(region.US).Do(t, http.MethodPut, pollsPath+"/"+id, object{"status": "closed"})
	requireVotes(t, r, []int{0, 1, 1}, []bool{false, true, false})
	require.Equal(t, "closed", r.String(t, "polls.0.status"))
	closedAt := r.String(t, "polls.0.closedAt")
	require.NotEqual(t, created.Add(30*24*time.Hour).Format("2006-01-02T15:04:05.000Z"), closedAt)
	again := author.Do(t, http.MethodPut, pollsPath+"/"+id, nil).OK(t)
	require.Equal(t, closedAt, again.String(t, "polls.0.closedAt"), "closing again changes nothing")
	third := newUser(t, region.SG, "third")
	requireFailure(t, failure{status: 400, code: 400000, message: "The poll is closed"},
		third.Do(t, http.MethodPost, votesPath(id), answering(answers[0])))
	requireFailure(t, failure{status: 400, code: 400000}, voter.Do(t, http.MethodPut, votesPath(id), answering()))

	r = author.Do(t, http.MethodDelete, pollsPath+"/"+id, nil).OK(t)
	require.True(t, r.Bool(t, "success"))
	require.True(t, r.Bool(t, "data.success"))
	require.Equal(t, "success", r.String(t, "status"))
	requireFailure(t, notFound, author.Do(t, http.MethodGet, pollsPath+"/"+id, nil))
	requireFailure(t, notFound, author.Do(t, http.MethodDelete, pollsPath+"/"+id, nil))
}

// TestPollOfSeveralAnswers votes for several answers, and for one of a poll that has closed.
func TestPollOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	author, voter := newUser(t, region.SG, "author"), newUser(t, region.EU, "voter")
	id := newPoll(t, author, object{"answerType": "multiple"})
	r := voter.Do(t, http.MethodGet, pollsPath+"/"+id, nil)
	answers := requirePoll(t, r)
	require.Empty(t, r.String(t, "polls.0.closedAt"), "open until it is closed")
	requireVotes(t, voter.Do(t, http.MethodPost, votesPath(id), answering(answers[0], answers[2], answers[0])), []int{1, 0, 1},
		[]bool{true, false, true})
	requireVotes(t, voter.Do(t, http.MethodPut, votesPath(id), answering(answers[1], answers[2])), []int{0, 1, 1}, []bool{false, true, true})

	short := newPoll(t, author, object{"closedIn": time.Hour.Milliseconds()})
	r = voter.Do(t, http.MethodGet, pollsPath+"/"+short, nil)
	answers = requirePoll(t, r)
	require.Equal(t, "open", r.String(t, "polls.0.status"))
	makeDue(t, author.Network, "polls", short)
	require.Equal(t, "closed", voter.Do(t, http.MethodGet, pollsPath+"/"+short, nil).OK(t).String(t, "polls.0.status"))
	requireFailure(t, failure{status: 400, code: 400000, message: "The poll is closed"},
		voter.Do(t, http.MethodPost, votesPath(short), answering(answers[0])))
}

// TestConcurrentVotes has many users vote and change their votes concurrently, some of them repeatedly. Afterwards
// the counts match the votes.
func TestConcurrentVotes(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	id := newPoll(t, author)
	answers := requirePoll(t, author.Do(t, http.MethodGet, pollsPath+"/"+id, nil))
	var voters []*apptest.Client
	for i := range 9 {
		voters = append(voters, newUser(t, region.All()[i%3], "voter"))
	}
	var wg sync.WaitGroup
	for i, voter := range voters {
		for j := range 3 {
			wg.Go(func() {
				r := voter.At(region.All()[j]).Do(t, http.MethodPut, votesPath(id), answering(answers[(i+j)%3]))
				if r.Status != http.StatusOK && r.Status != http.StatusConflict {
					t.Errorf("%s", r.Body)
				}
			})
		}
	}
	wg.Wait()
	counts := []int{0, 0, 0}
	for _, voter := range voters {
		r := voter.Do(t, http.MethodGet, pollsPath+"/"+id, nil).OK(t)
		mine := 0
		for i, item := range r.List(t, "polls.0.answers") {
			if item.(object)["isVotedByUser"] == true {
				counts[i]++
				mine++
			}
		}
		require.Equal(t, 1, mine)
	}
	requireVotes(t, author.Do(t, http.MethodGet, pollsPath+"/"+id, nil), counts, []bool{false, false, false})
}

func TestPollVoters(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	id := newPoll(t, author)
	answers := requirePoll(t, author.Do(t, http.MethodGet, pollsPath+"/"+id, nil))
	var ids []string
	for i := range 5 {
		voter := newUser(t, region.All()[i%3], "voter")
		voter.Do(t, http.MethodPost, votesPath(id), answering(answers[1])).OK(t)
		ids = append(ids, voter.UserID)
	}
	path := pollsPath + "/" + id + "/answers/" + answers[1]
	r := author.Do(t, http.MethodGet, path+"?sortBy=firstCreated", nil)
	requirePoll(t, r)
	for _, u := range r.List(t, "UsersAnswered") {
		requireResource(t, "UsersAnswered", userFields, u)
	}
	require.Equal(t, ids, r.Strings(t, "UsersAnswered", "userId"))
	r = author.Do(t, http.MethodGet, path+"?options[limit]=3", nil).OK(t)
	require.Equal(t, []string{ids[4], ids[3], ids[2]}, r.Strings(t, "UsersAnswered", "userId"))
	next := author.Do(t, http.MethodGet, path+"?options[token]="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
	require.Equal(t, []string{ids[1], ids[0]}, next.Strings(t, "UsersAnswered", "userId"))
	require.Empty(t, next.String(t, "paging.next"))
	require.NotEmpty(t, next.String(t, "paging.previous"))
	require.Empty(t, author.Do(t, http.MethodGet, pollsPath+"/"+id+"/answers/"+answers[0], nil).OK(t).List(t, "UsersAnswered"))
	requireFailure(t, notFound, author.Do(t, http.MethodGet, pollsPath+"/"+id+"/answers/"+unknownID, nil))
	requireFailure(t, invalid("sortBy"), author.Do(t, http.MethodGet, path+"?sortBy=name", nil))
}

// TestPostWithPoll posts polls in a region that is not their creator's home, and reads them in every aggregate.
func TestPostWithPoll(t *testing.T) {
	t.Parallel()
	owner, author, voter := newUser(t, region.US, "owner"), newUser(t, region.EU, "author"), newUser(t, region.SG, "voter")
	community := newCommunity(t, owner, object{"isPublic": false, "isDiscoverable": true})
	other := newCommunity(t, owner)
	owner.Do(t, http.MethodPost, membersPath(community), object{"userIds": []string{author.UserID, voter.UserID}}).OK(t)
	join(t, other, author)
	id := newPoll(t, author)
	body := object{"targetType": "community", "targetId": community, "dataType": "poll", "data": object{"text": "vote!", "pollId": id}}
	r := author.At(region.SG).Do(t, http.MethodPost, "/api/v4/posts", body)
	a := requireAggregate(t, r, "", postAggregate)
	require.Equal(t, id, a.one("polls")["pollId"])
	require.Equal(t, "poll", a.one("posts")["structureType"])
	require.Equal(t, "vote!", a.one("posts")["data"].(object)["text"])
	require.Equal(t, id, a.one("posts")["data"].(object)["pollId"])
	require.Equal(t, "poll", a.one("postChildren")["dataType"])
	require.Equal(t, id, a.one("postChildren")["data"].(object)["pollId"])
	postID, childID := text(a.one("posts"), "postId"), text(a.one("postChildren"), "postId")

	answers := answersOf(t, a.one("polls"))
	requireVotes(t, voter.Do(t, http.MethodPost, votesPath(id), answering(answers[0])), []int{1, 0, 0}, []bool{true, false, false})
	for _, path := range []string{
		"/api/v3/posts/" + postID, "/api/v3/posts/" + childID, "/api/v3/posts/list?postIds[]=" + postID, "/api/v5/posts?targetId=" + community,
		"/api/v5/posts?targetId=" + community + "&dataTypes[]=poll",
		"/api/v5/posts?targetId=" + community + "&dataTypes[]=poll&matchingOnlyParentPost=true",
	} {
		r := voter.Do(t, http.MethodGet, path, nil).OK(t)
		require.Equal(t, []string{id}, r.Strings(t, "polls", "pollId"), path)
		require.True(t, r.Bool(t, "polls.0.isVoted"), path)
		require.Equal(t, 1, r.Int(t, "polls.0.answers.0.voteCount"), path)
	}
	owner.Do(t, http.MethodPost, communityPins+community+"/default/"+postID, nil).OK(t)
	require.Equal(t, []string{id}, voter.Do(t, http.MethodGet, communityPins+community, nil).OK(t).Strings(t, "polls", "pollId"))

	stranger := newUser(t, region.EU, "stranger")
	posting := func(pollID string) object {
		return object{"targetType": "community", "targetId": other, "dataType": "poll", "data": object{"pollId": pollID}}
	}
	refusedPoll := failure{status: 400, code: 400000}
	deleted := newPoll(t, author)
	author.Do(t, http.MethodDelete, pollsPath+"/"+deleted, nil).OK(t)
	requireAttempts(t, []attempt{
		{"seen by a stranger", stranger, http.MethodGet, pollsPath + "/" + id, nil, notFound},
		{"voted by a stranger", stranger, http.MethodPost, votesPath(id), answering(answers[0]), notFound},
		{"voters by a stranger", stranger, http.MethodGet, pollsPath + "/" + id + "/answers/" + answers[0], nil, notFound},
		{"seen by an administrator", admin(t), http.MethodGet, pollsPath + "/" + id, nil, failure{}},
		{"posted again", author, http.MethodPost, "/api/v4/posts", posting(id), refusedPoll},
		{"posted by another user", owner, http.MethodPost, "/api/v4/posts", posting(newPoll(t, author)), refusedPoll},
		{"posted after it was deleted", author, http.MethodPost, "/api/v4/posts", posting(deleted), refusedPoll},
		{"an unknown poll", author, http.MethodPost, "/api/v4/posts", posting(unknownID), refusedPoll},
		{"no poll", author, http.MethodPost, "/api/v4/posts", posting("x"), invalid("data.pollId")},
		{
			"with an attachment", author, http.MethodPost, "/api/v4/posts",
			with(posting(newPoll(t, author)), object{"attachments": []object{{"type": "image", "fileId": "f"}}}), invalid("attachments"),
		},
		{"without a text", author, http.MethodPost, "/api/v4/posts", posting(newPoll(t, author)), failure{}},
	})
	banMember(t, owner, community, voter)
	requireFailure(t, notFound, voter.Do(t, http.MethodPut, votesPath(id), answering()))
	author.Do(t, http.MethodDelete, pollsPath+"/"+id, nil).OK(t)
	require.Empty(t, author.Do(t, http.MethodGet, "/api/v3/posts/"+postID, nil).OK(t).List(t, "polls"))
}

// TestScheduledPostWithPoll schedules a post with a poll.
func TestScheduledPostWithPoll(t *testing.T) {
	t.Parallel()
	owner, author := newUser(t, region.US, "owner"), newUser(t, region.EU, "author")
	community := newCommunity(t, owner)
	join(t, community, author)
	id := newPoll(t, author)
	scheduled := newScheduled(t, author, object{"scheduledAt": timeIn(time.Hour), "postData": object{
		"targetType": "community", "targetId": community, "dataType": "poll", "data": object{"text": "vote!", "pollId": id},
	}})
	r := author.Do(t, http.MethodGet, schedulePath, nil)
	requireScheduled(t, r)
	require.Equal(t, []string{id}, r.Strings(t, "polls", "pollId"))
	makeDue(t, author.Network, "scheduled_posts", scheduled)
	require.Eventually(t, func() bool {
		r := owner.Do(t, http.MethodGet, "/api/v5/posts?targetId="+community, nil).OK(t)
		return len(r.List(t, "posts")) == 1 && len(r.List(t, "polls")) == 1
	}, apptest.Patience, 50*time.Millisecond)
}

func TestPollRefusals(t *testing.T) {
	t.Parallel()
	author, voter := newUser(t, region.EU, "author"), newUser(t, region.US, "voter")
	id := newPoll(t, author)
	answers := requirePoll(t, author.Do(t, http.MethodGet, pollsPath+"/"+id, nil))
	long := func(n int) string { return strings.Repeat("é", n) }
	several := func(n int) object {
		list := []object{}
		for range n {
			list = append(list, object{"data": "x"})
		}
		return object{"answers": list}
	}
	anonymous := apptest.Shared(t).Anonymous(region.EU)
	requireAttempts(t, []attempt{
		{"1 answer", author, http.MethodPost, pollsPath, poll(t, several(1)), invalid("answers")},
		{"2 answers", author, http.MethodPost, pollsPath, poll(t, several(2)), failure{}},
		{"10 answers", author, http.MethodPost, pollsPath, poll(t, several(10)), failure{}},
		{"11 answers", author, http.MethodPost, pollsPath, poll(t, several(11)), invalid("answers")},
		{"no question", author, http.MethodPost, pollsPath, poll(t, object{"question": ""}), invalid("question")},
		{"a question of 500", author, http.MethodPost, pollsPath, poll(t, object{"question": long(500)}), failure{}},
		{"a question of 501", author, http.MethodPost, pollsPath, poll(t, object{"question": long(501)}), invalid("question")},
		{"a title of 151", author, http.MethodPost, pollsPath, poll(t, object{"title": long(151)}), invalid("title")},
		{
			"an answer of 201", author, http.MethodPost, pollsPath, poll(t, object{"answers": []object{{"data": long(201)}, {"data": "x"}}}),
			invalid("answers[0].data"),
		},
		{
			"an empty answer", author, http.MethodPost, pollsPath, poll(t, object{"answers": []object{{"data": "x"}, {"data": ""}}}),
			invalid("answers[1].data"),
		},
		{
			"an image answer without one", author, http.MethodPost, pollsPath,
			poll(t, object{"answers": []object{{"data": "x"}, {"dataType": "image"}}}), invalid("answers[1].fileId"),
		},
		{
			"another type of answer", author, http.MethodPost, pollsPath,
			poll(t, object{"answers": []object{{"data": "x"}, {"dataType": "smell", "data": "x"}}}), invalid("answers[1].dataType"),
		},
		{"another answerType", author, http.MethodPost, pollsPath, poll(t, object{"answerType": "some"}), invalid("answerType")},
		{"closed before it opens", author, http.MethodPost, pollsPath, poll(t, object{"closedIn": -1}), invalid("closedIn")},
		{"closed in a year", author, http.MethodPost, pollsPath, poll(t, object{"closedIn": 31536000000}), failure{}},
		{"closed in more than a year", author, http.MethodPost, pollsPath, poll(t, object{"closedIn": 31536000001}), invalid("closedIn")},
		{"closed in half a millisecond", author, http.MethodPost, pollsPath, poll(t, object{"closedIn": 0.5}), invalid("closedIn")},
		{"made by an administrator", admin(t), http.MethodPost, pollsPath, poll(t), forbidden},
		{"made by an anonymous caller", anonymous, http.MethodPost, pollsPath, poll(t), unauthorized},
		{"read by an anonymous caller", anonymous, http.MethodGet, pollsPath + "/" + id, nil, unauthorized},
		{"an unknown one", author, http.MethodGet, pollsPath + "/" + unknownID, nil, notFound},
		{"no id", author, http.MethodGet, pollsPath + "/nothing", nil, notFound},
		{"an id of 901", author, http.MethodGet, pollsPath + "/" + strings.Repeat("a", 901), nil, invalid("pollId")},
		{"closed by another", voter, http.MethodPut, pollsPath + "/" + id, object{"status": "closed"}, notAllowed},
		{"deleted by another", voter, http.MethodDelete, pollsPath + "/" + id, nil, notAllowed},
		{"opened", author, http.MethodPut, pollsPath + "/" + id, object{"status": "open"}, invalid("status")},
		{"voted for nothing", voter, http.MethodPost, votesPath(id), answering(), invalid("answerIds")},
		{"voted for another answer", voter, http.MethodPost, votesPath(id), answering(unknownID), invalid("answerIds")},
		{"voted for two", voter, http.MethodPost, votesPath(id), answering(answers[0], answers[1]), failure{status: 400, code: 400000}},
		{"voted by an administrator", admin(t), http.MethodPost, votesPath(id), answering(answers[0]), forbidden},
		{"voted by an anonymous caller", anonymous, http.MethodPost, votesPath(id), answering(answers[0]), unauthorized},
		{"voted in an unknown one", voter, http.MethodPost, votesPath(unknownID), answering(answers[0]), notFound},
		{"closed by an administrator", admin(t), http.MethodPut, pollsPath + "/" + id, object{"status": "closed"}, failure{}},
	})
}
