package moderationlist

import (
	"context"

	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

type (
	rulesAnswer = plazav1.ListModerationRulesResponse
	ruleAnswer  = plazav1.ModerationRuleResponse
)

// ListAllowRules lists the rules of the allow list.
func (s *Service) ListAllowRules(ctx context.Context, req *plazav1.ListAllowRulesRequest) (*rulesAnswer, error) {
	return respond(s.rules(ctx, allowList, req))
}

// AddAllowRules adds rules to the allow list.
func (s *Service) AddAllowRules(ctx context.Context, req *plazav1.AddAllowRulesRequest) (*rulesAnswer, error) {
	return s.added(s.add(ctx, allowList, req.GetRegexs(), false))
}

// UpdateAllowRule enables or disables a rule of the allow list.
func (s *Service) UpdateAllowRule(ctx context.Context, req *plazav1.UpdateAllowRuleRequest) (*ruleAnswer, error) {
	return s.updated(s.enable(ctx, allowList, req.GetRuleId(), req.GetIsEnabled()))
}

// DeleteAllowRules deletes rules of the allow list.
func (s *Service) DeleteAllowRules(ctx context.Context, req *plazav1.DeleteAllowRulesRequest) (*plazav1.StatusSuccessResponse, error) {
	return deleted(s.remove(ctx, allowList, req.GetRuleIds()))
}

// VerifyAllowed tells whether texts would pass the allow list.
func (s *Service) VerifyAllowed(ctx context.Context, req *plazav1.VerifyAllowedRequest) (*plazav1.SuccessResponse, error) {
	return verified(s.verify(ctx, req.GetData(), func(rules *textrules.Rules, w textrules.UserText) error {
		return rules.RequireAllowed(ctx, w)
	}))
}

// ListBlockRules lists the rules of the block list.
func (s *Service) ListBlockRules(ctx context.Context, req *plazav1.ListBlockRulesRequest) (*rulesAnswer, error) {
	return respond(s.rules(ctx, blockList, req))
}

// AddBlockRules adds rules to the block list.
func (s *Service) AddBlockRules(ctx context.Context, req *plazav1.AddBlockRulesRequest) (*rulesAnswer, error) {
	return s.added(s.add(ctx, blockList, req.GetRegexs(), req.GetIsMatchExactWord()))
}

// UpdateBlockRule enables or disables a rule of the block list.
func (s *Service) UpdateBlockRule(ctx context.Context, req *plazav1.UpdateBlockRuleRequest) (*ruleAnswer, error) {
	return s.updated(s.enable(ctx, blockList, req.GetRuleId(), req.GetIsEnabled()))
}

// DeleteBlockRules deletes rules of the block list.
func (s *Service) DeleteBlockRules(ctx context.Context, req *plazav1.DeleteBlockRulesRequest) (*plazav1.StatusSuccessResponse, error) {
	return deleted(s.remove(ctx, blockList, req.GetRuleIds()))
}

// VerifyNotBlocked tells whether texts would pass the block list.
func (s *Service) VerifyNotBlocked(ctx context.Context, req *plazav1.VerifyNotBlockedRequest) (*plazav1.SuccessResponse, error) {
	return verified(s.verify(ctx, req.GetData(), func(rules *textrules.Rules, w textrules.UserText) error {
		return rules.RequireNotBlocked(ctx, w)
	}))
}

func respond(answer *plazav1.ListModerationRulesResponse, err error) (*rulesAnswer, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func (s *Service) added(rows []store.ModerationRule, err error) (*rulesAnswer, error) {
	return respond(s.answer(rows, &plazav1.Paging{}), err)
}

func (s *Service) updated(row store.ModerationRule, err error) (*ruleAnswer, error) {
	if err != nil {
		return nil, err
	}
	rules := s.View.ModerationRules([]store.ModerationRule{row})
	return &plazav1.ModerationRuleResponse{Status: "success", Data: rules[0]}, nil
}

func deleted(err error) (*plazav1.StatusSuccessResponse, error) {
	if err != nil {
		return nil, err
	}
	return &plazav1.StatusSuccessResponse{
		Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true,
	}, nil
}

func verified(err error) (*plazav1.SuccessResponse, error) {
	if err != nil {
		return nil, err
	}
	return &plazav1.SuccessResponse{Success: true}, nil
}
