package poll

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/content"
)

func TestDecideVote(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, wanted     []string
		replace, closed bool
		changes         bool
		err             error
	}{
		"first vote":                         {nil, []string{"a"}, false, false, true, nil},
		"first vote in a closed poll":        {nil, []string{"a"}, false, true, false, errClosed},
		"the same vote again":                {[]string{"a"}, []string{"a"}, false, false, false, nil},
		"the same vote, after the end":       {[]string{"a"}, []string{"a"}, false, true, false, nil},
		"another vote":                       {[]string{"a"}, []string{"b"}, false, false, false, errVoted},
		"another vote, after the end":        {[]string{"a"}, []string{"b"}, false, true, false, errVoted},
		"more answers":                       {[]string{"a"}, []string{"a", "b"}, false, false, false, errVoted},
		"changed vote":                       {[]string{"a"}, []string{"b"}, true, false, true, nil},
		"changed vote, after the end":        {[]string{"a"}, []string{"b"}, true, true, false, errClosed},
		"removed vote":                       {[]string{"a"}, nil, true, false, true, nil},
		"removed vote, after the end":        {[]string{"a"}, nil, true, true, false, errClosed},
		"no vote to remove":                  {nil, nil, true, false, false, nil},
		"no vote to remove, after the end":   {nil, nil, true, true, false, nil},
		"a change without a vote before":     {nil, []string{"a"}, true, false, true, nil},
		"an empty vote, given as empty list": {nil, []string{}, true, false, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes, err := decideVote(test.old, test.wanted, test.replace, test.closed)
			require.Equal(t, test.err, err)
			require.Equal(t, test.changes, changes)
		})
	}
}

func TestRequireAnswers(t *testing.T) {
	t.Parallel()
	answers := []content.PollAnswer{{ID: "a"}, {ID: "b"}}
	for name, test := range map[string]struct {
		answerType string
		wanted     []string
		err        error
	}{
		"one of single":            {"single", []string{"a"}, nil},
		"two of single":            {"single", []string{"a", "b"}, errSingle},
		"none of single":           {"single", nil, nil},
		"two of multiple":          {"multiple", []string{"a", "b"}, nil},
		"of another poll":          {"multiple", []string{"a", "c"}, errAnswers},
		"two, one of them foreign": {"single", []string{"a", "c"}, errAnswers},
		"empty id":                 {"single", []string{""}, errAnswers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.err, requireAnswers(&content.Poll{AnswerType: test.answerType, Answers: answers}, test.wanted))
		})
	}
}

func TestMissingIn(t *testing.T) {
	t.Parallel()
	old, wanted := []string{"a", "b"}, []string{"b", "c"}
	require.Equal(t, []string{"a"}, missingIn(wanted, old))
	require.Equal(t, []string{"c"}, missingIn(old, wanted))
	require.Empty(t, missingIn(old, old))
	require.Equal(t, []string{"a", "b"}, old, "the votes are not changed")
}

func TestVotesAreSorted(t *testing.T) {
	t.Parallel()
	l := &loaded{mine: []content.PollVote{{AnswerID: "b"}, {AnswerID: "a"}}}
	require.Equal(t, []string{"a", "b"}, l.votes())
	require.Empty(t, (&loaded{}).votes())
}
