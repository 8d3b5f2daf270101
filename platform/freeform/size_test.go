package freeform_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
)

// TestRequireSize tries objects of the limit and one byte more.
func TestRequireSize(t *testing.T) {
	t.Parallel()
	const limit = 1000
	for name, unit := range map[string]string{
		"text": "x", "digits": "0,", "nulls": "null,", "empty objects": "{},", "empty lists": "[],",
		"lists": "[0],",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{limit, limit + 1, 20 * limit} {
				list := strings.Repeat(unit, (size-20)/len(unit))
				filler := size - len(`{"a":[],"b":""}`) - len(list)
				if name == "text" {
					filler += len(list)
					list = ""
				} else {
					list = strings.TrimSuffix(list, ",")
					filler++
				}
				raw := `{"a":[` + list + `],"b":"` + strings.Repeat("x", filler) + `"}`
				require.Len(t, raw, size)
				err := freeform.RequireSize("metadata", freeform.Object(raw), limit)
				if size == limit {
					require.NoError(t, err)
				} else {
					require.Equal(t, []string{"metadata: must be at most 1000 bytes of JSON"}, fail.From(err).Details)
				}
			}
		})
	}
}
