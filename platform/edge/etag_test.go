package edge

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestETag(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	tag := setETag(header, []byte(`{"a":1}`))
	require.Equal(t, tag, setETag(http.Header{}, []byte(`{"a":1}`)), "every server computes the same")
	require.NotEqual(t, tag, setETag(http.Header{}, []byte(`{"a":2}`)))
	require.Equal(t, "Authorization", header.Get("Vary"))
	for value, want := range map[string]bool{
		tag: true, strings.TrimPrefix(tag, "W/"): true, "*": true, `"x", ` + tag: true, `W/"x",` + tag + ` , "y"`: true,
		"": false, `"x"`: false, strings.Trim(tag, `W/"`): false, tag + "x": false, "W/": false,
	} {
		require.Equal(t, want, hasETag([]string{value}, tag), value)
	}
	require.True(t, hasETag([]string{`"x"`, tag}, tag), "several headers")
	require.False(t, hasETag(nil, tag))
}

// FuzzHasETag checks that a tag is found in any list that contains it.
func FuzzHasETag(f *testing.F) {
	f.Add(`"x"`)
	f.Add(`W/"x", *`)
	f.Fuzz(func(t *testing.T, list string) {
		const tag = `W/"tag"`
		_ = hasETag([]string{list}, tag)
		require.True(t, hasETag([]string{list + "," + tag}, tag))
	})
}
