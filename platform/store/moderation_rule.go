package store

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// ModerationRule is a row of moderation_rules: a rule of the allow list or the block list, as one home has it. The newest
// change wins, and of two at the same moment the one of the greater origin.
type ModerationRule struct {
	List             string    `json:"list"` // allow or block
	ID               string    `json:"id"`
	Regex            string    `json:"regex"`
	IsPlain          bool      `json:"isPlain"` // a domain or a text, and no expression
	IsMatchExactWord bool      `json:"isMatchExactWord"`
	IsEnabled        bool      `json:"isEnabled"`
	IsDeleted        bool      `json:"isDeleted"`
	CreatedAt        time.Time `json:"createdAt"`
	ChangedAt        time.Time `json:"changedAt"`
	Origin           string    `json:"origin"`
}

// ModerationState is what a request has to know before it holds a text against the lists of a home.
type ModerationState struct {
	IsWhitelistEnabled bool
	Version            string // of the rules; empty where there never was one
}

const moderationRuleColumns = `list, id, regex, is_plain, is_match_exact_word, is_enabled, is_deleted, created_at, changed_at, origin`

func scanModerationRule(rows pgx.Rows) (ModerationRule, error) {
	var m ModerationRule
	err := rows.Scan(&m.List, &m.ID, &m.Regex, &m.IsPlain, &m.IsMatchExactWord, &m.IsEnabled, &m.IsDeleted, &m.CreatedAt, &m.ChangedAt, &m.Origin)
	return m, err
}

