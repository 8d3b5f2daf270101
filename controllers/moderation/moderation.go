// Package moderation is the stage that keeps the moderation settings of the servers equal to the spec.
package moderation

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Stage applies the moderation settings.
type Stage struct{}

// Condition returns ModerationApplied.
func (Stage) Condition() string { return v1alpha1.ConditionModerationApplied }

// Run compares the servers with the spec and pushes the settings where they differ.
func (s Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	spec := p.SN.Spec.Moderation
	r := &run{want: platformclient.Moderation{
		WhitelistEnabled: spec.WhitelistEnabled, ReportEnabled: spec.ReportEnabled, FlagLimit: spec.FlagLimit, FlagHideLimit: spec.FlagHideLimit,
		Generation: p.SN.Generation,
	}}
	r.Sync = stage.Sync{Pass: p, Settings: stage.Settings{
		Condition: s.Condition(), Refused: v1alpha1.ReasonModerationRefused, PushFailed: v1alpha1.ReasonModerationPushFailed,
		Pushed: v1alpha1.ReasonModerationPushed, Noun: "settings", Name: "moderation settings",
		Read: func(report stage.ServerReport) (time.Time, string) {
			return report.Status.Moderation.AsOf, report.Status.Moderation.Error
		},
		// Only the content counts: another installation of the operator may have pushed the same settings with another generation.
		Differ: func(report stage.ServerReport) bool { return report.Status.Moderation.Digest != r.want.Hash() },
		Push:   r.push,
	}}
	r.Push(ctx)
	r.recordDrift()
	r.setHashes()
	r.summarize()
	return r.Out
}

// run is one run of the stage.
type run struct {
	stage.Sync

	want platformclient.Moderation
}

func (r *run) push(
	ctx context.Context, servers platformclient.Servers, to platformclient.Server, token keyring.Secret,
) ([]platformclient.Refusal, error) {
	return nil, servers.PushModeration(ctx, to, token, r.want)
}

// recordDrift adds an event for settings that were changed by other means and have been overwritten: they differ from the spec's
// although they have its generation, or although the region ran the spec's settings before. Servers may still report settings that
// an earlier pass saw; those have their event.
func (r *run) recordDrift() {
	if !r.HasPushed {
		return
	}
	seen := map[string]bool{}
	for _, region := range r.Pass.SN.Spec.Regions {
		seen[r.Pass.Region(region.Code).ModerationHash] = true
	}
	isNew := func(report stage.ServerReport) bool {
		own := report.Status.Moderation.Generation == r.want.ReportedGeneration()
		ran := r.Pass.Region(v1alpha1.RegionCode(report.Status.Region)).ModerationHash == r.want.Hash()
		return r.Differs(report) && (own || ran) && !seen[report.Status.Moderation.Digest]
	}
	reports := r.Pass.AllReports()
	if i := slices.IndexFunc(reports, isNew); i >= 0 { // settings are replicated: the other regions report the same
		m := reports[i].Status.Moderation
		r.Out.Events = append(r.Out.Events, stage.Event{
			Warning: true, Reason: v1alpha1.ReasonModerationDrift,
			Message: fmt.Sprintf("overwrote moderation settings that were changed outside the spec: whitelistEnabled=%t, reportEnabled=%t, "+
				"flagLimit=%d, flagHideLimit=%d",
				m.IsWhitelistEnabled, m.IsReportEnabled, m.FlagLimit, m.FlagHideLimit),
		})
	}
}

// setHashes sets the hash of the settings that each region runs. If its servers differ, it is the hash of one that is not
// the spec's.
func (r *run) setHashes() {
	for _, region := range r.Pass.SN.Spec.Regions {
		hash := ""
		for _, report := range r.Pass.Reports[region.Code] {
			if r.WhyUnknown(report) == "" && (hash == "" || hash == r.want.Hash()) {
				hash = report.Status.Moderation.Digest
			}
		}
		r.Pass.Region(region.Code).ModerationHash = hash
	}
}

// summarize sets the condition.
func (r *run) summarize() {
	if r.SummarizeDiffering() || r.SummarizeSilence() {
		return
	}
	reports, generation := r.Pass.AllReports(), 0
	for i, report := range reports {
		if i == 0 || report.Status.Moderation.Generation < generation {
			generation = report.Status.Moderation.Generation
		}
	}
	r.Out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonModerationRuns, fmt.Sprintf(
		"All %d servers in %d regions run the spec's settings, as of generation %d.", len(reports), len(r.Pass.SN.Spec.Regions), generation))
}
