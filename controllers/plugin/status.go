package plugin

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

func (p *plugin) status() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "status [NETWORK]",
		Short:   "Show the state of a network: its regions, its keys, and what is wrong",
		Long:    "Show the state of a network: its regions, its keys, and the conditions that are not True. Without NETWORK, list the networks.",
		Example: "  kubectl plaza status\n  kubectl plaza status acme -n social",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return p.list(cmd, all)
			}
			sn, err := p.network(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return describe(cmd.OutOrStdout(), sn, p.now())
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the networks of all namespaces")
	return cmd
}

// list prints a line for each network.
func (p *plugin) list(cmd *cobra.Command, all bool) error {
	var list v1alpha1.SocialNetworkList
	options := []client.ListOption{client.InNamespace(p.namespace)}
	if all {
		options = nil
	}
	if err := p.client.List(cmd.Context(), &list, options...); err != nil {
		return fmt.Errorf("listing SocialNetworks: %w", err)
	}
	table := newTable(cmd.OutOrStdout(), "NAMESPACE", "NAME", "READY", "REASON", "REGIONS", "VERSION", "EVACUATED")
	for i := range list.Items {
		sn := &list.Items[i]
		status, reason := statusOf(sn.Status.Conditions, v1alpha1.ConditionReady)
		table.row(sn.Namespace, sn.Name, status, reason, sn.Status.RegionsReady, sn.Status.Version, evacuations(sn))
	}
	return table.end()
}

// evacuations returns the evacuated regions of a spec, such as eu to us.
func evacuations(sn *v1alpha1.SocialNetwork) string {
	var all []string
	for i := range sn.Spec.Regions {
		if r := &sn.Spec.Regions[i]; r.EvacuateTo != "" {
			all = append(all, fmt.Sprintf("%s to %s", r.Code, r.EvacuateTo))
		}
	}
	return strings.Join(all, ", ")
}

// describe prints the state of a network.
func describe(w io.Writer, sn *v1alpha1.SocialNetwork, now time.Time) error {
	status, reason := statusOf(sn.Status.Conditions, v1alpha1.ConditionReady)
	p := &printer{w: w}
	p.linef("SocialNetwork %s/%s: Ready is %s (%s)", sn.Namespace, sn.Name, status, reason)
	if c := meta.FindStatusCondition(sn.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		p.linef("  %s", c.Message)
	}
	if sn.Status.ObservedGeneration != sn.Generation {
		p.linef("  The operator has not seen the newest spec: generation %d of %d.", sn.Status.ObservedGeneration, sn.Generation)
	}
	p.linef("Version %s, schema %s, network id %s", orDash(sn.Status.Version), orDash(sn.Status.Schema.Current), orDash(sn.Status.NetworkID))
	p.linef("")
	if p.err == nil {
		p.err = regionTable(w, sn)
	}
	problems(p, sn)
	keyLines(p, sn, now)
	if n := len(sn.Status.PendingChanges); n > 0 {
		p.linef("\n%d changes wait because the network is paused: kubectl plaza pending %s -n %s", n, sn.Name, sn.Namespace)
	}
	return p.err
}

// regionTable prints a line for each region.
func regionTable(w io.Writer, sn *v1alpha1.SocialNetwork) error {
	table := newTable(w, "REGION", "CLUSTER", "AVAILABLE", "UPDATED", "PODS", "SERVER KEY", "EVACUATED TO")
	for _, r := range sn.Status.Regions {
		available, why := statusOf(r.Conditions, v1alpha1.RegionAvailable)
		updated, _ := statusOf(r.Conditions, v1alpha1.RegionUpdated)
		active := ""
		for _, key := range r.ServerKeys {
			if key.State == v1alpha1.KeyActive {
				active = key.ID
			}
		}
		table.row(string(r.Code), r.Cluster, available+" ("+why+")", updated, fmt.Sprintf("%d/%d", r.ReadyReplicas, r.Replicas), active,
			string(r.EvacuatedTo))
	}
	return table.end()
}

// problems prints the conditions that are not as they should be.
func problems(p *printer, sn *v1alpha1.SocialNetwork) {
	show := onceHeading(p, "\nConditions that are not True:")
	for _, c := range sn.Status.Conditions {
		show("", c)
	}
	for _, r := range sn.Status.Regions {
		for _, c := range r.Conditions {
			show(string(r.Code)+": ", c)
		}
	}
}

// onceHeading returns a function that prints a condition that is not True, and before the first one the heading.
func onceHeading(p *printer, heading string) func(where string, c metav1.Condition) {
	printed := false
	return func(where string, c metav1.Condition) {
		if c.Status == metav1.ConditionTrue || isSummary(c.Type) {
			return
		}
		if !printed {
			p.linef("%s", heading)
			printed = true
		}
		p.linef("  %s%s is %s, %s: %s", where, c.Type, c.Status, c.Reason, c.Message)
	}
}

// isSummary reports whether a condition repeats another one, or is False in a network without problems.
func isSummary(kind string) bool {
	switch kind {
	case v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled, v1alpha1.ConditionPaused:
		return true
	}
	return false
}

// keyLines prints when keys are rotated and expire.
func keyLines(p *printer, sn *v1alpha1.SocialNetwork, now time.Time) {
	p.linef("")
	if next := sn.Status.ServerKeys.NextRotation; next != nil {
		p.linef("Server keys are rotated next %s.", until(next.Time, now))
	}
	for _, r := range sn.Status.Regions {
		for _, key := range r.ServerKeys {
			if key.State != v1alpha1.KeyActive {
				p.linef("Server key %s of %s is %s%s.", key.ID, r.Code, key.State, ends(key, now))
			}
		}
	}
	for _, key := range sn.Status.SigningKeys {
		p.linef("Signing key %s is %s%s.", key.ID, key.State, ends(key, now))
	}
	for _, key := range sn.Status.APIKeys {
		p.linef("API key %s is %s%s.", key.ID, key.State, ends(key, now))
	}
	if end := sn.Status.Control.CertificatesNotAfter; end != nil {
		p.linef("The first certificate of control calls ends %s.", until(end.Time, now))
	}
}

func ends(key v1alpha1.KeyStatus, now time.Time) string {
	if key.NotAfter == nil {
		return ""
	}
	return " and ends " + until(key.NotAfter.Time, now)
}

// until returns a time and how far away it is.
func until(at, now time.Time) string {
	text := at.UTC().Format(time.RFC3339)
	if d := at.Sub(now).Round(time.Minute); d > 0 {
		return text + ", in " + strings.TrimSuffix(d.String(), "0s")
	}
	return text
}

func statusOf(conditions []metav1.Condition, kind string) (status, reason string) {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return string(c.Status), c.Reason
	}
	return "Unknown", "NotReported"
}

func orDash(text string) string { return cmp.Or(text, "-") }

// table is a table with aligned columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, columns ...string) *table {
	t := &table{tabwriter.NewWriter(w, 0, 4, 3, ' ', 0)}
	t.row(columns...)
	return t
}

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = orDash(cells[i])
	}
	_, _ = fmt.Fprintln(t.w, strings.Join(cells, "\t")) // end reports errors
}

func (t *table) end() error { return t.w.Flush() }

// printer prints lines and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) linef(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
