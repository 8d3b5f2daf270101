package moderationlist

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListAllowRules lists the rules of the allow list.
func (s *Service) ListAllowRules(ctx context.Context, req *plazav1.ListAllowRulesRequest) (*plazav1.ListModerationRulesResponse, error) {
	return s.listRules(ctx, allowList, req)
}

// AddAllowRules adds rules to the allow list.
func (s *Service) AddAllowRules(ctx context.Context, req *plazav1.AddAllowRulesRequest) (*plazav1.ListModerationRulesResponse, error) {
	return s.respondAdded(s.add(ctx, allowList, req.GetRegexs(), false))
}

// UpdateAllowRule enables or disables a rule of the allow list.
func (s *Service) UpdateAllowRule(ctx context.Context, req *plazav1.UpdateAllowRuleRequest) (*plazav1.ModerationRuleResponse, error) {
	return s.respondUpdated(s.enable(ctx, allowList, req.GetRuleId(), req.GetIsEnabled()))
}

// DeleteAllowRules deletes rules of the allow list.
func (s *Service) DeleteAllowRules(ctx context.Context, req *plazav1.DeleteAllowRulesRequest) (*plazav1.StatusSuccessResponse, error) {
	return service.StatusSuccess(), s.remove(ctx, allowList, req.GetRuleIds())
}

// VerifyAllowed checks texts against the allow list, without the exemption of callers who can change the list.
func (s *Service) VerifyAllowed(ctx context.Context, req *plazav1.VerifyAllowedRequest) (*plazav1.SuccessResponse, error) {
	return s.verify(ctx, req.GetData(), (*textrules.Rules).RequireAllowed)
}

// ListBlockRules lists the rules of the block list.
func (s *Service) ListBlockRules(ctx context.Context, req *plazav1.ListBlockRulesRequest) (*plazav1.ListModerationRulesResponse, error) {
	return s.listRules(ctx, blockList, req)
}

// AddBlockRules adds rules to the block list.
func (s *Service) AddBlockRules(ctx context.Context, req *plazav1.AddBlockRulesRequest) (*plazav1.ListModerationRulesResponse, error) {
	return s.respondAdded(s.add(ctx, blockList, req.GetRegexs(), req.GetIsMatchExactWord()))
}

// UpdateBlockRule enables or disables a rule of the block list.
func (s *Service) UpdateBlockRule(ctx context.Context, req *plazav1.UpdateBlockRuleRequest) (*plazav1.ModerationRuleResponse, error) {
	return s.respondUpdated(s.enable(ctx, blockList, req.GetRuleId(), req.GetIsEnabled()))
}

// DeleteBlockRules deletes rules of the block list.
func (s *Service) DeleteBlockRules(ctx context.Context, req *plazav1.DeleteBlockRulesRequest) (*plazav1.StatusSuccessResponse, error) {
	return service.StatusSuccess(), s.remove(ctx, blockList, req.GetRuleIds())
}

// VerifyNotBlocked checks texts against the block list, without the exemption of callers who can change the list.
func (s *Service) VerifyNotBlocked(ctx context.Context, req *plazav1.VerifyNotBlockedRequest) (*plazav1.SuccessResponse, error) {
	return s.verify(ctx, req.GetData(), (*textrules.Rules).RequireNotBlocked)
}

// verify checks texts against the lists of this region.
func (s *Service) verify(
	ctx context.Context, texts []string, require func(*textrules.Rules, context.Context, ...textrules.UserText) error,
) (*plazav1.SuccessResponse, error) {
	r := s.NewRequest(ctx)
	rules := textrules.Read(s.Deps, r.ReadBatch, s.Region)
	r.AfterRun(func(ctx context.Context) error { return require(rules, ctx, textrules.UserText{Texts: texts}) })
	return service.Success(), r.Run(ctx)
}

func (s *Service) respondAdded(rows []network.ModerationRule, err error) (*plazav1.ListModerationRulesResponse, error) {
	return s.respond(rows, &plazav1.Paging{}), err
}

func (s *Service) respondUpdated(row network.ModerationRule, err error) (*plazav1.ModerationRuleResponse, error) {
	rules := s.View.ModerationRules([]network.ModerationRule{row})
	return &plazav1.ModerationRuleResponse{Status: "success", Data: rules[0]}, err
}
