// Package plugin has the commands of kubectl plaza: they show the state of a SocialNetwork, make the changes of its runbooks, and back
// up and restore its keys. They use no rights but those of the user. They change only the SocialNetwork, and keys restore the recovery
// Secret, from which the operator restores the others.
package plugin

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// plugin is what all commands share.
type plugin struct {
	kubeconfig, namespace string
	connection

	now func() time.Time
	// poll is the time between two reads of a command that waits.
	poll time.Duration
	// ask asks for a text on the terminal, which does not show it.
	ask func(ctx context.Context, prompt string) (keyring.Secret, error)
	// workFactor of passphrases; 0 means that of age. Tests use a smaller one.
	workFactor int
}

// connection is a connection to a cluster.
type connection struct {
	context string // of the kubeconfig; empty means the current one
	client  client.Client
	kube    kubernetes.Interface
}

// New returns the command kubectl plaza.
func New() *cobra.Command {
	p := &plugin{now: time.Now, poll: time.Second, ask: askTerminal}
	root := &cobra.Command{
		Use:   "kubectl-plaza",
		Short: "Look at SocialNetworks, rotate, revoke, back up and restore their keys, and evacuate their regions",
		Long: "Look at SocialNetworks, rotate, revoke, back up and restore their keys, and evacuate their regions.\n\n" +
			"The commands read and change the SocialNetwork objects of the cluster in which the operator runs. They need the\n" +
			"rights of the roles view (status, pending, report) and edit (rotate, revoke, evacuate) in the namespace. keys backup\n" +
			"reads the Secret with the copies of all keys, and keys restore writes it: they need the right to get Secrets, and to get,\n" +
			"create and update them, which the role edit has.",
		Version:      telemetry.BuildInfo().Version,
		SilenceUsage: true, SilenceErrors: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl plaza"},
		PersistentPreRunE: func(_ *cobra.Command, _ []string) error {
			return p.connect()
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.kubeconfig, "kubeconfig", "", "path of the kubeconfig; default: KUBECONFIG, or ~/.kube/config")
	flags.StringVar(&p.context, "context", "", "context of the kubeconfig; default: the current one")
	flags.StringVarP(&p.namespace, "namespace", "n", "", "namespace of the network; default: that of the context")
	root.AddCommand(p.status(), p.pending(), p.rotate(), p.revoke(), p.evacuate(), p.report(), p.keys())
	return root
}

// loader returns the kubeconfig, with a context of it or the current one.
func (p *plugin) loader(name string) clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = p.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: name})
}

// connect connects to the cluster of the context.
func (p *plugin) connect() error {
	if p.namespace == "" {
		namespace, _, err := p.loader(p.context).Namespace()
		if err != nil {
			return fmt.Errorf("reading the kubeconfig: %w", err)
		}
		p.namespace = namespace
	}
	var err error
	p.connection, err = p.connectTo(p.context)
	return err
}

// connectTo connects to the cluster of a context.
func (p *plugin) connectTo(name string) (connection, error) {
	c := connection{context: name}
	config, err := p.loader(name).ClientConfig()
	if err != nil {
		return c, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if c.kube, err = kubernetes.NewForConfig(config); err != nil {
		return c, fmt.Errorf("connecting to the cluster: %w", err)
	}
	if c.client, err = client.New(config, client.Options{Scheme: scheme.New()}); err != nil {
		return c, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return c, nil
}

// fieldOwner is the field manager of all other changes.
const fieldOwner = "kubectl-plaza"

// manager is the field manager of changes. EVACUATION.md uses the same one for evacuations.
const manager = "evacuation"

// network reads a network.
func (p *plugin) network(ctx context.Context, name string) (*v1alpha1.SocialNetwork, error) {
	var sn v1alpha1.SocialNetwork
	if err := p.client.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: name}, &sn); err != nil {
		return nil, fmt.Errorf("reading SocialNetwork %s/%s: %w", p.namespace, name, err)
	}
	return &sn, nil
}

// onNetwork returns a function for a command whose first argument is a network: it reads the network, and calls run with the other
// arguments.
func (p *plugin) onNetwork(
	run func(ctx context.Context, sn *v1alpha1.SocialNetwork, args []string, out *printer) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		sn, err := p.network(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		out := &printer{w: cmd.OutOrStdout()}
		err = run(cmd.Context(), sn, args[1:], out)
		return cmp.Or(err, out.err)
	}
}

// annotate sets an annotation of a network. It fails if the network changed since it was read.
func (p *plugin) annotate(ctx context.Context, sn *v1alpha1.SocialNetwork, key, value string) error {
	edited := sn.DeepCopy()
	if edited.Annotations == nil {
		edited.Annotations = map[string]string{}
	}
	edited.Annotations[key] = value
	patch := client.MergeFromWithOptions(sn, client.MergeFromWithOptimisticLock{})
	if err := p.client.Patch(ctx, edited, patch, client.FieldOwner(fieldOwner)); err != nil {
		return fmt.Errorf("changing SocialNetwork %s/%s: %w", sn.Namespace, sn.Name, err)
	}
	return nil
}

// region returns the region of a spec and its status.
func region(sn *v1alpha1.SocialNetwork, code string) (*v1alpha1.Region, v1alpha1.RegionStatus, error) {
	for i := range sn.Spec.Regions {
		if string(sn.Spec.Regions[i].Code) != code {
			continue
		}
		for _, status := range sn.Status.Regions {
			if string(status.Code) == code {
				return &sn.Spec.Regions[i], status, nil
			}
		}
		return &sn.Spec.Regions[i], v1alpha1.RegionStatus{}, nil
	}
	return nil, v1alpha1.RegionStatus{}, fmt.Errorf("SocialNetwork %s has no region %q; it has %s", sn.Name, code, codes(sn))
}

func codes(sn *v1alpha1.SocialNetwork) string {
	var all []string
	for i := range sn.Spec.Regions {
		all = append(all, string(sn.Spec.Regions[i].Code))
	}
	return strings.Join(all, ", ")
}
