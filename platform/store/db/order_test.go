package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/db"
)

func TestOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		order     db.Order
		after, by string
	}{
		"ascending":  {db.Order{}, "(p.created_at, p.id) > ($3::timestamptz, $4)", "p.created_at, p.id"},
		"descending": {db.Order{Desc: true}, "(p.created_at, p.id) < ($3::timestamptz, $4)", "p.created_at DESC, p.id DESC"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.after, tc.order.After("p.created_at", "p.id", "$3::timestamptz", "$4"))
			require.Equal(t, tc.by, tc.order.By("p.created_at", "p.id"))
		})
	}
}

type row struct {
	Base
	AvatarCustomURL string
	GPS             []byte
	HasURL          bool
	Renamed         int `db:"other_name"`
	Ignored         int `db:"-"`
	unexported      int //nolint:unused // must be left out
	Extra           []string
}

// Base is embedded in row.
type Base struct {
	ID       string
	ChildIDs []string
	PublicID string
}

func TestColumns(t *testing.T) {
	require.Equal(t, "id, child_ids, public_id, avatar_custom_url, gps, has_url, other_name, extra", db.Columns[row]())
	require.Equal(t, "id, child_ids, public_id, avatar_custom_url, gps, has_url, other_name", db.Columns[row]("extra"))
}

func TestPrefixed(t *testing.T) {
	require.Equal(t, "p.id, p.created_at", db.Prefixed("p", "id,\n\tcreated_at"))
}

func TestRegisterRejectsDuplicates(t *testing.T) {
	require.PanicsWithValue(t, "db: statement registered twice: store.probe", func() { db.Register("store.probe", "SELECT 2") })
}
