package moderationlist

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

type (
	rulesAnswer = connect.Response[plazav1.ListModerationRulesResponse]
	ruleAnswer  = connect.Response[plazav1.ModerationRuleResponse]
)

// ListAllowRules lists the rules of the allow list.
func (s *Service) ListAllowRules(ctx context.Context, req *connect.Request[plazav1.ListAllowRulesRequest]) (*rulesAnswer, error) {
	return respond(s.rules(ctx, allowList, req.Msg))
}

// AddAllowRules adds rules to the allow list.
func (s *Service) AddAllowRules(ctx context.Context, req *connect.Request[plazav1.AddAllowRulesRequest]) (*rulesAnswer, error) {
	return s.added(s.add(ctx, allowList, req.Msg.GetRegexs(), false))
}

// UpdateAllowRule enables or disables a rule of the allow list.
func (s *Service) UpdateAllowRule(ctx context.Context, req *connect.Request[plazav1.UpdateAllowRuleRequest]) (*ruleAnswer, error) {
	return s.updated(s.enable(ctx, allowList, req.Msg.GetRuleId(), req.Msg.GetIsEnabled()))
}

// DeleteAllowRules deletes rules of the allow list.
func (s *Service) DeleteAllowRules(ctx context.Context, req *connect.Request[plazav1.DeleteAllowRulesRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	return deleted(s.remove(ctx, allowList, req.Msg.GetRuleIds()))
}

// VerifyAllowed tells whether texts would pass the allow list.
func (s *Service) VerifyAllowed(ctx context.Context, req *connect.Request[plazav1.VerifyAllowedRequest]) (*connect.Response[plazav1.SuccessResponse], error) {
	return verified(s.verify(ctx, req.Msg.GetData(), func(rules *service.TextRules, w service.Written) error {
		return rules.RequireAllowed(ctx, w)
	}))
}

// ListBlockRules lists the rules of the block list.
func (s *Service) ListBlockRules(ctx context.Context, req *connect.Request[plazav1.ListBlockRulesRequest]) (*rulesAnswer, error) {
	return respond(s.rules(ctx, blockList, req.Msg))
}

// AddBlockRules adds rules to the block list.
func (s *Service) AddBlockRules(ctx context.Context, req *connect.Request[plazav1.AddBlockRulesRequest]) (*rulesAnswer, error) {
	return s.added(s.add(ctx, blockList, req.Msg.GetRegexs(), req.Msg.GetIsMatchExactWord()))
}

// UpdateBlockRule enables or disables a rule of the block list.
func (s *Service) UpdateBlockRule(ctx context.Context, req *connect.Request[plazav1.UpdateBlockRuleRequest]) (*ruleAnswer, error) {
	return s.updated(s.enable(ctx, blockList, req.Msg.GetRuleId(), req.Msg.GetIsEnabled()))
}

// DeleteBlockRules deletes rules of the block list.
func (s *Service) DeleteBlockRules(ctx context.Context, req *connect.Request[plazav1.DeleteBlockRulesRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	return deleted(s.remove(ctx, blockList, req.Msg.GetRuleIds()))
}

// VerifyNotBlocked tells whether texts would pass the block list.
func (s *Service) VerifyNotBlocked(ctx context.Context, req *connect.Request[plazav1.VerifyNotBlockedRequest]) (*connect.Response[plazav1.SuccessResponse], error) {
	return verified(s.verify(ctx, req.Msg.GetData(), func(rules *service.TextRules, w service.Written) error {
		return rules.RequireNotBlocked(ctx, w)
	}))
}

func respond(answer *plazav1.ListModerationRulesResponse, err error) (*rulesAnswer, error) {
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(answer), nil
}

func (s *Service) added(rows []store.ModerationRule, err error) (*rulesAnswer, error) {
	return respond(s.answer(rows, &plazav1.Paging{}), err)
}

func (s *Service) updated(row store.ModerationRule, err error) (*ruleAnswer, error) {
	if err != nil {
		return nil, err
	}
	rules := s.View.ModerationRules([]store.ModerationRule{row})
	return connect.NewResponse(&plazav1.ModerationRuleResponse{Status: "success", Data: rules[0]}), nil
}

func deleted(err error) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.StatusSuccessResponse{
		Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true,
	}), nil
}

func verified(err error) (*connect.Response[plazav1.SuccessResponse], error) {
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.SuccessResponse{Success: true}), nil
}
