package erasure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnonymize(t *testing.T) {
	u := subject{id: "02aa", publicID: "alice"}
	for name, c := range map[string]struct{ raw, want string }{
		"mention of the user and another": {
			`[{"type":"user","userIds":["bob","alice"],"userPublicIds":["bob","alice"],"userInternalIds":["01bb","02aa"]}]`,
			`[{"type":"user","userIds":["bob"],"userPublicIds":["bob"],"userInternalIds":["01bb"]}]`,
		},
		"mention of the user alone": {
			`[{"type":"user","userIds":["alice"],"userPublicIds":["alice"],"userInternalIds":["02aa"]}]`,
			`[{"type":"user","userIds":[],"userPublicIds":[],"userInternalIds":[]}]`,
		},
		"mention in a message": {
			`[{"type":"user","userIds":["01bb","02aa"],"userPublicIds":["bob","alice"]},{"type":"channel"}]`,
			`[{"type":"user","userIds":["01bb"],"userPublicIds":["bob"]},{"type":"channel"}]`,
		},
		"mention of another user with the public id of a field": {
			`[{"type":"user","userIds":["type"],"userPublicIds":["type"],"userInternalIds":["01bb"]}]`,
			`[{"type":"user","userIds":["type"],"userPublicIds":["type"],"userInternalIds":["01bb"]}]`,
		},
		"shorter list": {`[{"userIds":[],"userInternalIds":["02aa"]}]`, `[{"userIds":[],"userInternalIds":[]}]`},
		"participants": {
			`[{"userId":"02aa","publicId":"alice","key":"k"},{"userId":"01bb","publicId":"bob"}]`,
			`[{"userId":"02aa","publicId":"DELETED_02aa","key":"k"},{"userId":"01bb","publicId":"bob"}]`,
		},
		"positions of mentions in metadata": {
			`[[], {"mentioned":[{"type":"user","index":0,"length":4,"userId":"alice"},{"userId":"bob"},{"userId":"02aa"},"alice"],"n":12345678901234567890}]`,
			`[[], {"mentioned":[{"userId":"bob"},"alice"],"n":12345678901234567890}]`,
		},
		"neither": {`{"text":"alice"}`, `{"text":"alice"}`},
		"empty":   {`[]`, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			require.JSONEq(t, c.want, string(anonymize([]byte(c.raw), u)))
		})
	}
	require.Equal(t, "{", string(anonymize([]byte("{"), u)), "broken JSON stays")
}

func TestPositions(t *testing.T) {
	require.EqualValues(t, 0, number(nil))
	require.EqualValues(t, 1234, number(position(1234)))
}

// TestTables checks that the position of a step names the tables with further rows, each with the key of its last row.
func TestTables(t *testing.T) {
	r := &run{Service: &Service{}}
	all, err := r.tables(nil)
	require.NoError(t, err)
	require.Len(t, all, len(r.works()), "at the start")
	some, err := r.tables([]string{textOf([]string{"posts", "an id"}), textOf([]string{"pins", "a", "b \"c\"", ""}), textOf([]string{"rooms"})})
	require.NoError(t, err)
	after := map[string][]string{}
	for _, table := range some {
		after[table.walk.Table] = table.after
	}
	require.Equal(t, map[string][]string{"posts": {"an id"}, "pins": {"a", "b \"c\"", ""}, "rooms": {}}, after)
	_, err = r.tables([]string{"posts"})
	require.Error(t, err)
}

func TestVisited(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int64]int{0: visitSize, 1: visitSize / 2, 3: visitSize / 8, 4: pageSize, 100: pageSize} {
		require.Equal(t, want, visited(failed), failed)
	}
}
