package plugin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

func (p *plugin) pending() *cobra.Command {
	return &cobra.Command{
		Use:     "pending NETWORK",
		Short:   "List the changes that the operator would make to a paused network",
		Example: "  kubectl plaza pending acme",
		Args:    cobra.ExactArgs(1),
		RunE: p.onNetwork(func(_ context.Context, sn *v1alpha1.SocialNetwork, _ []string, out *printer) error {
			for _, change := range sn.Status.PendingChanges {
				out.linef("%s", change)
			}
			switch {
			case !sn.Spec.Paused:
				out.linef("The network is not paused: changes are applied as they become necessary.")
			case sn.Status.ObservedGeneration != sn.Generation:
				out.linef("The operator has not seen the newest spec yet: generation %d of %d.", sn.Status.ObservedGeneration, sn.Generation)
			case len(sn.Status.PendingChanges) == 0:
				out.linef("The network is paused; no changes wait.")
			default:
				out.linef("To apply them: kubectl -n %s patch sn %s --type merge -p '{\"spec\": {\"paused\": false}}'", sn.Namespace, sn.Name)
			}
			return nil
		}),
	}
}
