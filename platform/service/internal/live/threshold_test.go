package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	on := network.StreamModeration{Enabled: true, Categories: []network.StreamModerationCategory{
		{Category: "violence", FlagThreshold: 0.5, TerminateThreshold: 0.9}, {Category: "profanity", FlagThreshold: 0.5},
	}}
	off := on
	off.Enabled = false
	for name, test := range map[string]struct {
		rules    network.StreamModeration
		category string
		at       float64
		kept     int
		ends     bool
	}{
		"thresholds do not apply":    {off, "violence", 1, 1, false},
		"below the first one":        {on, "violence", 0.49, 0, false},
		"at the first one":           {on, "violence", 0.5, 1, false},
		"below the second one":       {on, "violence", 0.89, 1, false},
		"at the second one":          {on, "violence", 0.9, 1, true},
		"no second one":              {on, "profanity", 1, 1, false},
		"category without threshold": {on, "other", 0, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, ends := judge(test.rules, []*plazav1.ModerationLabel{{Category: test.category, Threshold: test.at}})
			require.Len(t, kept, test.kept)
			require.Equal(t, test.ends, ends)
		})
	}
}
