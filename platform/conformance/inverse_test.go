package conformance

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// inverse is an operation and the one that undoes it.
type inverse struct {
	do, undo string // "PostService/FlagPost"; the same for an operation with opposite requests
	name     string
	prepare  func(t *testing.T, g *fixture) undoing
}

// undoing is one use of an operation and its inverse.
type undoing struct {
	request object                     // of both
	inverse func(answer object) object // the request of the inverse; nil if it is the same
	by      *apptest.Client
	// lower is who has not the authority for either; nil if everyone has.
	lower *apptest.Client
	// other is who may do the same, but not undo what another has done; nil if there is none.
	other *apptest.Client
	again func() // what makes the state that before the operation again, after the inverse; nil if nothing is missing
	reads []reading
	// shown are the positions of the reads each of which shows the effect, such as those of both users who were added.
	shown []int
	// ignored are fields that the operation changes for good.
	ignored []string
}

// reading is a read that shows the effect of an operation.
type reading struct {
	by        *apptest.Client
	procedure string
	request   object
}

// requestOfInverse returns the request that undoes an operation with an answer.
func (u undoing) requestOfInverse(answer object) object {
	if u.inverse == nil {
		return u.request
	}
	return u.inverse(answer)
}

// state returns the answers of all reads.
func (u undoing) state(t *testing.T) []any {
	t.Helper()
	var all []any
	for _, r := range u.reads {
		answer := r.by.Do(t, http.MethodPost, "/plaza.v1."+r.procedure, r.request)
		all = append(all, map[string]any{
			"status":    answer.Status,
			r.procedure: withoutFields(answer.JSON(t), append(u.ignored, "updatedAt", "token")),
		})
	}
	return all
}

// withoutFields returns a decoded value without fields of the objects in it.
func withoutFields(value any, names []string) any {
	switch v := value.(type) {
	case object:
		for _, name := range names {
			delete(v, name)
		}
		for name := range v {
			v[name] = withoutFields(v[name], names)
		}
	case []any:
		for i := range v {
			v[i] = withoutFields(v[i], names)
		}
	}
	return value
}

// await waits until the state is a wanted one: counts and mirrors follow an operation.
func (u undoing) await(t *testing.T, want []any, why string) {
	t.Helper()
	var got []any
	defer func() {
		for i := range got {
			if t.Failed() && !reflect.DeepEqual(want[i], got[i]) {
				t.Logf("want %v\ngot  %v", want[i], got[i])
			}
		}
	}()
	require.True(t, isReached(t, func() bool { got = u.state(t); return reflect.DeepEqual(want, got) }), why)
}

// awaitChange waits until the state is another one, which it returns.
func (u undoing) awaitChange(t *testing.T, before []any) []any {
	t.Helper()
	require.True(t, isReached(t, func() bool { return u.hasChanged(before, u.state(t)) }), "no read shows the effect")
	return u.settled(t)
}

// hasChanged reports whether a state differs from the one before in each of the reads that show the effect.
func (u undoing) hasChanged(before, state []any) bool {
	for _, i := range u.shown {
		if reflect.DeepEqual(before[i], state[i]) {
			return false
		}
	}
	return !reflect.DeepEqual(before, state)
}

// settled returns the state once two reads of it agree.
func (u undoing) settled(t *testing.T) []any {
	t.Helper()
	last := u.state(t)
	require.True(t, isReached(t, func() bool {
		state := u.state(t)
		same := reflect.DeepEqual(last, state)
		last = state
		return same
	}), "the state keeps changing")
	return last
}

// isReached waits until a condition holds, and reports false if it does not in time. Unlike require.Eventually it runs the condition in
// the goroutine of the test, which the condition may end.
func isReached(t *testing.T, condition func() bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Patience)
	defer cancel()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for !condition() {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// TestInverses makes each operation that has an inverse, and undoes it.
func TestInverses(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	for _, i := range inverses() {
		t.Run(strings.TrimSpace(i.do+" "+i.name), func(t *testing.T) {
			u := i.prepare(t, g)
			before := u.settled(t)
			if u.lower != nil {
				require.NotEqual(t, 0, g.call(t, u.lower, row{procedure: i.do}, u.request), "a lower authority")
				require.Equal(t, before, u.state(t))
			}
			answer, ok := u.by.Do(t, http.MethodPost, "/plaza.v1."+i.do, u.request).OK(t).JSON(t).(object)
			require.True(t, ok)
			during, undo := u.awaitChange(t, before), u.requestOfInverse(answer)
			if u.lower != nil {
				require.NotEqual(t, 0, g.call(t, u.lower, row{procedure: i.undo}, undo), "a lower authority")
			}
			if u.other != nil {
				g.call(t, u.other, row{procedure: i.undo}, undo) // whether it is refused depends on the operation
			}
			u.await(t, during, "only the same authority undoes it")
			require.Equal(t, 0, g.call(t, u.by, row{procedure: i.undo}, undo))
			if u.again != nil {
				u.again()
			}
			u.await(t, before, "the state is that before the operation")
		})
	}
}

// half matches the names of operations that have an inverse, or are one.
var half = regexp.MustCompile(`/(Un[a-z]+|Ban|Mute|Flag|Follow|Block|Archive|Pin|Add|Remove|Join|Leave|Claim|Release|Register|Start|Stop|` +
	`Request|Cancel|Close|Reopen|Open|Hide|Show|Lock|Subscribe|Enable|Disable|Restore|Clear|Resolve|Suspend|Resume)[A-Z]`)

// TestEveryInverseHasARow fails for an operation that is one half of a pair, and of which no row says what undoes it.
func TestEveryInverseHasARow(t *testing.T) {
	t.Parallel()
	walked := map[string]bool{}
	for _, i := range inverses() {
		walked[i.do], walked[i.undo] = true, true
	}
	for p, alone := range withoutInverse {
		require.False(t, walked[p], "%s has a row and a reason to have none", p)
		walked[p] = true
		requireTest(t, alone.tested)
	}
	all := procedures()
	require.Empty(t, slices.DeleteFunc(slices.Clone(all), func(p string) bool { return walked[p] || !half.MatchString(p) }),
		"say what undoes them, or why nothing does")
	for p := range walked {
		require.Contains(t, all, p, "a row for an unknown operation")
	}
}
