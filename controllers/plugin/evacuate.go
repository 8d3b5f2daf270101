package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// evacuation are the flags of evacuate.
type evacuation struct {
	to      string
	end     bool
	force   bool
	wait    bool
	timeout time.Duration
}

func (p *plugin) evacuate() *cobra.Command {
	var e evacuation
	cmd := &cobra.Command{
		Use:   "evacuate NETWORK REGION (--to REGION | --end)",
		Short: "Let another region serve the clients of a region and do its background work, or end that",
		Long: "Let another region serve the host names of a region, accept its server keys and do its background work, or end that.\n\n" +
			"controllers/EVACUATION.md describes what an evacuation does and does not do. If the region is in another cluster, direct\n" +
			"its host names to the other region as well.",
		Example: "  kubectl plaza evacuate acme eu --to us\n  kubectl plaza evacuate acme eu --end",
		Args:    cobra.ExactArgs(2),
		RunE: p.onNetwork(func(ctx context.Context, sn *v1alpha1.SocialNetwork, args []string, out *printer) error {
			if err := e.check(sn, args[0]); err != nil {
				return err
			}
			if err := p.apply(ctx, sn, args[0], e.to); err != nil {
				return err
			}
			return e.report(ctx, p, sn, args[0], out)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&e.to, "to", "", "the region that serves the clients")
	flags.BoolVar(&e.end, "end", false, "end the evacuation: the region serves its clients again")
	flags.BoolVar(&e.force, "force", false, "do it although the region that would serve is not known to be available")
	flags.BoolVar(&e.wait, "wait", true, "wait until the servers have read it")
	flags.DurationVar(&e.timeout, "timeout", 5*time.Minute, "how long to wait")
	cmd.MarkFlagsMutuallyExclusive("to", "end")
	cmd.MarkFlagsOneRequired("to", "end")
	return cmd
}

// check refuses what would leave the clients without servers.
func (e evacuation) check(sn *v1alpha1.SocialNetwork, code string) error {
	spec, _, err := region(sn, code)
	if err != nil {
		return err
	}
	if e.end && spec.EvacuateTo == "" {
		return fmt.Errorf("region %s is not evacuated", code)
	}
	serving := code
	if !e.end {
		serving = e.to
	}
	_, status, err := region(sn, serving)
	if err != nil {
		return err
	}
	if !e.force && !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.RegionAvailable) {
		_, reason := statusOf(status.Conditions, v1alpha1.RegionAvailable)
		return fmt.Errorf("region %s, which would serve the clients, is not available (%s); --force does it nevertheless", serving, reason)
	}
	return nil
}

// apply applies evacuateTo of a region; "" removes it.
func (p *plugin) apply(ctx context.Context, sn *v1alpha1.SocialNetwork, code, to string) error {
	entry := map[string]any{"code": code}
	if to != "" {
		entry["evacuateTo"] = to
	}
	change := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"regions": []any{entry}}}}
	change.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind))
	change.SetNamespace(sn.Namespace)
	change.SetName(sn.Name)
	err := p.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(change), client.FieldOwner(manager))
	if err != nil {
		return fmt.Errorf("changing SocialNetwork %s/%s: %w", sn.Namespace, sn.Name, err)
	}
	return nil
}

// report waits until the evacuation is in effect, or has ended.
func (e evacuation) report(ctx context.Context, p *plugin, sn *v1alpha1.SocialNetwork, code string, out *printer) error {
	sn, err := p.network(ctx, sn.Name)
	if err != nil {
		return err
	}
	spec, _, err := region(sn, code)
	if err != nil {
		return err
	}
	if e.end && spec.EvacuateTo != "" {
		return fmt.Errorf("region %s is still evacuated to %s, because another field manager has set evacuateTo as well; remove it there", code,
			spec.EvacuateTo)
	}
	if !e.wait {
		out.linef("It was requested. To follow it: kubectl plaza status %s -n %s", sn.Name, sn.Namespace)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	if err := p.await(ctx, sn.Name, "for the evacuation of "+code, out, e.state(sn.Generation, code)); err != nil {
		return err
	}
	if e.end {
		out.linef("%s serves its own clients.", code)
	} else {
		out.linef("%s serves the clients of %s.", e.to, code)
	}
	return nil
}

// state returns a function for await: it returns the condition Evacuated of a region until it is True, or gone, in the status of a
// generation of the spec.
func (e evacuation) state(generation int64, code string) func(*v1alpha1.SocialNetwork) (string, bool, error) {
	return func(sn *v1alpha1.SocialNetwork) (string, bool, error) {
		_, status, err := region(sn, code)
		if err != nil || sn.Status.ObservedGeneration < generation {
			return "", false, err
		}
		c := meta.FindStatusCondition(status.Conditions, v1alpha1.RegionEvacuated)
		if c == nil {
			return "", e.end, nil
		}
		return c.Reason + ": " + c.Message, !e.end && c.Status == metav1.ConditionTrue, nil
	}
}

// await reads a network until state returns true, and prints the states that it waits in.
func (p *plugin) await(
	ctx context.Context, name, what string, out *printer, state func(*v1alpha1.SocialNetwork) (string, bool, error),
) error {
	last := ""
	for {
		var now string
		var done bool
		sn, err := p.network(ctx, name)
		if err == nil {
			now, done, err = state(sn)
		}
		switch {
		case timeUp(ctx) != nil:
			return fmt.Errorf("waiting %s: %w; the last state: %s", what, timeUp(ctx), orDash(last))
		case done || err != nil:
			return err
		case now != "" && now != last:
			last = now
			out.linef("%s", now)
		}
		select {
		case <-ctx.Done():
		case <-time.After(p.poll):
		}
	}
}

// timeUp returns why a context has ended, or nil. Its deadline can pass, and make a request fail, a moment before it ends.
func timeUp(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}
