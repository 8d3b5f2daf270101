package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
)

// Settings that reach all regions within a second are pushed to servers.
const (
	// pushTimeout is how long a region may take to accept settings.
	pushTimeout = 5 * time.Second
	// readBackDelay is when the servers are read after the first push.
	readBackDelay = time.Second
	// pushInterval is how often settings are pushed again to regions that still differ.
	pushInterval = 5 * time.Second
)

// Settings are settings of the spec that every server reports, and that are pushed to the regions whose servers run others.
type Settings struct {
	// Condition is the type of the stage's condition. Refused, PushFailed and Pushed are reasons of it.
	Condition                   string
	Refused, PushFailed, Pushed v1alpha1.Reason
	// Noun and Name name the settings in messages: webhooks, and the webhooks and the pre-hook.
	Noun, Name string
	// Read returns when a server read the settings that it runs, which is zero if it never did, and why it could not read them, or "".
	Read func(ServerReport) (time.Time, string)
	// Differ reports whether the settings that a server runs are not those of the spec.
	Differ func(ServerReport) bool
	// Push pushes the settings to a server, and returns those that the servers refuse.
	Push func(context.Context, platformclient.Servers, platformclient.Server, keyring.Secret) ([]platformclient.Refusal, error)
}

// Sync is one run of a stage that keeps settings of the servers equal to the spec. It compares what every server reports with the spec,
// and pushes to the regions that differ; the next pass reads back what the servers run.
type Sync struct {
	Settings

	Pass *Pass
	Out  Outcome
	// HasPushed reports whether a region has accepted the settings.
	HasPushed bool
	// Refusals are why servers refuse a webhook, by name; that of the pre-hook is empty.
	Refusals map[string]string

	failed   []string // errors of pushes
	rejected bool     // a region rejected the request; a retry does not help
}

// WhyUnknown returns why a report does not have the settings that its server runs now, or "".
func (s *Sync) WhyUnknown(report ServerReport) string {
	if report.Err != nil {
		return report.Err.Error()
	}
	at, problem := s.Read(report)
	if problem == "" && at.IsZero() {
		return "the " + s.Noun + " were not read yet"
	}
	return problem
}

// Differs reports whether a server is known to run other settings than those of the spec.
func (s *Sync) Differs(report ServerReport) bool {
	return s.WhyUnknown(report) == "" && s.Differ(report)
}

// Push pushes the settings to one server of each region with servers that differ, unless the network is paused. A region that cannot be
// reached receives them from the others.
func (s *Sync) Push(ctx context.Context) {
	codes := s.Pass.RegionsWhere(s.Differs)
	if len(codes) == 0 || s.Pass.SN.Spec.Paused {
		return
	}
	token, err := s.Pass.adminToken(ctx)
	if err != nil {
		s.failed = append(s.failed, err.Error())
		s.Out.RequeueAfter(pushInterval)
		return
	}
	refusals, errs := make([][]platformclient.Refusal, len(codes)), make([]error, len(codes))
	var group errgroup.Group
	for i, code := range codes {
		group.Go(func() error {
			pushCtx, cancel := context.WithTimeout(ctx, pushTimeout)
			defer cancel()
			to := s.Pass.firstWhere(code, func(report ServerReport) bool { return s.WhyUnknown(report) == "" })
			refusals[i], errs[i] = s.Settings.Push(pushCtx, s.Pass.ClusterOf(code).Servers, to.Server, token)
			return nil
		})
	}
	_ = group.Wait() // errs holds the errors
	s.record(codes, refusals, errs)
}

// record records the results of pushes, and when to read them back.
func (s *Sync) record(codes []v1alpha1.RegionCode, refusals [][]platformclient.Refusal, errs []error) {
	s.Refusals = map[string]string{}
	for i, err := range errs {
		for _, refusal := range refusals[i] {
			s.Refusals[refusal.Name] = s.Pass.Redact(refusal.Reason)
		}
		if err == nil {
			s.HasPushed = true
			continue
		}
		s.failed = append(s.failed, fmt.Sprintf("region %s: %s", codes[i], err))
		response, ok := errors.AsType[*platformclient.ResponseError](err)
		s.rejected = s.rejected || ok && response.Permanent()
	}
	switch {
	case s.rejected || len(s.Refusals) > 0:
	case s.isRetry():
		s.Out.RequeueAfter(pushInterval)
	default:
		s.Out.RequeueAfter(readBackDelay)
	}
}

// isRetry reports whether an earlier pass pushed the settings already, and this one reads back that not all servers run them.
func (s *Sync) isRetry() bool {
	c := meta.FindStatusCondition(s.Pass.Status.Conditions, s.Condition)
	return c != nil && c.ObservedGeneration == s.Pass.SN.Generation && c.Status == metav1.ConditionFalse
}

// adminToken returns an administrator's token, signed with the network's own keys.
func (p *Pass) adminToken(ctx context.Context) (keyring.Secret, error) {
	name := render.SigningKeysSecret(p.SN.Name)
	var secret corev1.Secret
	if err := p.Own().Cache.Get(ctx, client.ObjectKey{Namespace: p.SN.Namespace, Name: name}, &secret); err != nil {
		return keyring.Secret{}, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return platformclient.AdminToken(keyring.NewSecret(string(secret.Data[keyring.SigningKeysFile])), p.Network.NetworkID, p.Now)
}

// SummarizeDiffering sets the condition if servers run other settings than those of the spec, and reports whether they do.
func (s *Sync) SummarizeDiffering() bool {
	regions := s.Pass.RegionsWhere(s.Differs)
	where, failures := JoinNames(regions), s.Pass.Redact(strings.Join(s.failed, "; "))
	no := func(reason v1alpha1.Reason, format string, args ...any) {
		s.Out.SetCondition(metav1.ConditionFalse, reason, fmt.Sprintf(format, args...))
	}
	switch {
	case len(regions) == 0:
		return false
	case s.Pass.SN.Spec.Paused:
		s.Out.Pending = append(s.Out.Pending, "push the "+s.Name+" to "+where)
		no(v1alpha1.ReasonPausedBySpec, "Servers in %s do not run the spec's %s.", where, s.Noun)
	case s.rejected:
		no(s.Refused, "The %s were rejected: %s.", s.Noun, failures)
	case failures != "" && (!s.HasPushed || s.isRetry()):
		no(s.PushFailed, "The %s could not be pushed: %s.", s.Noun, failures)
	default:
		no(s.Pushed, "The %s were pushed; not every server in %s reports them yet.", s.Name, where)
	}
	return true
}

// SummarizeSilence sets the condition if it is not known what all servers run, and reports whether it is not.
func (s *Sync) SummarizeSilence() bool {
	reason, message := s.Pass.silence(s.Noun, s.WhyUnknown)
	if reason != "" {
		s.Out.SetCondition(metav1.ConditionUnknown, reason, message)
	}
	return reason != ""
}
