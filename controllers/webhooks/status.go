package webhooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

const (
	// failingAfter is how old the oldest event of a webhook is that fails.
	failingAfter = 10 * time.Minute
	// shownAfter keeps the status of webhooks that work from changing with every event.
	shownAfter = time.Minute
)

// setStatus sets status.webhooks.
func (r *run) setStatus() {
	var all []v1alpha1.WebhookStatus
	for _, w := range r.Pass.SN.Spec.Webhooks {
		all = append(all, r.statusOf(w.Name))
	}
	r.Pass.Status.Webhooks = all
}

// statusOf summarizes what the servers report of a webhook.
func (r *run) statusOf(name string) v1alpha1.WebhookStatus {
	s := v1alpha1.WebhookStatus{Name: name, Refused: stage.Shorten(r.Refusals[name])}
	reports := slices.DeleteFunc(r.Pass.AllReports(), func(report stage.ServerReport) bool { return r.WhyUnknown(report) != "" })
	s.Applied = len(reports) > 0 && !slices.ContainsFunc(reports, func(report stage.ServerReport) bool {
		w := report.Status.Hooks.Find(name)
		return w == nil || w.Digest != r.digests[name]
	})
	if !s.Applied && !r.HasPushed && s.Refused == "" {
		s.Refused = r.refusedBefore(name)
	}
	deliveries := deliveriesOf(reports, name)
	s.DeadLetters = deadLetters(deliveries)
	if d := oldest(deliveries); d != nil && r.Pass.Now.Sub(d.Oldest) >= shownAfter {
		s.OldestUndelivered, s.LastFailure = new(metav1.NewTime(d.Oldest.Truncate(time.Second))), d.Failed
	}
	return s
}

// refusedBefore returns why the servers refused a webhook when it was last pushed, or "".
func (r *run) refusedBefore(name string) string {
	i := slices.IndexFunc(r.before, func(s v1alpha1.WebhookStatus) bool { return s.Name == name })
	if i < 0 {
		return ""
	}
	return r.before[i].Refused
}

// deliveriesOf returns what the servers report of the deliveries to a webhook.
func deliveriesOf(reports []stage.ServerReport, name string) []statusz.Deliveries {
	var all []statusz.Deliveries
	for _, report := range reports {
		if w := report.Status.Hooks.Find(name); w != nil {
			all = append(all, w.Deliveries...)
		}
	}
	return all
}

// deadLetters returns the number of all homes. For a moment two servers may report the same home.
func deadLetters(all []statusz.Deliveries) int64 {
	homes := map[string]int64{}
	for _, d := range all {
		homes[d.Home] = max(homes[d.Home], d.Dead)
	}
	total := int64(0)
	for _, n := range homes {
		total += n
	}
	return total
}

// oldest returns the deliveries with the oldest event that waits, or nil.
func oldest(all []statusz.Deliveries) *statusz.Deliveries {
	var found *statusz.Deliveries
	for i, d := range all {
		if !d.Oldest.IsZero() && (found == nil || d.Oldest.Before(found.Oldest)) {
			found = &all[i]
		}
	}
	return found
}

// summarize sets the condition.
func (r *run) summarize() {
	switch {
	case len(r.Refusals) > 0:
		r.Out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonWebhooksRefused, r.refusals())
	case r.SummarizeDiffering():
	case !hasHooks(r.Pass.SN):
		r.Out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonNoWebhooks, "The spec has neither webhooks nor a pre-hook.")
	case r.SummarizeSilence():
	default:
		r.summarizeDeliveries()
	}
}

// refusals describes what the servers refuse.
func (r *run) refusals() string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(r.Refusals)) {
		what := "webhook " + name
		if name == "" {
			what = "the pre-hook"
		}
		texts = append(texts, what+": "+r.Refusals[name])
	}
	return "The servers refuse " + strings.Join(texts, "; ") + "."
}

// summarizeDeliveries sets the condition when all servers run the hooks of the spec.
func (r *run) summarizeDeliveries() {
	isOn := slices.ContainsFunc(r.Pass.SN.Spec.Webhooks, func(w v1alpha1.Webhook) bool { return w.Enabled })
	if off := r.Pass.RegionsWhere(func(report stage.ServerReport) bool { return !report.Status.Hooks.Enabled }); isOn && len(off) > 0 {
		r.Out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonWebhooksDisabled,
			"An administrator disabled all webhooks by the API; no events are sent.")
		return
	}
	var failing []string
	for _, s := range r.Pass.Status.Webhooks {
		if s.OldestUndelivered != nil && r.Pass.Now.Sub(s.OldestUndelivered.Time) >= failingAfter {
			failing = append(failing, fmt.Sprintf("%s (since %s%s)", s.Name, s.OldestUndelivered.UTC().Format(time.RFC3339), why(s)))
		}
	}
	if len(failing) > 0 {
		r.Out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonDeliveriesFailing,
			"Events wait for delivery to the webhooks "+stage.JoinNames(failing)+".")
		return
	}
	r.Out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonWebhooksRun, fmt.Sprintf("All %d servers in %d regions run the spec's %s.",
		len(r.Pass.AllReports()), len(r.Pass.SN.Spec.Regions), r.names()))
}

// why returns why the latest attempt failed, as the end of a list.
func why(s v1alpha1.WebhookStatus) string {
	if s.LastFailure == "" {
		return ""
	}
	return ": " + s.LastFailure
}

// names says how many hooks the spec has.
func (r *run) names() string {
	var parts []string
	switch n := len(r.Pass.SN.Spec.Webhooks); n {
	case 0:
	case 1:
		parts = append(parts, "webhook")
	default:
		parts = append(parts, fmt.Sprintf("%d webhooks", n))
	}
	if r.Pass.SN.Spec.PreHook != nil {
		parts = append(parts, "pre-hook")
	}
	return stage.JoinNames(parts)
}
