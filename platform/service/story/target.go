package story

import (
	"cmp"
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// named is a target that a request names.
type named struct {
	kind     string // community or user
	id       string // internal; empty where there is none
	publicID string
	target   visibility.Target
}

// resolveAll resolves a list of targets, without duplicates.
func (s *Service) resolveAll(ctx context.Context, list *plazav1.StoryTargetList) ([]named, error) {
	if len(list.GetTargetId()) != len(list.GetTargetType()) {
		return nil, errTargets
	}
	return s.resolve(ctx, list.GetTargetId(), list.GetTargetType())
}

// resolve returns targets with their internal ids, which are empty for targets that do not exist.
func (s *Service) resolve(ctx context.Context, ids, kinds []string) ([]named, error) {
	var users []string
	for i, id := range ids {
		if kinds[i] == onWall {
			users = append(users, id)
		}
	}
	found := map[string]string{}
	if len(users) > 0 {
		var err error
		if found, err = s.Directory.Resolve(ctx, users...); err != nil {
			return nil, err
		}
	}
	var targets []named
	for i, id := range ids {
		t := named{kind: kinds[i], publicID: id}
		switch {
		case t.kind == onWall:
			t.id = found[id]
		case region.ValidID(id):
			t.id = id
		}
		if !slices.ContainsFunc(targets, func(n named) bool { return n.kind == t.kind && n.publicID == t.publicID }) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// places are the targets of a request, and what was read about them.
type places struct {
	*service.Request
	targets []named
	owners  []people.User
	rows    []content.StoryTarget
}

// places starts the first round trip of a request about targets.
func (s *Service) places(ctx context.Context, targets []named) *places {
	p := &places{Request: s.NewRequest(ctx), targets: targets}
	var ids, walls []string
	for i := range targets {
		t := &targets[i]
		ids = append(ids, t.id)
		if t.id == "" {
			continue
		}
		if t.kind == onWall {
			walls = append(walls, t.id)
		}
		visibility.ReadTarget(p.Request, t.kind, t.id, &t.target)
	}
	p.Users(walls, &p.owners)
	p.StoryTargets(ids, p.Caller.UserID, &p.rows)
	return p
}

// requireSee returns nil if target i exists and the caller may see it.
func (p *places) requireSee(i int) error {
	t := p.targets[i]
	if t.id == "" {
		return fail.NotFound()
	}
	live := func(u people.User) bool { return u.ID == t.id && u.DeletedAt == nil }
	if t.kind == onWall && !slices.ContainsFunc(p.owners, live) {
		return fail.NotFound()
	}
	return t.target.RequireSee(p.Caller)
}

// seen returns the targets that the caller may see, in the order of the request. A target that never had a story has
// no times.
func (p *places) seen() []content.StoryTarget {
	var out []content.StoryTarget
	for i, t := range p.targets {
		if p.requireSee(i) != nil {
			continue
		}
		row := service.Find(p.rows, func(row content.StoryTarget) bool { return row.TargetID == t.id })
		out = append(out, *cmp.Or(row, &content.StoryTarget{TargetID: t.id, TargetType: t.kind, TargetPublicID: t.publicID}))
	}
	return out
}
