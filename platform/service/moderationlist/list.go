package moderationlist

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultLimit is the page size of requests without a limit, such as those of older clients, which do not support
// paging.
const defaultLimit = 100

// listRequest is ListAllowRulesRequest or ListBlockRulesRequest.
type listRequest interface {
	GetRegexs() []string
	GetRegex() string
	GetSortBy() string
	GetOptions() *plazav1.PageOptions
}

// listRules returns a page of a list, or the rules that the request names.
func (s *Service) listRules(ctx context.Context, l list, req listRequest) (*plazav1.ListModerationRulesResponse, error) {
	if len(req.GetRegexs()) > 0 {
		rows, err := s.load(ctx, l, idsOf(l, req.GetRegexs()))
		if err != nil {
			return nil, err
		}
		slices.SortFunc(rows, func(a, b network.ModerationRule) int {
			if req.GetSortBy() != "firstCreated" {
				a, b = b, a
			}
			return a.Newer(b)
		})
		return s.respond(rows, &plazav1.Paging{}), nil
	}
	r := s.NewPrivilegedRequest(ctx, l.permission)
	cursor := r.PageOf(req.GetOptions(), defaultLimit)
	query := network.ModerationRuleList{
		List: l.name, Part: req.GetRegex(), Desc: (req.GetSortBy() != "firstCreated") != cursor.Back, Limit: cursor.Limit + 1,
	}
	query.After, _, query.ID = cursor.Start(query.Desc)
	var rows []network.ModerationRule
	r.ListModerationRules(s.Region, query, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(r network.ModerationRule) (time.Time, string, string) { return r.CreatedAt, "", r.ID })
	return s.respond(rows, paging), nil
}

func (s *Service) respond(rows []network.ModerationRule, paging *plazav1.Paging) *plazav1.ListModerationRulesResponse {
	rules := s.View.ModerationRules(rows)
	return &plazav1.ListModerationRulesResponse{
		Status: "success", Data: &plazav1.ModerationRules{Results: rules, Paging: paging}, Results: rules, Paging: paging, Success: true,
	}
}
