package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/people"
)

func TestSortUsers(t *testing.T) {
	users := func(ids ...string) (all []people.User) {
		for _, id := range ids {
			all = append(all, people.User{ID: id})
		}
		return all
	}
	for name, c := range map[string]struct{ have, order, want []string }{
		"by first reference": {[]string{"c", "a", "b"}, []string{"b", "a", "b", "c"}, []string{"b", "a", "c"}},
		"others stay behind": {[]string{"y", "x", "a"}, []string{"a"}, []string{"a", "y", "x"}},
		"nothing to go by":   {[]string{"b", "a"}, nil, []string{"b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			have := users(c.have...)
			people.SortUsers(have, c.order)
			require.Equal(t, users(c.want...), have)
		})
	}
}
