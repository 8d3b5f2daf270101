// Package moderationlist implements ModerationListService: the allow list of links and the block list of words.
// Package moderation matches rules, and package textrules checks the texts of users.
//
// Every home has a row of each rule. A change is stored at the home of the region that receives it, where it takes
// effect immediately. The outbox copies it to the other homes, where the newest change wins.
package moderationlist

import (
	"context"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/textfilter"
)

// Service implements ModerationListService.
type Service struct {
	*service.Deps
	// clock returns the time of changes in microseconds, so that changes in the same millisecond are ordered.
	clock func() time.Time
}

// topic is the outbox topic of changes for other homes.
const topic = "moderationRules"

// retention is how long a home keeps the row of a deleted rule, which is longer than the outbox takes to deliver a
// change of it.
const retention = 30 * 24 * time.Hour

// New returns the service and registers the outbox handler that applies changes at other homes.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d, clock: service.Micros}
	service.HandleOutbox(d, topic, s.apply)
	return s
}

// list is one of the two lists.
type list struct {
	name       string
	permission auth.Permission // to read and change it
	// compile checks a rule, and reports whether it is a plain domain or text rather than an expression.
	compile func(regex string, exact bool) (plain bool, err error)
}

var (
	allowList = list{name: textfilter.Allow, permission: auth.ManageAllowList, compile: func(regex string, _ bool) (bool, error) {
		rule, err := textfilter.CompileAllow(regex)
		return rule.Plain(), err
	}}
	blockList = list{name: textfilter.Block, permission: auth.ManageBlockList, compile: func(regex string, exact bool) (bool, error) {
		rule, err := textfilter.CompileBlock(regex, exact)
		return rule.Plain(), err
	}}
)

var errFull = fail.Validation(fmt.Sprintf(
	"regexs: a list can have at most %d rules, of which at most %d can be other than a domain or a plain text",
	textfilter.MaxRules, textfilter.MaxExpressions))

// load reads rules of a list by their ids, and checks that the caller may change the list.
func (s *Service) load(ctx context.Context, l list, ids []string) ([]network.ModerationRule, error) {
	var rules []network.ModerationRule
	r := s.NewPrivilegedRequest(ctx, l.permission)
	r.ModerationRules(s.Region, l.name, ids, &rules)
	err := r.Run(ctx)
	return rules, err
}

// add adds rules, and enables those that exist.
func (s *Service) add(ctx context.Context, l list, regexs []string, exact bool) ([]network.ModerationRule, error) {
	ids := idsOf(l, regexs)
	old, err := s.load(ctx, l, ids)
	if err != nil {
		return nil, err
	}
	var rules []network.ModerationRule
	for i, regex := range regexs {
		plain, err := l.compile(regex, exact)
		if err != nil {
			return nil, fail.Validation(fmt.Sprintf("regexs[%d]: %s", i, err))
		}
		rule := network.ModerationRule{
			List: l.name, ID: ids[i], Regex: regex, IsPlain: plain, IsMatchExactWord: exact, IsEnabled: true, CreatedAt: s.Now(),
		}
		if same := service.Find(old, func(o network.ModerationRule) bool { return o.ID == ids[i] }); same != nil {
			rule.CreatedAt = same.CreatedAt
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return s.update(ctx, l, rules)
}

// idsOf returns the ids of the rules.
func idsOf(l list, regexs []string) []string {
	return service.Map(regexs, func(regex string) string { return textfilter.RuleID(l.name, regex) })
}

// enable enables or disables a rule.
func (s *Service) enable(ctx context.Context, l list, id string, enabled bool) (network.ModerationRule, error) {
	rules, err := s.load(ctx, l, []string{id})
	if err != nil {
		return network.ModerationRule{}, err
	}
	if len(rules) == 0 {
		return network.ModerationRule{}, fail.NotFound()
	}
	rules[0].IsEnabled = enabled
	if rules, err = s.update(ctx, l, rules); err != nil {
		return network.ModerationRule{}, err
	}
	if len(rules) == 0 { // deleted concurrently
		return network.ModerationRule{}, fail.NotFound()
	}
	return rules[0], nil
}

// remove deletes rules. If one does not exist, the result is 400400.
func (s *Service) remove(ctx context.Context, l list, ids []string) error {
	rules, err := s.load(ctx, l, ids)
	if err != nil {
		return err
	}
	if len(rules) != len(service.Distinct(ids)) {
		return fail.NotFound()
	}
	for i := range rules {
		rules[i].IsDeleted = true
	}
	_, err = s.update(ctx, l, rules)
	return err
}

// update stores rules at the home of this region, and sends them to the others. It returns the stored rules that are
// not deleted, in the order of rules.
func (s *Service) update(ctx context.Context, l list, rules []network.ModerationRule) ([]network.ModerationRule, error) {
	ids := make([]string, len(rules))
	for i := range rules {
		rules[i].ChangedAt, rules[i].Origin, ids[i] = s.clock(), string(s.Region), rules[i].ID
		auth.Created(ctx, "rule", rules[i].ID)
	}
	var updated []network.ModerationRule
	tx := s.Store.NewTx(s.Region)
	s.upsert(tx, rules)
	tx.GuardModerationRules(l.name, textfilter.MaxRules, textfilter.MaxExpressions, errFull)
	outboxRows := s.EmitToOtherHomes(tx, topic, func(home region.Code) any { return message{Home: home, Rules: rules} })
	tx.SelectModerationRules(l.name, ids, &updated)
	err := s.Commit(ctx, tx, outboxRows...)
	service.SortByID(updated, ids, func(r network.ModerationRule) string { return r.ID })
	return updated, err
}

// upsert writes rules, and gives the rules of the home a new version.
func (s *Service) upsert(tx *store.Tx, rules []network.ModerationRule) {
	tx.UpsertModerationRules(rules, live.NewKey(), s.Now().Add(-retention))
}

// message is the payload of an outbox row.
type message struct {
	Home  region.Code              `json:"home"`
	Rules []network.ModerationRule `json:"rules"`
}

func (s *Service) apply(ctx context.Context, m message) error {
	tx := s.Store.NewTx(m.Home)
	s.upsert(tx, m.Rules)
	return tx.Commit(ctx)
}
