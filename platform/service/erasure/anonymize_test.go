package erasure

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/store/lifecycle"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
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
	some,
		err := r.tables([]string{textOf([]string{"posts", "an id"}), textOf([]string{"pins", "a", "b \"c\"", ""}), textOf([]string{"rooms"})})
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

// TestMessage checks what administrators see of an erasure, in progress and at its end.
func TestMessage(t *testing.T) {
	at := func(seconds int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: seconds} }
	e := lifecycle.Erasure{
		ID: "u", PublicID: "alice", RequestedBy: "admin", State: "running", Progress: lifecycle.Progress{Step: "posts"},
		Erased:      []byte(`{"posts": 2}`),
		RequestedAt: at(1).AsTime(), UpdatedAt: at(2).AsTime(),
	}
	want := &plazav1.Erasure{
		ErasureId: "u", State: "running", RequestedBy: "admin", RequestedAt: at(1), UpdatedAt: at(2), Step: "posts",
		Erased: map[string]int32{"posts": 2},
	}
	require.True(t, proto.Equal(want, message(e)), "%v", message(e))
	end := at(3).AsTime()
	e.FinishedAt, want.FinishedAt = &end, at(3)
	require.True(t, proto.Equal(want, message(e)), "%v", message(e))
}
