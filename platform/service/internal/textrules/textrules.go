// Package textrules checks what users write against the allow list of links and the block list of words. It is the only
// place that does. An operation that takes a text adds Require to its request, after the checks that the caller may
// write.
package textrules

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/textfilter"
)

// UserText is text that a user wrote.
type UserText struct {
	Texts []string
	Links []string // values of fields that only contain a link
}

// TextOf returns all strings in the values of an object, at any depth, because clients decide which of them they show.
func TextOf(object freeform.Object) UserText { return UserText{Texts: object.Texts()} }

// TextOfFields returns the fields that a request sets.
func TextOfFields(fields ...*string) UserText {
	var t UserText
	for _, field := range fields {
		if field != nil {
			t.Texts = append(t.Texts, *field)
		}
	}
	return t
}

// TextOfList returns the texts of a list, such as tags.
func TextOfList(texts ...string) UserText { return UserText{Texts: texts} }

// LinkOfField returns a field that only contains a link, if a request sets it.
func LinkOfField(field *string) UserText {
	if field == nil || *field == "" {
		return UserText{}
	}
	return UserText{Links: []string{*field}}
}

// TextOfChanges returns the fields that a request changes, given pairs of the stored and the requested text. What was
// stored before a rule was added does not prevent other changes.
func TextOfChanges(pairs ...[2]*string) UserText {
	var t UserText
	for _, pair := range pairs {
		if stored, wanted := pair[0], pair[1]; wanted != nil && *wanted != *stored {
			t.Texts = append(t.Texts, *wanted)
		}
	}
	return t
}

// TextOfPoll returns the title, question and answers of a poll.
func TextOfPoll(p content.Poll) UserText {
	t := UserText{Texts: []string{p.Title, p.Question}}
	for _, a := range p.Answers {
		t.Texts = append(t.Texts, a.Data)
	}
	return t
}

// Rules are the lists of one home.
type Rules struct {
	deps  *service.Deps
	home  region.Code
	state network.ModerationState
}

// Read adds one row to reads: the version of the lists at the home that will store the text, so that no other region
// is involved. The rules themselves are only read and compiled if this process has not cached this version. An empty
// home, which comes from a malformed id, is replaced by that of the server.
func Read(d *service.Deps, reads *store.ReadBatch, home region.Code) *Rules {
	if home == "" {
		home = d.Region
	}
	t := &Rules{deps: d, home: home}
	reads.ModerationState(home, &t.state)
	return t
}

// Require adds the check of texts to a request. Without texts, it does nothing.
func Require(r *service.Request, home region.Code, texts ...UserText) {
	if !slices.ContainsFunc(texts, func(t UserText) bool { return len(t.Texts)+len(t.Links) > 0 }) {
		return
	}
	rules := Read(r.Deps, r.ReadBatch, home)
	r.AfterRun(func(ctx context.Context) error { return rules.Require(ctx, r.Caller, texts...) })
}

// Require returns 400308 if a text contains a blocked word and, if the setting isWhitelistEnabled is true, 400309 if
// it contains a link that no rule allows. A list does not apply to callers who may change it. The reads must have
// run.
func (t *Rules) Require(ctx context.Context, caller *auth.Caller, texts ...UserText) error {
	if !auth.Permits(caller, auth.ManageBlockList, auth.Scope{}) {
		if err := t.RequireNotBlocked(ctx, texts...); err != nil {
			return err
		}
	}
	if auth.Permits(caller, auth.ManageAllowList, auth.Scope{}) {
		return nil
	}
	return t.RequireAllowed(ctx, texts...)
}

// RequireNotBlocked returns 400308 if a text contains a blocked word, for any caller.
func (t *Rules) RequireNotBlocked(ctx context.Context, texts ...UserText) error {
	if t.state.Version == "" { // no rule was ever added
		return nil
	}
	rules, err := t.compiled(ctx)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if slices.ContainsFunc(text.Texts, rules.Block.Refuses) || slices.ContainsFunc(text.Links, rules.Block.Refuses) {
			return fail.WordBlocked()
		}
	}
	return nil
}

// RequireAllowed returns 400309 if the allow list is enabled and a text contains a link that no rule allows, for any
// caller.
func (t *Rules) RequireAllowed(ctx context.Context, texts ...UserText) error {
	if !t.state.IsWhitelistEnabled {
		return nil
	}
	rules, err := t.compiled(ctx)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if refused, found := rules.Allow.Refused(text.links()); found {
			return fail.LinkNotAllowed(refused.Host)
		}
	}
	return nil
}

// links returns the links in the texts and in the fields for links.
func (t UserText) links() []textfilter.Link {
	var links []textfilter.Link
	for _, text := range t.Texts {
		links = append(links, textfilter.Links(text)...)
	}
	for _, address := range t.Links {
		links = append(links, textfilter.ParseLink(address))
	}
	return links
}

// compiled returns the rules of the version that was read, or of a newer one.
func (t *Rules) compiled(ctx context.Context) (*textfilter.Rules, error) {
	if rules := t.deps.TextRules.Get(t.home, t.state.Version); rules != nil {
		return rules, nil
	}
	fresh := &textfilter.Rules{}
	if t.state.Version == "" {
		return fresh, nil
	}
	var rows []network.ModerationRule
	reads := t.deps.Store.NewReadBatch()
	reads.EnabledModerationRules(t.home, &fresh.Version, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for _, row := range rows {
		// A rule is only stored if it compiles, but another version of the program may have stored it.
		if err := fresh.Add(row.List, row.Regex, row.IsMatchExactWord); err != nil {
			t.deps.Log.ErrorContext(ctx, "moderation rule skipped", "list", row.List, "regex", row.Regex, "error", err)
		}
	}
	t.deps.TextRules.Put(t.home, fresh)
	return fresh, nil
}
