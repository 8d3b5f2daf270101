// Package moderation is the stage that keeps the moderation settings of the servers equal to the spec. It compares the
// settings that every server reports with the spec and pushes the spec to the regions that differ; the next pass reads
// back what the servers run.
package moderation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
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
func (Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	spec := p.SN.Spec.Moderation
	r := &run{pass: p, want: platformclient.Moderation{
		WhitelistEnabled: spec.WhitelistEnabled, ReportEnabled: spec.ReportEnabled, FlagLimit: spec.FlagLimit, FlagHideLimit: spec.FlagHideLimit,
		Generation: p.SN.Generation,
	}}
	if outdated := r.pass.RegionsWhere(r.differs); len(outdated) > 0 && !p.SN.Spec.Paused {
		r.push(ctx, outdated)
		r.recordDrift()
	}
	r.setHashes()
	r.summarize()
	return r.out
}

// run is one run of the stage.
type run struct {
	pass    *stage.Pass
	out     stage.Outcome
	want    platformclient.Moderation
	pushed  bool     // at least one region accepted the settings
	failed  []string // errors of pushes
	refused bool     // a region rejected the settings; a retry does not help
}

// known reports whether a report has the settings that its server runs now.
func known(r stage.ServerReport) bool {
	return r.Err == nil && !r.Status.Moderation.AsOf.IsZero() && r.Status.Moderation.Error == ""
}

// differs reports whether a server runs other settings than the spec's. Only their content counts: another installation of the
// operator may have pushed the same settings with another generation.
func (r *run) differs(report stage.ServerReport) bool {
	return known(report) && report.Status.Moderation.Digest != r.want.Hash()
}

// isRetry reports whether an earlier pass pushed the settings already, and this one reads back that not all servers run them.
func (r *run) isRetry() bool {
	c := meta.FindStatusCondition(r.pass.Status.Conditions, v1alpha1.ConditionModerationApplied)
	return c != nil && c.ObservedGeneration == r.pass.SN.Generation && c.Status == metav1.ConditionFalse
}

// recordDrift adds an event for settings that were changed by other means and have been overwritten: they differ from the spec's
// although they have its generation, or although the region ran the spec's settings before. Servers may still report settings that
// an earlier pass saw; those have their event.
func (r *run) recordDrift() {
	if !r.pushed {
		return
	}
	seen := map[string]bool{}
	for _, region := range r.pass.SN.Spec.Regions {
		seen[r.pass.Region(region.Code).ModerationHash] = true
	}
	isNew := func(report stage.ServerReport) bool {
		own := report.Status.Moderation.Generation == r.want.ReportedGeneration()
		ran := r.pass.Region(v1alpha1.RegionCode(report.Status.Region)).ModerationHash == r.want.Hash()
		return r.differs(report) && (own || ran) && !seen[report.Status.Moderation.Digest]
	}
	for _, code := range r.pass.RegionsWhere(isNew) {
		reports := r.pass.Reports[code]
		m := reports[slices.IndexFunc(reports, isNew)].Status.Moderation
		r.out.Events = append(r.out.Events, stage.Event{
			Warning: true, Reason: v1alpha1.ReasonModerationDrift,
			Message: fmt.Sprintf("overwrote moderation settings that were changed outside the spec: whitelistEnabled=%t, reportEnabled=%t, flagLimit=%d, flagHideLimit=%d",
				m.IsWhitelistEnabled, m.IsReportEnabled, m.FlagLimit, m.FlagHideLimit),
		})
		return // settings are replicated: the other regions report the same
	}
}

// push sends the settings to one server of each region. A region that cannot be reached receives them from the others.
func (r *run) push(ctx context.Context, codes []v1alpha1.RegionCode) {
	errs, err := r.pass.Push(ctx, codes, r.pushTo)
	if err != nil {
		r.failed = append(r.failed, err.Error())
		r.out.RequeueAfter(stage.PushInterval)
		return
	}
	for i, err := range errs {
		if err == nil {
			r.pushed = true
			continue
		}
		r.failed = append(r.failed, fmt.Sprintf("region %s: %s", codes[i], err))
		var response *platformclient.ResponseError
		r.refused = r.refused || (errors.As(err, &response) && response.Permanent())
	}
	switch {
	case r.refused:
	case r.isRetry():
		r.out.RequeueAfter(stage.PushInterval)
	default:
		r.out.RequeueAfter(stage.ReadBackDelay)
	}
}

func (r *run) pushTo(ctx context.Context, code v1alpha1.RegionCode, token keyring.Secret) error {
	return r.pass.ClusterOf(code).Servers.PushModeration(ctx, r.pass.Receiver(code, known), token, r.want)
}

// setHashes sets the hash of the settings that each region runs. If its servers differ, it is the hash of one that is not
// the spec's.
func (r *run) setHashes() {
	for _, region := range r.pass.SN.Spec.Regions {
		hash := ""
		for _, report := range r.pass.Reports[region.Code] {
			if known(report) && (hash == "" || hash == r.want.Hash()) {
				hash = report.Status.Moderation.Digest
			}
		}
		r.pass.Region(region.Code).ModerationHash = hash
	}
}

// summarize sets the condition.
func (r *run) summarize() {
	if differing := r.pass.RegionsWhere(r.differs); len(differing) > 0 {
		r.summarizeDiffering(differing)
		return
	}
	if reason, message := r.pass.Silence("settings", whyUnknown); reason != "" {
		r.out.SetCondition(metav1.ConditionUnknown, reason, message)
		return
	}
	reports, generation := r.pass.AllReports(), 0
	for i, report := range reports {
		if i == 0 || report.Status.Moderation.Generation < generation {
			generation = report.Status.Moderation.Generation
		}
	}
	r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonModerationRuns, fmt.Sprintf("All %d servers in %d regions run the spec's settings, as of generation %d.",
		len(reports), len(r.pass.SN.Spec.Regions), generation))
}

func (r *run) summarizeDiffering(regions []v1alpha1.RegionCode) {
	where, failures := stage.JoinNames(regions), strings.Join(r.failed, "; ")
	switch {
	case r.pass.SN.Spec.Paused:
		r.out.Pending = append(r.out.Pending, "push the moderation settings to "+where)
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, fmt.Sprintf("Servers in %s do not run the spec's settings.", where))
	case r.refused:
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonModerationRefused, "The settings were rejected: "+failures+".")
	case failures != "" && (!r.pushed || r.isRetry()):
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonModerationPushFailed, "The settings could not be pushed: "+failures+".")
	default:
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonModerationPushed,
			fmt.Sprintf("The settings were pushed; not every server in %s reports them yet.", where))
	}
}

// whyUnknown returns why the settings of a server are not known, or "" if they are.
func whyUnknown(r stage.ServerReport) string {
	switch {
	case known(r):
		return ""
	case r.Err != nil:
		return r.Err.Error()
	case r.Status.Moderation.Error != "":
		return r.Status.Moderation.Error
	default:
		return "the settings were not read yet"
	}
}
