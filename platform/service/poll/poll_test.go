package poll

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

type answer = plazav1.NewPollAnswer

func TestCheck(t *testing.T) {
	t.Parallel()
	text, image := &answer{Data: "yes"}, &answer{DataType: "image", FileId: "f"}
	for name, test := range map[string]struct {
		req  *plazav1.CreatePollRequest
		want string // the field of the error; empty if the request is valid
	}{
		"texts": {&plazav1.CreatePollRequest{Answers: []*answer{text, {DataType: "text", Data: "no"}}}, ""},
		"images": {
			&plazav1.CreatePollRequest{Answers: []*answer{image, {DataType: "image", FileId: "g", Data: "caption"}}},
			"",
		},
		"an image without a file": {
			&plazav1.CreatePollRequest{Answers: []*answer{text, {DataType: "image", Data: "caption"}}},
			"answers[1].fileId",
		},
		"a text without a text":    {&plazav1.CreatePollRequest{Answers: []*answer{{DataType: "text"}}}, "answers[0].data"},
		"an empty answer":          {&plazav1.CreatePollRequest{Answers: []*answer{text, image, {}}}, "answers[2].data"},
		"a text with only a file":  {&plazav1.CreatePollRequest{Answers: []*answer{{FileId: "f"}}}, "answers[0].data"},
		"whole milliseconds":       {&plazav1.CreatePollRequest{ClosedIn: 1500}, ""},
		"a part of a millisecond":  {&plazav1.CreatePollRequest{ClosedIn: 1500.5}, "closedIn"},
		"not a number as duration": {&plazav1.CreatePollRequest{ClosedIn: math.NaN()}, "closedIn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := check(test.req)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.Contains(t, strings.Join(fail.From(err).Details, "\n"), test.want+":")
		})
	}
}

func newService() *Service {
	next := 0
	newID := func(home region.Code) string { next++; return fmt.Sprint(home, next) }
	return New(&service.Deps{Now: func() time.Time { return servicetest.Noon }, NewID: newID})
}

func TestNewPoll(t *testing.T) {
	t.Parallel()
	creator := &people.User{ID: region.NewID(region.SG), PublicID: "anna"}
	p := newService().newPoll(region.SG, creator, &plazav1.CreatePollRequest{
		Question: "Really?", ClosedIn: 90_000, Answers: []*answer{{Data: "yes"}, {DataType: "image", FileId: "f"}},
	})
	end := servicetest.Noon.Add(90 * time.Second)
	require.Equal(t, content.Poll{
		ID: "sg1", CreatorID: creator.ID, CreatorPublicID: "anna", Question: "Really?", AnswerType: "single", ClosedIn: 90_000, ClosesAt: &end,
		Answers:   []content.PollAnswer{{ID: "sg2", DataType: "text", Data: "yes"}, {ID: "sg3", DataType: "image", FileID: "f"}},
		CreatedAt: servicetest.Noon, UpdatedAt: servicetest.Noon,
	}, p, "at the home of its creator")

	p = newService().newPoll(region.SG, creator, &plazav1.CreatePollRequest{AnswerType: "multiple"})
	require.Nil(t, p.ClosesAt, "without an end")
	require.Equal(t, "multiple", p.AnswerType)
}

func TestTextsOfPollAreChecked(t *testing.T) {
	t.Parallel()
	got := textOf(&plazav1.CreatePollRequest{Title: "title", Question: "question", Answers: []*answer{{Data: "a"}, {Data: "b"}}})
	require.ElementsMatch(t, []string{"title", "question", "a", "b"}, got.Texts)
	refs := imagesOf(&plazav1.CreatePollRequest{Answers: []*answer{{Data: "a"}, {FileId: "f"}}})
	require.Equal(t, "f", refs[1].ID)
	require.Equal(t, "answers[1].fileId", refs[1].Field)
}

func TestWhoSeesAPoll(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		poll *content.Poll
		sees bool
	}{
		"does not exist":      {nil, false},
		"without a post":      {&content.Poll{CreatorID: "other"}, true},
		"own, in a post":      {&content.Poll{CreatorID: "me", PostID: "p"}, true},
		"own, but deleted":    {&content.Poll{CreatorID: "me", DeletedAt: &servicetest.Noon}, false},
		"deleted, of another": {&content.Poll{CreatorID: "other", DeletedAt: &servicetest.Noon}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &loaded{Request: &service.Request{Caller: servicetest.User(t, "me")}, poll: test.poll}
			require.Equal(t, test.sees, newService().requireSee(t.Context(), l) == nil)
		})
	}
}
