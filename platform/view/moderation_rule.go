package view

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ModerationRules converts rules of the allow list or the block list.
func (b *Builder) ModerationRules(rows []network.ModerationRule) []*plazav1.ModerationRule {
	rules := make([]*plazav1.ModerationRule, len(rows))
	for i, r := range rows {
		rules[i] = &plazav1.ModerationRule{
			RuleId: r.ID, Regex: r.Regex, IsMatchExactWord: r.IsMatchExactWord, IsEnabled: r.IsEnabled, IsDeleted: r.IsDeleted,
			CreatedAt: ts(r.CreatedAt), UpdatedAt: ts(r.ChangedAt.Truncate(time.Millisecond)),
		}
	}
	return rules
}
