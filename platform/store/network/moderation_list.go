package network

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ModerationRule is a row of moderation_rules: a rule of the allow list or the block list, as stored in one home. The
// newest change wins; of two changes at the same time, the one with the greater origin.
type ModerationRule struct {
	List             string    `json:"list"` // allow or block
	ID               string    `json:"id"`
	Regex            string    `json:"regex"`
	IsPlain          bool      `json:"isPlain"` // a domain or a text, not a regular expression
	IsMatchExactWord bool      `json:"isMatchExactWord"`
	IsEnabled        bool      `json:"isEnabled"`
	IsDeleted        bool      `json:"isDeleted"`
	CreatedAt        time.Time `json:"createdAt"`
	ChangedAt        time.Time `json:"changedAt"`
	Origin           string    `json:"origin"`
}

// ModerationState is the state of the moderation lists that a request reads before it checks a text.
type ModerationState struct {
	IsWhitelistEnabled bool
	Version            string // of the rules; empty if there never was a rule
}

var moderationRuleColumns = db.Columns[ModerationRule]()

var (
	sqlModerationState = db.Register("moderation.state", `SELECT
		COALESCE((SELECT value = 'true'::jsonb FROM settings WHERE home = $1 AND name = 'isWhitelistEnabled'), false),
		COALESCE((SELECT version FROM moderation_lists WHERE home = $1), '')`)
	// One statement reads the version and the rules, so that they are consistent.
	sqlModerationEnabled = db.Register("moderation.enabled", `SELECT moderation_lists.version, r.list, r.regex, r.is_match_exact_word
		FROM moderation_lists LEFT JOIN moderation_rules AS r ON r.home = $1 AND r.list IN ('allow', 'block') AND r.is_enabled
		AND NOT r.is_deleted
		WHERE moderation_lists.home = $1`)
	sqlModerationRulesByID = db.Register("moderation.byID", `SELECT `+moderationRuleColumns+` FROM moderation_rules
		WHERE home = $1 AND list = $2 AND id = ANY($3::text[]) AND NOT is_deleted`)
	sqlModerationUpsert = db.Register("moderation.put", `INSERT INTO moderation_rules (home, `+moderationRuleColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (home, list, id) DO UPDATE SET regex = excluded.regex, is_plain = excluded.is_plain,
			is_match_exact_word = excluded.is_match_exact_word, is_enabled = excluded.is_enabled, is_deleted = excluded.is_deleted,
			created_at = excluded.created_at, changed_at = excluded.changed_at, origin = excluded.origin
		WHERE (moderation_rules.changed_at, moderation_rules.origin) <= (excluded.changed_at, excluded.origin)`)
	sqlModerationVersion = db.Register("moderation.version", `INSERT INTO moderation_lists (home, version) VALUES ($1, $2)
		ON CONFLICT (home) DO UPDATE SET version = excluded.version`)
	sqlModerationSweep      = db.Register("moderation.sweep", `DELETE FROM moderation_rules WHERE home = $1 AND is_deleted AND changed_at < $2`)
	sqlModerationGuardLimit = db.Register("moderation.guardLimit", `SELECT 1 / CASE WHEN (SELECT count(*) <= $3::bigint
		AND COALESCE(sum(CASE WHEN is_plain THEN 0 ELSE 1 END), 0) <= $4::bigint
		FROM moderation_rules WHERE home = $1 AND list = $2 AND NOT is_deleted) THEN 1 ELSE 0 END`)
)

// moderationRulesByCreation are the statements of ListModerationRules.
var moderationRulesByCreation = core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
	Name: "moderation.list", Columns: moderationRuleColumns, After: 4,
	From: `moderation_rules WHERE home = $1 AND list = $2 AND NOT is_deleted AND strpos(lower(regex), lower($3::text)) > 0`,
}.List)

// ModerationState reads the state of the moderation lists of a home.
func (r ReadBatch) ModerationState(home region.Code, into *ModerationState) {
	r.Add(home, sqlModerationState, db.RowOrZero(into))
}

// EnabledModerationRules reads the version and the enabled rules of both lists of a home in no particular order. Of the
// rules only List, Regex, IsMatchExactWord and IsEnabled are set.
func (r ReadBatch) EnabledModerationRules(home region.Code, version *string, into *[]ModerationRule) {
	r.Add(home, sqlModerationEnabled, func(rows pgx.Rows) error {
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

// ModerationRules reads rules of a list by id in no particular order.
func (r ReadBatch) ModerationRules(home region.Code, list string, ids []string, into *[]ModerationRule) {
	r.Add(home, sqlModerationRulesByID, db.Rows(into), list, ids)
}

// ModerationRuleList is a page of moderation rules.
type ModerationRuleList struct {
	List  string
	Part  string // a part of the expression
	Desc  bool
	After time.Time // the position that the page starts after
	ID    string
	Limit int
}

// ListModerationRules reads a page of the rules of a list.
func (r ReadBatch) ListModerationRules(home region.Code, l ModerationRuleList, into *[]ModerationRule) {
	r.Add(home, moderationRulesByCreation.In(l.Desc), db.Rows(into), l.List, l.Part, l.After, l.ID, l.Limit)
}

// UpsertModerationRules stores changed rules unless the stored ones are newer, and sets a new version. It deletes rules
// that were marked as deleted before purgeBefore.
func (w Tx) UpsertModerationRules(rules []ModerationRule, version string, purgeBefore time.Time) {
	for _, m := range rules {
		w.Exec(sqlModerationUpsert, m.List, m.ID, m.Regex, m.IsPlain, m.IsMatchExactWord, m.IsEnabled, m.IsDeleted, m.CreatedAt, m.ChangedAt,
			m.Origin)
	}
	w.Exec(sqlModerationSweep, purgeBefore)
	w.Exec(sqlModerationVersion, version)
}

// GuardModerationRules makes the transaction fail with refusal if a list has more rules or more expressions than
// allowed.
func (w Tx) GuardModerationRules(list string, rules, expressions int, refusal error) {
	w.Guard(sqlModerationGuardLimit, refusal, list, rules, expressions)
}

// SelectModerationRules reads rules of a list after the preceding statements.
func (w Tx) SelectModerationRules(list string, ids []string, into *[]ModerationRule) {
	w.Query(sqlModerationRulesByID, db.Rows(into), list, ids)
}

// Newer compares rules by creation time and then by id.
func (m ModerationRule) Newer(other ModerationRule) int {
	return cmp.Or(m.CreatedAt.Compare(other.CreatedAt), cmp.Compare(m.ID, other.ID))
}
