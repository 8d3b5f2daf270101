package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// rotations are the annotations that start a rotation, by what is rotated.
var rotations = map[string]string{
	"server-keys":       v1alpha1.AnnotationRotate,
	"signing-keys":      v1alpha1.AnnotationRotateSigning,
	"api-keys":          v1alpha1.AnnotationRotateAPI,
	"control-authority": v1alpha1.AnnotationRotateControl,
}

func (p *plugin) rotate() *cobra.Command {
	kinds := slices.Sorted(maps.Keys(rotations))
	return &cobra.Command{
		Use:   "rotate NETWORK KIND",
		Short: "Start a rotation of the keys of a network, with overlap",
		Long: "Start a rotation of the keys of a network. KIND is one of " + strings.Join(kinds, ", ") + ".\n\n" +
			"The old keys stay valid for the overlap of the spec. controllers/COMPROMISE.md describes what else to do when a key\n" +
			"became known to others; revoke ends a server key at once.",
		Example:   "  kubectl plaza rotate acme server-keys",
		Args:      cobra.ExactArgs(2),
		ValidArgs: kinds,
		RunE: p.onNetwork(func(ctx context.Context, sn *v1alpha1.SocialNetwork, args []string, out *printer) error {
			annotation := rotations[args[0]]
			if annotation == "" {
				return fmt.Errorf("unknown kind %q: want one of %s", args[0], strings.Join(kinds, ", "))
			}
			if args[0] == "server-keys" && sn.Spec.ServerKeys.ExistingSecret != nil {
				return fmt.Errorf("the server keys are in Secret %s, which its owner rotates", sn.Spec.ServerKeys.ExistingSecret.Name)
			}
			if sn.Spec.Paused {
				return fmt.Errorf("SocialNetwork %s is paused: keys are rotated when spec.paused is false", sn.Name)
			}
			if err := p.annotate(ctx, sn, annotation, p.now().UTC().Format(time.RFC3339)); err != nil {
				return err
			}
			out.linef("The rotation of the %s was requested. To follow it: kubectl plaza status %s -n %s", args[0], sn.Name, sn.Namespace)
			return nil
		}),
	}
}

func (p *plugin) revoke() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "revoke NETWORK KEY-ID...",
		Short: "Revoke server keys at once, without overlap",
		Long: "Revoke server keys at once, without overlap. Servers refuse them within about a minute, also while the network is\n" +
			"paused; an active key gets a successor at once, which your own servers need: their requests fail until then.",
		Example: "  kubectl plaza revoke acme k-20261123-0123abcd",
		Args:    cobra.MinimumNArgs(2),
		RunE: p.onNetwork(func(ctx context.Context, sn *v1alpha1.SocialNetwork, args []string, out *printer) error {
			if unknown := unknownKeys(sn, args); len(unknown) > 0 && !force {
				return fmt.Errorf("no region has a server key %s; --force revokes it nevertheless", strings.Join(unknown, ", "))
			}
			ids := strings.Fields(sn.Annotations[v1alpha1.AnnotationRevoke])
			for _, id := range args {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			if err := p.annotate(ctx, sn, v1alpha1.AnnotationRevoke, strings.Join(ids, " ")); err != nil {
				return err
			}
			return printRevoked(out, sn, args)
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "revoke ids that the status does not list, such as those of a cluster that cannot be reached")
	return cmd
}

// unknownKeys returns the ids that no region has.
func unknownKeys(sn *v1alpha1.SocialNetwork, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return len(regionsWith(sn, id)) > 0 })
}

// regionsWith returns the regions with a server key, and its state in each.
func regionsWith(sn *v1alpha1.SocialNetwork, id string) map[v1alpha1.RegionCode]v1alpha1.KeyState {
	states := map[v1alpha1.RegionCode]v1alpha1.KeyState{}
	for _, r := range sn.Status.Regions {
		for _, key := range r.ServerKeys {
			if key.ID == id {
				states[r.Code] = key.State
			}
		}
	}
	return states
}

func printRevoked(out *printer, sn *v1alpha1.SocialNetwork, ids []string) error {
	for _, id := range ids {
		out.linef("Server key %s is revoked.", id)
		states := regionsWith(sn, id)
		for _, code := range slices.Sorted(maps.Keys(states)) {
			if states[code] == v1alpha1.KeyActive && sn.Spec.ServerKeys.ExistingSecret == nil {
				out.linef("  It was the active key of %s: give your servers the new one of Secret %s-%s-server-keys.", code, sn.Name, code)
			}
		}
	}
	out.linef("Tokens that were requested with a revoked key stay valid until they expire; see controllers/COMPROMISE.md.")
	return out.err
}
