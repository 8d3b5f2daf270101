// Package moderationlist holds the allow list of links and the block list of words, which texts are held against: see package
// moderation for what a rule means, and service.Rules for where texts are checked.
//
// Every home has a row of each rule. A change is stored at the home of the region that took it, and is true there at once; the
// outbox takes it to the other homes, where the newest change wins.
package moderationlist

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/moderation"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
)

// Service implements ModerationListService.
type Service struct {
	*service.Deps
	// precise is the clock of changes: two of the same millisecond have an order too.
	precise func() time.Time
}

// topic names the outbox rows that carry rules to another home.
const topic = "moderationRules"

// forgetAfter is how long a home remembers that a rule was deleted: longer than any change of it is on its way.
const forgetAfter = 30 * 24 * time.Hour

// New makes the service and registers what applies changes at other homes.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d, precise: func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }}
	d.Outbox.Handle(topic, s.apply)
	return s
}

// list is one of the two, with the right to change it.
type list struct {
	name  string
	right auth.Permission
	// compile checks an expression, and reports whether it is more than a domain or a text.
	compile func(regex string, exact bool) (plain bool, err error)
}

var (
	allowList = list{name: moderation.Allow, right: auth.ManageAllowList, compile: func(regex string, _ bool) (bool, error) {
		rule, err := moderation.CompileAllow(regex)
		return rule.Plain(), err
	}}
	blockList = list{name: moderation.Block, right: auth.ManageBlockList, compile: func(regex string, exact bool) (bool, error) {
		rule, err := moderation.CompileBlock(regex, exact)
		return rule.Plain(), err
	}}
)

var errFull = fail.Validation(fmt.Sprintf("regexs: a list has at most %d rules, at most %d of them more than a domain or a plain text",
	moderation.MaxRules, moderation.MaxExpressions))

// begin confirms that the caller may change the list, and reads rules of it by their ids.
func (s *Service) begin(ctx context.Context, l list, ids []string) ([]store.ModerationRule, error) {
	var rules []store.ModerationRule
	r := s.NewRequest(ctx)
	r.ModerationRules(s.Region, l.name, ids, &rules)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return rules, auth.Require(r.Caller, l.right, auth.Scope{})
}

// add adds rules that are not there, and enables those that are.
func (s *Service) add(ctx context.Context, l list, regexs []string, exact bool) ([]store.ModerationRule, error) {
	ids := idsOf(l, regexs)
	old, err := s.begin(ctx, l, ids)
	if err != nil {
		return nil, err
	}
	var rules []store.ModerationRule
	for i, regex := range regexs {
		plain, err := l.compile(regex, exact)
		if err != nil {
			return nil, fail.Validation(fmt.Sprintf("regexs[%d]: %s", i, err))
		}
		rule := store.ModerationRule{
			List: l.name, ID: ids[i], Regex: regex, IsPlain: plain, IsMatchExactWord: exact, IsEnabled: true, CreatedAt: s.Now(),
		}
		if at := slices.IndexFunc(old, func(o store.ModerationRule) bool { return o.ID == ids[i] }); at >= 0 {
			rule.CreatedAt = old[at].CreatedAt
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return s.change(ctx, l, rules)
}

// idsOf are the ids of the rules with the expressions.
func idsOf(l list, regexs []string) []string {
	ids := make([]string, len(regexs))
	for i, regex := range regexs {
		ids[i] = moderation.RuleID(l.name, regex)
	}
	return ids
}

// enable enables or disables a rule.
func (s *Service) enable(ctx context.Context, l list, id string, enabled bool) (store.ModerationRule, error) {
	rules, err := s.begin(ctx, l, []string{id})
	if err != nil {
		return store.ModerationRule{}, err
	}
	if len(rules) == 0 {
		return store.ModerationRule{}, fail.NotFound()
	}
	rules[0].IsEnabled = enabled
	if rules, err = s.change(ctx, l, rules); err != nil {
		return store.ModerationRule{}, err
	}
	if len(rules) == 0 { // deleted by somebody at the same time
		return store.ModerationRule{}, fail.NotFound()
	}
	return rules[0], nil
}

// remove deletes rules, all of which have to be there.
func (s *Service) remove(ctx context.Context, l list, ids []string) error {
	rules, err := s.begin(ctx, l, ids)
	if err != nil {
		return err
	}
	slices.Sort(ids)
	if len(rules) != len(slices.Compact(ids)) {
		return fail.NotFound()
	}
	for i := range rules {
		rules[i].IsDeleted = true
	}
	_, err = s.change(ctx, l, rules)
	return err
}

// change stores rules at this region's home, sends them to the others, and returns those that are not deleted as they stand then,
// in the order of rules.
func (s *Service) change(ctx context.Context, l list, rules []store.ModerationRule) ([]store.ModerationRule, error) {
	ids := make([]string, len(rules))
	for i := range rules {
		rules[i].ChangedAt, rules[i].Origin, ids[i] = s.precise(), string(s.Region), rules[i].ID
	}
	var after []store.ModerationRule
	var outboxRows []store.OutboxRow
	tx := s.Store.NewTx(s.Region)
	s.put(tx, rules)
	tx.GuardModerationRules(l.name, moderation.MaxRules, moderation.MaxExpressions, errFull)
	for _, home := range region.All() {
		if home != s.Region {
			outboxRows = append(outboxRows, tx.Emit(topic, message{Home: home, Rules: rules}, s.Now(), s.Outbox.FirstTry()))
		}
	}
	tx.SelectModerationRules(l.name, ids, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.Deliver(ctx, s.Region, outboxRows...)
	slices.SortFunc(after, func(a, b store.ModerationRule) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return after, nil
}

// put stores rules, and gives the home's rules a version that they never had.
func (s *Service) put(tx *store.Tx, rules []store.ModerationRule) {
	tx.UpsertModerationRules(rules, live.NewKey(), s.Now().Add(-forgetAfter))
}

// message is what travels to another home.
type message struct {
	Home  region.Code            `json:"home"`
	Rules []store.ModerationRule `json:"rules"`
}

func (s *Service) apply(ctx context.Context, row store.OutboxRow) error {
	var m message
	if err := json.Unmarshal(row.Payload, &m); err != nil {
		return err
	}
	tx := s.Store.NewTx(m.Home)
	s.put(tx, m.Rules)
	return tx.Commit(ctx)
}
