package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/regional"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

const (
	// pushWithin is how long a region may take to accept the settings.
	pushWithin = 5 * time.Second
	// readBackWithin is how long a pass waits for the servers to report what was pushed, and readBackEvery how often it asks.
	// Other regions have the settings within a second.
	readBackWithin = 4 * time.Second
	readBackEvery  = 250 * time.Millisecond
	// pushAgain is when the stage looks again after a push that not every server reported.
	pushAgain = 5 * time.Second
)

// Moderation is the stage that holds the moderation settings: it compares what every server reports to run with the spec, pushes
// to the regions that differ, and reads back.
type Moderation struct {
	// ReadBackEvery and ReadBackWithin replace the constants in tests.
	ReadBackEvery  time.Duration
	ReadBackWithin time.Duration
}

// Condition is ModerationApplied.
func (Moderation) Condition() string { return v1alpha1.ConditionModerationApplied }

// Run says what the servers run, and puts it right.
func (s Moderation) Run(ctx context.Context, w *World) Outcome {
	p := &moderationPass{w: w, want: regional.Moderation{
		WhitelistEnabled: w.SN.Spec.Moderation.WhitelistEnabled, ReportEnabled: w.SN.Spec.Moderation.ReportEnabled,
		FlagLimit: w.SN.Spec.Moderation.FlagLimit, Generation: w.SN.Generation,
	}, reports: w.Reports, every: orDefault(s.ReadBackEvery, readBackEvery), within: orDefault(s.ReadBackWithin, readBackWithin)}
	different := p.different()
	drifted := p.drifted(different)
	if len(different) > 0 && !w.SN.Spec.Paused && p.push(ctx, different) {
		p.readBack(ctx)
		p.tellDrift(drifted)
	}
	p.sum()
	return p.out
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// moderationPass is one run of the stage.
type moderationPass struct {
	w       *World
	out     Outcome
	want    regional.Moderation
	reports map[v1alpha1.RegionCode][]Report
	every   time.Duration
	within  time.Duration
	failed  []string // what became of pushes that failed
	refused bool     // one of them was refused for good
	pushed  bool
}

// known is true for a report that tells what its server runs now.
func known(r Report) bool {
	return r.Err == nil && !r.Status.Moderation.AsOf.IsZero() && r.Status.Moderation.Error == ""
}

// runs is true when a server runs the settings of the spec. While the network is paused the generation does not count: the spec's
// changes with every edit, and nobody tells the servers.
func (p *moderationPass) runs(m statusz.Moderation) bool {
	return m.Digest == p.want.Hash() && (m.Generation == p.want.ReportedGeneration() || p.w.SN.Spec.Paused)
}

// different lists the regions of which a server reports something else than the spec, in the spec's order.
func (p *moderationPass) different() []v1alpha1.RegionCode {
	var codes []v1alpha1.RegionCode
	for _, region := range p.w.SN.Spec.Regions {
		if slices.ContainsFunc(p.reports[region.Code], func(r Report) bool { return known(r) && !p.runs(r.Status.Moderation) }) {
			codes = append(codes, region.Code)
		}
	}
	return codes
}

// drifted returns settings that somebody else made: they differ from the spec's though they carry its generation.
func (p *moderationPass) drifted(different []v1alpha1.RegionCode) *statusz.Moderation {
	for _, code := range different {
		for _, report := range p.reports[code] {
			m := report.Status.Moderation
			if known(report) && m.Digest != p.want.Hash() && m.Generation == p.want.ReportedGeneration() {
				return &m
			}
		}
	}
	return nil
}

func (p *moderationPass) tellDrift(m *statusz.Moderation) {
	if m == nil {
		return
	}
	p.out.Events = append(p.out.Events, Event{
		Warning: true, Reason: v1alpha1.ReasonModerationDrift,
		Message: fmt.Sprintf("the moderation settings had been changed to whitelistEnabled=%t, reportEnabled=%t, flagLimit=%d by other means; the spec's were put back",
			m.IsWhitelistEnabled, m.IsReportEnabled, m.FlagLimit),
	})
}

// push brings the settings to regions, each at its own address: where one of them cannot be reached, the others have them,
// and it gets them from those later. It is true when at least one took them.
func (p *moderationPass) push(ctx context.Context, codes []v1alpha1.RegionCode) bool {
	token, err := p.token(ctx)
	if err != nil {
		p.failed = append(p.failed, err.Error())
		return false
	}
	errs := make([]error, len(codes))
	var group errgroup.Group
	for i, code := range codes {
		group.Go(func() error {
			errs[i] = p.pushTo(ctx, code, token)
			return nil
		})
	}
	_ = group.Wait() // errs holds the errors
	for i, err := range errs {
		if err == nil {
			p.pushed = true
			continue
		}
		p.failed = append(p.failed, fmt.Sprintf("region %s: %s", codes[i], err))
		var answer *regional.AnswerError
		p.refused = p.refused || (errors.As(err, &answer) && answer.Refused())
	}
	return p.pushed
}

// token is an administrator's, from the network's own signing keys.
func (p *moderationPass) token(ctx context.Context) (keyring.Secret, error) {
	name := render.SigningKeysSecret(p.w.SN.Name)
	var secret corev1.Secret
	if err := p.w.Cached.Get(ctx, client.ObjectKey{Namespace: p.w.SN.Namespace, Name: name}, &secret); err != nil {
		return keyring.Secret{}, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return regional.AdminToken(keyring.NewSecret(string(secret.Data[keyring.SigningKeysFile])), p.w.Network.NetworkID, p.w.Now)
}

func (p *moderationPass) pushTo(ctx context.Context, code v1alpha1.RegionCode, token keyring.Secret) error {
	api, err := p.api(ctx, code)
	if err != nil {
		return err
	}
	pushing, cancel := context.WithTimeout(ctx, pushWithin)
	defer cancel()
	return p.w.Servers.PushModeration(pushing, api, token, p.want)
}

// api is where a region's API is reached: its Service's own address, so that the operator needs no DNS of the cluster.
func (p *moderationPass) api(ctx context.Context, code v1alpha1.RegionCode) (string, error) {
	name := render.RegionName(p.w.SN.Name, code)
	var service corev1.Service
	if err := p.w.Cached.Get(ctx, client.ObjectKey{Namespace: p.w.SN.Namespace, Name: name}, &service); err != nil {
		return "", fmt.Errorf("reading Service %s: %w", name, err)
	}
	return apiAddress(&service)
}

// readBack asks the servers until every one reports what was pushed, or the time is over.
func (p *moderationPass) readBack(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		p.reports = p.ask(waiting)
		if len(p.different()) == 0 {
			return
		}
		select {
		case <-waiting.Done():
			return
		case <-tick.C:
		}
	}
}

// ask asks every server again; one that does not answer keeps its last report.
func (p *moderationPass) ask(ctx context.Context) map[v1alpha1.RegionCode][]Report {
	newer := map[v1alpha1.RegionCode][]Report{}
	var group errgroup.Group
	group.SetLimit(askAtOnce)
	for code, reports := range p.reports {
		copied := slices.Clone(reports)
		newer[code] = copied
		for i, report := range reports {
			group.Go(func() error {
				if status, err := p.w.Servers.Status(ctx, report.Ops); err == nil {
					copied[i].Status, copied[i].Err = status, nil
				}
				return nil
			})
		}
	}
	_ = group.Wait() // an error leaves the last report
	return newer
}

// sum says what holds now.
func (p *moderationPass) sum() {
	total := 0
	var silent, without []string
	for _, region := range p.w.SN.Spec.Regions {
		reports := p.reports[region.Code]
		p.w.Region(region.Code).ModerationHash = p.hashOf(reports)
		total += len(reports)
		if len(reports) == 0 {
			without = append(without, string(region.Code))
		}
		if i := slices.IndexFunc(reports, func(r Report) bool { return !known(r) }); i >= 0 {
			silent = append(silent, string(region.Code)+" (pod "+reports[i].Pod+": "+whyUnknown(reports[i])+")")
		}
	}
	different := p.different()
	switch {
	case len(different) > 0:
		p.sumDifferent(different)
	case len(without) > 0:
		p.out.Say(metav1.ConditionUnknown, v1alpha1.ReasonNoServers, fmt.Sprintf("No server is ready in %s.", list(without)))
	case len(silent) > 0:
		p.out.Say(metav1.ConditionUnknown, v1alpha1.ReasonServersSilent, fmt.Sprintf("Servers do not tell what they run in %s.", list(silent)))
	default:
		p.out.Say(metav1.ConditionTrue, v1alpha1.ReasonModerationRuns,
			fmt.Sprintf("%s of %d regions run the spec's settings, as of generation %d.", servers(total), len(p.w.SN.Spec.Regions), p.generation()))
	}
}

// generation is the one that every server reports.
func (p *moderationPass) generation() int {
	for _, region := range p.w.SN.Spec.Regions {
		for _, report := range p.reports[region.Code] {
			return report.Status.Moderation.Generation
		}
	}
	return 0
}

func (p *moderationPass) sumDifferent(different []v1alpha1.RegionCode) {
	where := make([]string, len(different))
	for i, code := range different {
		where[i] = string(code)
	}
	switch {
	case p.w.SN.Spec.Paused:
		p.out.Pending = append(p.out.Pending, "push the moderation settings to "+list(where))
		p.out.Say(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, fmt.Sprintf("Servers in %s run other settings than the spec's.", list(where)))
	case p.refused:
		p.out.Say(metav1.ConditionFalse, v1alpha1.ReasonModerationRefused, "The settings were refused: "+strings.Join(p.failed, "; ")+".")
	case len(p.failed) > 0:
		p.out.Within(pushAgain)
		p.out.Say(metav1.ConditionFalse, v1alpha1.ReasonModerationPushFailed, "The settings could not be pushed: "+strings.Join(p.failed, "; ")+".")
	default:
		p.out.Within(pushAgain)
		p.out.Say(metav1.ConditionFalse, v1alpha1.ReasonModerationPushed, fmt.Sprintf("The settings were pushed, and not every server in %s reports them yet.", list(where)))
	}
}

// hashOf is what a region's servers run: where they differ from each other, what one runs that is not the spec's.
func (p *moderationPass) hashOf(reports []Report) string {
	hash := ""
	for _, report := range reports {
		if known(report) && (hash == "" || hash == p.want.Hash()) {
			hash = report.Status.Moderation.Digest
		}
	}
	return hash
}

func whyUnknown(r Report) string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.Status.Moderation.Error != "":
		return r.Status.Moderation.Error
	default:
		return "the settings were not read yet"
	}
}
