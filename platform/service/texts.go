package service

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/moderation"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// This file is the one place that holds what people write against the allow list of links and the block list of words. An
// operation that takes a text adds ReadTextRules to its reads, and asks Require once it knows that its caller may write there.

// Written is what somebody wrote.
type Written struct {
	Texts []string
	Links []string // fields that hold a link each, and nothing else
}

// WrittenIn is every text in the values of an object, however deep: what a client shows of it is the client's to decide.
func WrittenIn(objects ...*structpb.Struct) Written {
	var w Written
	for _, o := range objects {
		for _, v := range o.GetFields() {
			w.Texts = append(w.Texts, textsIn(v)...)
		}
	}
	return w
}

func textsIn(v *structpb.Value) []string {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		return []string{kind.StringValue}
	case *structpb.Value_StructValue:
		return WrittenIn(kind.StructValue).Texts
	case *structpb.Value_ListValue:
		var texts []string
		for _, item := range kind.ListValue.GetValues() {
			texts = append(texts, textsIn(item)...)
		}
		return texts
	}
	return nil
}

// WrittenAs is those of the texts of a change that are given.
func WrittenAs(texts ...*string) Written {
	var w Written
	for _, text := range texts {
		if text != nil {
			w.Texts = append(w.Texts, *text)
		}
	}
	return w
}

// Texts is what a draft holds to read.
func (d *Draft) Texts() Written { return WrittenIn(d.Data) }

// TextsOfPoll is what a poll holds to read.
func TextsOfPoll(p store.Poll) Written {
	w := Written{Texts: []string{p.Title, p.Question}}
	for _, a := range p.Answers {
		w.Texts = append(w.Texts, a.Data)
	}
	return w
}

// TextRules are what texts are held against, as one home has it.
type TextRules struct {
	deps  *Deps
	home  region.Code
	state store.ModerationState
}

// ReadTextRules adds what TextRules needs to a gathering: one row of the home where the text is going to live, so that what is
// written there waits for no other region. The rules themselves are read when they changed since this process last read them, and
// compiled then. A home that is none stands for the server's own: nothing can be written there.
func (d *Deps) ReadTextRules(r *store.Reads, home region.Code) *TextRules {
	if home == "" {
		home = d.Region
	}
	t := &TextRules{deps: d, home: home}
	r.ModerationState(home, &t.state)
	return t
}

// Require returns nil where everything that the caller wrote passes the lists: 400308 for a blocked word and, while the setting
// isWhitelistEnabled is true, 400309 for a link that no rule allows. Who may change a list is not bound by it. It is to be called
// once the reads have run.
func (t *TextRules) Require(ctx context.Context, caller *auth.Caller, written ...Written) error {
	if !auth.Allowed(caller, auth.ManageBlockList, auth.Scope{}) {
		if err := t.RequireNotBlocked(ctx, written...); err != nil {
			return err
		}
	}
	if auth.Allowed(caller, auth.ManageAllowList, auth.Scope{}) {
		return nil
	}
	return t.RequireAllowed(ctx, written...)
}

// RequireNotBlocked is what Require says of blocked words, whoever asks.
func (t *TextRules) RequireNotBlocked(ctx context.Context, written ...Written) error {
	if t.state.Version == "" { // there never was a rule
		return nil
	}
	rules, err := t.rules(ctx)
	if err != nil {
		return err
	}
	for _, w := range written {
		if slices.ContainsFunc(w.Texts, rules.block.Refuses) || slices.ContainsFunc(w.Links, rules.block.Refuses) {
			return fail.WordBlocked()
		}
	}
	return nil
}

// RequireAllowed is what Require says of links, whoever asks.
func (t *TextRules) RequireAllowed(ctx context.Context, written ...Written) error {
	if !t.state.IsWhitelistEnabled {
		return nil
	}
	rules, err := t.rules(ctx)
	if err != nil {
		return err
	}
	for _, w := range written {
		if refused, found := rules.allow.Refused(w.links()); found {
			return fail.LinkNotAllowed(refused.Host)
		}
	}
	return nil
}

// links are those of the texts, and those that fields hold.
func (w Written) links() []moderation.Link {
	var links []moderation.Link
	for _, text := range w.Texts {
		links = append(links, moderation.Links(text)...)
	}
	for _, address := range w.Links {
		links = append(links, moderation.ParseLink(address))
	}
	return links
}

// CheckTexts is ReadTextRules and Require in a round trip of its own, for a change whose first one has run; without a text it has
// none.
func (d *Deps) CheckTexts(ctx context.Context, caller *auth.Caller, home region.Code, written ...Written) error {
	if !slices.ContainsFunc(written, func(w Written) bool { return len(w.Texts)+len(w.Links) > 0 }) {
		return nil
	}
	reads := d.Store.Reads()
	rules := d.ReadTextRules(reads, home)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	return rules.Require(ctx, caller, written...)
}

// compiledRules are the rules of one version, which is what a process keeps: a list changes seldom and is asked often.
type compiledRules struct {
	version string
	allow   moderation.AllowList
	block   moderation.BlockList
}

// rules returns the rules of the version that the request found, or newer ones.
func (t *TextRules) rules(ctx context.Context) (*compiledRules, error) {
	d := t.deps
	known, _ := d.compiled.Load(t.home)
	if rules, ok := known.(*compiledRules); ok && rules.version == t.state.Version {
		return rules, nil
	}
	fresh := &compiledRules{}
	if t.state.Version == "" {
		return fresh, nil
	}
	var rows []store.ModerationRule
	reads := d.Store.Reads()
	reads.EnabledModerationRules(t.home, &fresh.version, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := fresh.add(row); err != nil { // it was compiled before it was stored, by another version perhaps
			d.Log.ErrorContext(ctx, "moderation rule passed over", "list", row.List, "regex", row.Regex, "error", err)
		}
	}
	d.compiled.Store(t.home, fresh)
	return fresh, nil
}

func (c *compiledRules) add(row store.ModerationRule) error {
	switch row.List {
	case moderation.Allow:
		rule, err := moderation.CompileAllow(row.Regex)
		if err != nil {
			return err
		}
		c.allow.Add(rule)
	case moderation.Block:
		rule, err := moderation.CompileBlock(row.Regex, row.IsMatchExactWord)
		if err != nil {
			return err
		}
		c.block.Add(rule)
	default:
		return fmt.Errorf("no list of the name %q", row.List)
	}
	return nil
}
