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
		"mention of another user with the public id of a field": {
			`[{"type":"user","userIds":["type"],"userPublicIds":["type"],"userInternalIds":["01bb"]}]`,
			`[{"type":"user","userIds":["type"],"userPublicIds":["type"],"userInternalIds":["01bb"]}]`,
		},
		"shorter list": {`[{"userIds":[],"userInternalIds":["02aa"]}]`, `[{"userIds":[],"userInternalIds":[]}]`},
		"participants": {
			`[{"userId":"02aa","publicId":"alice","key":"k"},{"userId":"01bb","publicId":"bob"}]`,
			`[{"userId":"02aa","publicId":"DELETED_02aa","key":"k"},{"userId":"01bb","publicId":"bob"}]`,
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

func TestAdd(t *testing.T) {
	var erased []byte
	erased = add(erased, "posts", 0)
	require.Empty(t, erased)
	erased = add(erased, "posts", 2)
	erased = add(erased, "files", 1)
	erased = add(erased, "posts", 3)
	require.JSONEq(t, `{"posts":5,"files":1}`, string(erased))
}

// TestSteps checks that the names by which progress is stored are unique, and that every step has a successor.
func TestSteps(t *testing.T) {
	s := &Service{}
	all := s.steps()
	seen := map[string]bool{}
	for i, st := range all {
		require.False(t, seen[st.name()], st.name())
		seen[st.name()] = true
		require.Equal(t, i, indexOf(all, st.name()))
		require.Equal(t, i+1, indexOf(all, nameAfter(all, i)))
	}
	require.Zero(t, indexOf(all, ""), "an erasure starts at the first step")
	require.Zero(t, indexOf(all, "a step of an older version"))
}

func TestPositions(t *testing.T) {
	require.EqualValues(t, 0, number(nil))
	require.EqualValues(t, 1234, number(position(1234)))
}
