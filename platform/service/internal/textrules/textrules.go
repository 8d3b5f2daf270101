package textrules

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/moderation"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// This file is the one place that holds what people write against the allow list of links and the block list of words. An
// operation that takes a text adds Read to its reads, and asks Require once it knows that its caller may write there.

// Written is what somebody wrote.
type UserText struct {
	Texts []string
	Links []string // fields that hold a link each, and nothing else
}

// TextOf is every text in the values of an object, however deep: what a client shows of it is the client's to decide.
func TextOf(objects ...*structpb.Struct) UserText {
	var w UserText
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
		return TextOf(kind.StructValue).Texts
	case *structpb.Value_ListValue:
		var texts []string
		for _, item := range kind.ListValue.GetValues() {
			texts = append(texts, textsIn(item)...)
		}
		return texts
	}
	return nil
}

// TextOfFields is those of the texts of a change that are given.
func TextOfFields(texts ...*string) UserText {
	var w UserText
	for _, text := range texts {
		if text != nil {
			w.Texts = append(w.Texts, *text)
		}
	}
	return w
}

// TextOfPoll is what a poll holds to read.
func TextOfPoll(p store.Poll) UserText {
	w := UserText{Texts: []string{p.Title, p.Question}}
	for _, a := range p.Answers {
		w.Texts = append(w.Texts, a.Data)
	}
	return w
}

// Rules are what texts are held against, as one home has it.
type Rules struct {
	deps  *service.Deps
	home  region.Code
	state store.ModerationState
}

// Read adds what Rules needs to a gathering: one row of the home where the text is going to live, so that what is
// written there waits for no other region. The rules themselves are read when they changed since this process last read them, and
// compiled then. A home that is none stands for the server's own: nothing can be written there.
func Read(d *service.Deps, r *store.ReadBatch, home region.Code) *Rules {
	if home == "" {
		home = d.Region
	}
	t := &Rules{deps: d, home: home}
	r.ModerationState(home, &t.state)
	return t
}

// Require returns nil where everything that the caller wrote passes the lists: 400308 for a blocked word and, while the setting
// isWhitelistEnabled is true, 400309 for a link that no rule allows. Who may change a list is not bound by it. It is to be called
// once the reads have run.
func (t *Rules) Require(ctx context.Context, caller *auth.Caller, written ...UserText) error {
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
func (t *Rules) RequireNotBlocked(ctx context.Context, written ...UserText) error {
	if t.state.Version == "" { // there never was a rule
		return nil
	}
	rules, err := t.compiled(ctx)
	if err != nil {
		return err
	}
	for _, w := range written {
		if slices.ContainsFunc(w.Texts, rules.Block.Refuses) || slices.ContainsFunc(w.Links, rules.Block.Refuses) {
			return fail.WordBlocked()
		}
	}
	return nil
}

// RequireAllowed is what Require says of links, whoever asks.
func (t *Rules) RequireAllowed(ctx context.Context, written ...UserText) error {
	if !t.state.IsWhitelistEnabled {
		return nil
	}
	rules, err := t.compiled(ctx)
	if err != nil {
		return err
	}
	for _, w := range written {
		if refused, found := rules.Allow.Refused(w.links()); found {
			return fail.LinkNotAllowed(refused.Host)
		}
	}
	return nil
}

// links are those of the texts, and those that fields hold.
func (w UserText) links() []moderation.Link {
	var links []moderation.Link
	for _, text := range w.Texts {
		links = append(links, moderation.Links(text)...)
	}
	for _, address := range w.Links {
		links = append(links, moderation.ParseLink(address))
	}
	return links
}

// Check is Read and Require in a round trip of its own, for a change whose first one has run; without a text it has
// none.
func Check(ctx context.Context, d *service.Deps, caller *auth.Caller, home region.Code, written ...UserText) error {
	if !slices.ContainsFunc(written, func(w UserText) bool { return len(w.Texts)+len(w.Links) > 0 }) {
		return nil
	}
	reads := d.Store.NewReadBatch()
	rules := Read(d, reads, home)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	return rules.Require(ctx, caller, written...)
}

// compiled returns the rules of the version that the request found, or of a newer one.
func (t *Rules) compiled(ctx context.Context) (*moderation.Rules, error) {
	if rules := t.deps.TextRules.Get(t.home, t.state.Version); rules != nil {
		return rules, nil
	}
	fresh := &moderation.Rules{}
	if t.state.Version == "" {
		return fresh, nil
	}
	var rows []store.ModerationRule
	reads := t.deps.Store.NewReadBatch()
	reads.EnabledModerationRules(t.home, &fresh.Version, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for _, row := range rows {
		// A rule was compiled before it was stored, but possibly by another version of the program.
		if err := fresh.Add(row.List, row.Regex, row.IsMatchExactWord); err != nil {
			t.deps.Log.ErrorContext(ctx, "moderation rule skipped", "list", row.List, "regex", row.Regex, "error", err)
		}
	}
	t.deps.TextRules.Put(t.home, fresh)
	return fresh, nil
}
