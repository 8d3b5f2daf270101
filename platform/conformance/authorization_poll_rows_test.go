package conformance

import (
	"net/http"
	"testing"
)

func pollRows() []row {
	question := object{"question": "which?", "answers": []object{{"dataType": "text", "data": "a"}, {"dataType": "text", "data": "b"}}}
	create := func(*testing.T, *fixture) object { return question }
	made := func(private bool, more func(answer string) object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			poll := g.author.Do(t, http.MethodPost, "/api/v3/polls", question).OK(t)
			id := poll.String(t, "polls.0.pollId")
			newPost(t, g.author, map[bool]string{false: g.open, true: g.private}[private],
				object{"dataType": "poll", "data": object{"text": "x", "pollId": id}})
			return with(object{"pollId": id}, more(poll.String(t, "polls.0.answers.0.id")))
		}
	}
	plain := func(string) object { return nil }
	closing := func(string) object { return object{"status": "closed"} }
	vote := func(answer string) object { return object{"answerIds": []string{answer}} }
	voters := func(answer string) object { return object{"answerId": answer} }
	return []row{
		{procedure: "PollService/CreatePoll", request: create, want: usersOnly},
		{procedure: "PollService/GetPoll", request: made(false, plain), want: everyone},
		{procedure: "PollService/GetPoll", name: "private", request: made(true, plain), want: codesFor(400400, 0, 0, 400400, 0)},
		{procedure: "PollService/UpdatePoll", request: made(false, closing), want: adminsOnly},
		{procedure: "PollService/DeletePoll", request: made(false, plain), want: adminsOnly},
		{procedure: "PollService/VotePoll", request: made(false, vote), want: notBanned},
		{procedure: "PollService/ChangePollVote", request: made(false, vote), want: notBanned},
		{procedure: "PollService/ListPollVoters", request: made(false, voters), want: everyone},
	}
}
