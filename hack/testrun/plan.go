package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// plan returns the calls of go test: the packages with the race detector last, because they share fewer compiled packages
// with what other commands have compiled, and then those of other modules.
func plan(ctx context.Context, o options) ([]group, error) {
	all, err := list(ctx, o, "", o.patterns)
	if err != nil {
		return nil, err
	}
	race, err := list(ctx, o, "", strings.Fields(o.race))
	if err != nil {
		return nil, err
	}
	first, err := list(ctx, o, "", strings.Fields(o.first))
	if err != nil {
		return nil, err
	}
	var groups []group
	plain := order(without(all, race), first)
	detected := order(without(all, without(all, race)), first)
	for _, g := range []group{{packages: plain}, {packages: detected, race: true}} {
		if len(g.packages) > 0 {
			groups = append(groups, g)
		}
	}
	for dir := range strings.FieldsSeq(o.modules) {
		packages, err := list(ctx, options{}, dir, []string{"./..."})
		if err != nil {
			return nil, err
		}
		if len(packages) > 0 {
			groups = append(groups, group{dir: dir, packages: packages})
		}
	}
	return groups, nil
}

// list returns the import paths of the packages with tests that the patterns match, in the module in dir.
func list(ctx context.Context, o options, dir string, patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	args := append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"}, tagsFlag(o)...)
	cmd := exec.CommandContext(ctx, "go", append(args, patterns...)...)
	var complaints strings.Builder // also tells which modules are downloaded
	cmd.Dir, cmd.Stderr = dir, &complaints
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w: %s", strings.Join(patterns, " "), err, complaints.String())
	}
	return strings.Fields(string(output)), nil
}

// tagsFlag returns the flag -tags, which replaces that of GOFLAGS, with the tags of both.
func tagsFlag(o options) []string {
	if o.tags == "" {
		return nil
	}
	tags := o.tags
	for flag := range strings.FieldsSeq(os.Getenv("GOFLAGS")) {
		if earlier, ok := strings.CutPrefix(flag, "-tags="); ok {
			tags = earlier + "," + tags
		}
	}
	return []string{"-tags=" + tags}
}

func without(all, removed []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(removed, p) })
}

// order returns all with those of first at the start, in the order of first.
func order(all, first []string) []string {
	present := slices.DeleteFunc(slices.Clone(first), func(p string) bool { return !slices.Contains(all, p) })
	return append(present, without(all, present)...)
}