var (
	sqlModerationState = stmt("moderation.state", `SELECT
		COALESCE((SELECT value = 'true'::jsonb FROM settings WHERE home = $1 AND name = 'isWhitelistEnabled'), false),
		COALESCE((SELECT version FROM moderation_lists WHERE home = $1), '')`)
	// Version and rules are of the same moment, because one statement reads both.
	sqlModerationEnabled = stmt("moderation.enabled", `SELECT moderation_lists.version, r.list, r.regex, r.is_match_exact_word
		FROM moderation_lists LEFT JOIN moderation_rules AS r ON r.home = $1 AND r.list IN ('allow', 'block') AND r.is_enabled AND NOT r.is_deleted
		WHERE moderation_lists.home = $1`)
	sqlModerationRulesByID = stmt("moderation.byID", `SELECT `+moderationRuleColumns+` FROM moderation_rules
		WHERE home = $1 AND list = $2 AND id = ANY($3::text[]) AND NOT is_deleted`)
	sqlModerationPut = stmt("moderation.put", `INSERT INTO moderation_rules (home, `+moderationRuleColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (home, list, id) DO UPDATE SET regex = excluded.regex, is_plain = excluded.is_plain,
			is_match_exact_word = excluded.is_match_exact_word, is_enabled = excluded.is_enabled, is_deleted = excluded.is_deleted,
			created_at = excluded.created_at, changed_at = excluded.changed_at, origin = excluded.origin
		WHERE (moderation_rules.changed_at, moderation_rules.origin) <= (excluded.changed_at, excluded.origin)`)
	sqlModerationVersion = stmt("moderation.version", `INSERT INTO moderation_lists (home, version) VALUES ($1, $2)
		ON CONFLICT (home) DO UPDATE SET version = excluded.version`)
	sqlModerationSweep = stmt("moderation.sweep", `DELETE FROM moderation_rules WHERE home = $1 AND is_deleted AND changed_at < $2`)
	sqlModerationLimit = stmt("moderation.guardLimit", `SELECT 1 / CASE WHEN (SELECT count(*) <= $3::bigint
		AND COALESCE(sum(CASE WHEN is_plain THEN 0 ELSE 1 END), 0) <= $4::bigint
		FROM moderation_rules WHERE home = $1 AND list = $2 AND NOT is_deleted) THEN 1 ELSE 0 END`)
)

// moderationLists holds the statements of ListModerationRules by order.
var moderationLists = makeModerationLists()

func makeModerationLists() map[bool]*Statement {
	lists := map[bool]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		lists[o.desc] = stmt("moderation.list"+o.name, `SELECT `+moderationRuleColumns+` FROM moderation_rules
			WHERE home = $1 AND list = $2 AND NOT is_deleted AND strpos(lower(regex), lower($3::text)) > 0
			AND `+o.after("created_at", "id", "$4::timestamptz", "$5")+` ORDER BY `+o.by("created_at", "id")+` LIMIT $6::bigint`)
	}
	return lists
}

// ModerationState reads whether links are held against the allow list at home, and the version of its rules.
func (r *ReadBatch) ModerationState(home region.Code, into *ModerationState) {
	r.add(home, sqlModerationState, func(rows pgx.Rows) error {
		*into = ModerationState{}
		if !rows.Next() {
			return rows.Err()
		}
		return rows.Scan(&into.IsWhitelistEnabled, &into.Version)
	})
}

// EnabledModerationRules reads the rules of both lists that count at home, by list, expression and whether they match whole
// words alone, and their version. Their order is not defined.
func (r *ReadBatch) EnabledModerationRules(home region.Code, version *string, into *[]ModerationRule) {
	r.add(home, sqlModerationEnabled, func(rows pgx.Rows) error {
		*version, *into = "", nil
		for rows.Next() {
			var list, regex *string
			var exact *bool
			if err := rows.Scan(version, &list, &regex, &exact); err != nil {
				return err
			}
			if list != nil {
				*into = append(*into, ModerationRule{List: *list, Regex: *regex, IsMatchExactWord: *exact, IsEnabled: true})
			}
		}
		return nil
	})
}

// ModerationRules reads rules of a list by their ids; their order is not defined.
func (r *ReadBatch) ModerationRules(home region.Code, list string, ids []string, into *[]ModerationRule) {
	r.add(home, sqlModerationRulesByID, scanAll(into, scanModerationRule), list, ids)
}

// ModerationRuleList is a page of rules to read.
type ModerationRuleList struct {
	List  string
	Part  string // of the expression
	Desc  bool
	After time.Time // the position after which the page starts
	ID    string
	Limit int
}

// ListModerationRules reads a page of the rules of a list.
func (r *ReadBatch) ListModerationRules(home region.Code, l ModerationRuleList, into *[]ModerationRule) {
	r.add(home, moderationLists[l.Desc], scanAll(into, scanModerationRule), l.List, l.Part, l.After, l.ID, l.Limit)
}

// UpsertModerationRules stores changes of rules, but for those that newer ones are there for, and gives the rules of the home a new
// version. Rules that were deleted before forget are forgotten.
func (w *Tx) UpsertModerationRules(rules []ModerationRule, version string, forget time.Time) {
	for _, m := range rules {
		w.exec(sqlModerationPut, m.List, m.ID, m.Regex, m.IsPlain, m.IsMatchExactWord, m.IsEnabled, m.IsDeleted, m.CreatedAt, m.ChangedAt, m.Origin)
	}
	w.exec(sqlModerationSweep, forget)
	w.exec(sqlModerationVersion, version)
}

// GuardModerationRules refuses the transaction where a list has more rules, or more expressions, than that.
func (w *Tx) GuardModerationRules(list string, rules, expressions int, refusal error) {
	w.guard(sqlModerationLimit, refusal, list, rules, expressions)
}

// SelectModerationRules reads rules of a list as they stand once the statements before it have run.
func (w *Tx) SelectModerationRules(list string, ids []string, into *[]ModerationRule) {
	w.query(sqlModerationRulesByID, scanAll(into, scanModerationRule), list, ids)
}

// Newer orders rules by when they were made, and those of the same moment by their ids.
func (m ModerationRule) Newer(other ModerationRule) int {
	return cmp.Or(m.CreatedAt.Compare(other.CreatedAt), cmp.Compare(m.ID, other.ID))
}
