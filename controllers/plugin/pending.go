package plugin

import (
	"github.com/spf13/cobra"
)

func (p *plugin) pending() *cobra.Command {
	return &cobra.Command{
		Use:     "pending NETWORK",
		Short:   "List the changes that the operator would make to a paused network",
		Example: "  kubectl plaza pending acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sn, err := p.network(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			out := &printer{w: cmd.OutOrStdout()}
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
			return out.err
		},
	}
}
