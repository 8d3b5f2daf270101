package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gotest.tools/gotestsum/testjson"
)

// events is what go test prints for a package with a test that passes and one that fails.
const events = `
{"Action":"start","Package":"github.com/plaza-social/plaza/platform/a"}
{"Action":"run","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestGood","Elapsed":0.1}
{"Action":"start","Package":"github.com/plaza-social/plaza/platform/b"}
{"Action":"run","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestBad"}
{"Action":"output","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestBad","Output":"github.com/plaza-social/plaza/platform/a/a_test.go:7: wrong\n"}
{"Action":"run","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestBad/case"}
{"Action":"output","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestBad/case","Output":"wrong case\n"}
{"Action":"fail","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestBad/case","Elapsed":0.1}
{"Action":"fail","Package":"github.com/plaza-social/plaza/platform/a","Test":"TestBad","Elapsed":0.1}
{"Action":"output","Package":"github.com/plaza-social/plaza/platform/a","Output":"exit status 1\n"}
{"Action":"fail","Package":"github.com/plaza-social/plaza/platform/a","Elapsed":0.3}
{"Action":"pass","Package":"github.com/plaza-social/plaza/platform/b","Elapsed":0.1}
`

func TestProgress(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(0, 0)
	p := newProgress(&out, func() time.Time { clock = clock.Add(time.Second); return clock }, 3)
	tests, err := testjson.ScanTestOutput(testjson.ScanConfig{Stdout: strings.NewReader(strings.TrimSpace(events)), Handler: p})
	require.NoError(t, err)
	text := out.String()
	require.Contains(t, text, "--- FAIL: platform/a TestBad\nwrong case\nplatform/a/a_test.go:7: wrong\n",
		"the output of the test and of its failed subtest")
	require.NotContains(t, text, "quiet", "the output of a test that passes")
	require.Contains(t, text, "FAIL platform/a, 2 tests in 2.0 s; running: platform/b (0 tests, 2 s); 2 left\n")
	require.Contains(t, text, "none platform/b, 0 tests in 3.0 s; running: the compiler; 1 left\n")
	p.summarize(tests)
	require.True(t, strings.HasSuffix(out.String(), "\n1 passed, 1 failed, 0 skipped\n"), out.String())
}
