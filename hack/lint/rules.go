//go:build ruleguard

// Package lint has rules of go-ruleguard, which golangci-lint runs as part of gocritic.
package lint

import "github.com/quasilyte/go-ruleguard/dsl"

// patience refuses what makes tests fail by chance: a limit that a busy machine exceeds, and a claim about how long something
// takes. One generous limit costs only when the test fails; how long something takes is for a benchmark.
func patience(m dsl.Matcher) {
	m.Match(
		`require.Eventually($t, $f, $limit, $*_)`, `require.Eventuallyf($t, $f, $limit, $*_)`,
		`require.EventuallyWithT($t, $f, $limit, $*_)`, `require.EventuallyWithTf($t, $f, $limit, $*_)`,
		`assert.Eventually($t, $f, $limit, $*_)`, `assert.EventuallyWithT($t, $f, $limit, $*_)`,
	).
		Where(m["limit"].Const && m["limit"].Value.Int() < 60000000000).
		Report(`the limit $limit is below a minute: use Patience`)
	m.Match(`require.Never($*_)`, `require.Neverf($*_)`, `assert.Never($*_)`, `assert.Neverf($*_)`).
		Report(`that nothing happens for a while proves nothing: wait for a later event after which it cannot happen`)
	m.Match(
		`time.Since($x) < $y`, `time.Since($x) <= $y`,
		`require.Less($t, time.Since($x), $*_)`, `require.LessOrEqual($t, time.Since($x), $*_)`,
		`require.Lessf($t, time.Since($x), $*_)`, `assert.Less($t, time.Since($x), $*_)`,
	).
		Where(m.File().Name.Matches(`_test\.go$`)).
		Report(`a test must not limit how long something takes: use testing/synctest or a benchmark`)
}
