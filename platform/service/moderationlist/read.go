package moderationlist

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// pageSize is what an older client, which knows no pages, gets at once.
const pageSize = 100

// listRequest is what the requests of both lists have.
type listRequest interface {
	GetRegexs() []string
	GetRegex() string
	GetSortBy() string
	GetOptions() *plazav1.PageOptions
}

// rules reads a page of a list, or the rules with the expressions of the request.
func (s *Service) rules(ctx context.Context, l list, m listRequest) (*plazav1.ModerationRulesResponse, error) {
	if len(m.GetRegexs()) > 0 {
		rows, err := s.begin(ctx, l, idsOf(l, m.GetRegexs()))
		if err != nil {
			return nil, err
		}
		slices.SortFunc(rows, func(a, b store.ModerationRule) int {
			if m.GetSortBy() != "firstCreated" {
				a, b = b, a
			}
			return a.Newer(b)
		})
		return s.answer(rows, &plazav1.Paging{}), nil
	}
	cursor, err := page.Parse(m.GetOptions(), pageSize)
	if err != nil {
		return nil, err
	}
	query := store.ModerationRuleList{
		List: l.name, Part: m.GetRegex(), Desc: (m.GetSortBy() != "firstCreated") != cursor.Back, Limit: cursor.Limit + 1,
	}
	query.After, _, query.ID = cursor.Start(query.Desc)
	var rows []store.ModerationRule
	r := s.NewRequest(ctx)
	r.ListModerationRules(s.Region, query, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := auth.Require(r.Caller, l.right, auth.Scope{}); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(r store.ModerationRule) (time.Time, string, string) { return r.CreatedAt, "", r.ID })
	return s.answer(rows, paging), nil
}

func (s *Service) answer(rows []store.ModerationRule, paging *plazav1.Paging) *plazav1.ModerationRulesResponse {
	rules := s.View.ModerationRules(rows)
	return &plazav1.ModerationRulesResponse{
		Status: "success", Data: &plazav1.ModerationRules{Results: rules, Paging: paging}, Results: rules, Paging: paging, Success: true,
	}
}

// verify holds texts against one of the lists, whoever asks: an administrator wants to know what users may write.
func (s *Service) verify(ctx context.Context, texts []string, require func(*textrules.Rules, textrules.UserText) error) error {
	r := s.NewRequest(ctx)
	rules := textrules.Read(s.Deps, r.ReadBatch, s.Region)
	if err := r.Run(ctx); err != nil {
		return err
	}
	return require(rules, textrules.UserText{Texts: texts})
}
