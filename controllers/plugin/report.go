package plugin

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

func (p *plugin) report() *cobra.Command {
	var file string
	var options reportOptions
	cmd := &cobra.Command{
		Use:   "report NETWORK",
		Short: "Write an archive with the state of a network, for a request for help",
		Long: "Write an archive (.tar.gz) with the SocialNetwork, its objects, events, and the ends of the logs of its pods. It has no\n" +
			"Secrets, and no values of variables. Logs have addresses and ids of users: look at them before you send the archive, or\n" +
			"leave them out with --log-lines 0. Objects in a member cluster are read with the context of the kubeconfig that --member names,\n" +
			"or that has the name of the cluster.",
		Example: "  kubectl plaza report acme -f acme.tar.gz\n  kubectl plaza report acme --member eu=admin@eu",
		Args:    cobra.ExactArgs(1),
		RunE: p.onNetwork(func(ctx context.Context, sn *v1alpha1.SocialNetwork, _ []string, out *printer) error {
			if file == "" {
				file = sn.Name + "-report.tar.gz"
			}
			if err := p.writeReport(ctx, sn, file, options); err != nil {
				return fmt.Errorf("writing %s: %w", file, err)
			}
			out.linef("%s", file)
			return nil
		}),
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the archive; default: NETWORK-report.tar.gz")
	cmd.Flags().StringToStringVar(&options.members, "member", nil, "context of the kubeconfig for a member cluster, such as eu=admin@eu")
	cmd.Flags().Int64Var(&options.lines, "log-lines", 500, "lines of the log of each pod; 0 leaves the logs out")
	return cmd
}

// reportOptions are the flags of the command report.
type reportOptions struct {
	lines   int64
	members map[string]string // contexts by the names of member clusters
}

// place is a namespace of a cluster with objects of a network.
type place struct {
	connection
	namespace string
	folder    string // of its files in the archive
	match     client.MatchingLabels
}

// reported are the kinds of a network's objects in a report.
func reported() []schema.GroupVersionKind {
	return append(render.RegionKinds(), schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"},
		corev1.SchemeGroupVersion.WithKind("Pod"))
}

// writeReport writes the archive. What cannot be read is named in errors.txt.
func (p *plugin) writeReport(ctx context.Context, sn *v1alpha1.SocialNetwork, path string, options reportOptions) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(file)
	a := &archive{tar: tar.NewWriter(zip), at: p.now()}
	defer func() { err = errors.Join(err, a.tar.Close(), zip.Close(), file.Close()) }()
	network := &unstructured.Unstructured{}
	network.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind))
	if err := p.client.Get(ctx, client.ObjectKeyFromObject(sn), network); err != nil {
		a.missingf("socialnetwork.yaml: %s", err)
	} else {
		a.yaml("socialnetwork.yaml", network.Object)
	}
	for _, at := range p.places(a, sn, options.members) {
		a.place(ctx, at, options.lines)
	}
	a.add("errors.txt", []byte(a.missing))
	return a.err
}

// places returns where a network has objects: in its own namespace, and in member clusters for which there is a context.
func (p *plugin) places(a *archive, sn *v1alpha1.SocialNetwork, contexts map[string]string) []place {
	match := client.MatchingLabels{render.LabelNetwork: sn.Name, render.LabelManagedBy: render.OperatorName}
	all := []place{{connection: p.connection, namespace: sn.Namespace, match: match}}
	for _, member := range sn.Status.Clusters {
		c, err := p.connectTo(cmp.Or(contexts[member.Name], member.Name))
		if err != nil {
			a.missingf("cluster %s: %s; name a context of the kubeconfig with --member %s=CONTEXT", member.Name, err, member.Name)
			continue
		}
		all = append(all, place{
			connection: c, namespace: member.Namespace, folder: "clusters/" + member.Name + "/" + member.Namespace + "/",
			match: match,
		})
	}
	return all
}

// place adds the objects, the events and the ends of logs of a place.
func (a *archive) place(ctx context.Context, at place, lines int64) {
	for _, kind := range reported() {
		a.list(ctx, at, kind, at.match)
	}
	a.list(ctx, at, corev1.SchemeGroupVersion.WithKind("Event"))
	if lines > 0 {
		a.logs(ctx, at, lines)
	}
}

// logs adds the ends of the logs of a network's pods, also of containers that ended before.
func (a *archive) logs(ctx context.Context, at place, lines int64) {
	var pods corev1.PodList
	if err := at.client.List(ctx, &pods, client.InNamespace(at.namespace), at.match); err != nil {
		a.missingf("%slogs: %s", at.folder, err)
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, previous := range []bool{false, true} {
			if previous && !hasRestarted(pod) {
				continue
			}
			options := &corev1.PodLogOptions{TailLines: &lines, Previous: previous, Container: render.ContainerName}
			stream, err := at.kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
			if err != nil {
				a.missingf("%slog of pod %s: %s", at.folder, pod.Name, err)
				continue
			}
			text, err := io.ReadAll(stream)
			if err = errors.Join(err, stream.Close()); err != nil {
				a.missingf("%slog of pod %s: %s", at.folder, pod.Name, err)
			}
			a.add(at.folder+logName(pod.Name, previous), text)
		}
	}
}

func logName(pod string, previous bool) string {
	if previous {
		return "logs/" + pod + ".previous.log"
	}
	return "logs/" + pod + ".log"
}

func hasRestarted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.RestartCount > 0 })
}

// archive is a report that is written.
type archive struct {
	tar     *tar.Writer
	at      time.Time
	missing string // what could not be read
	err     error  // the first error of writing
}

func (a *archive) missingf(format string, args ...any) {
	a.missing += fmt.Sprintf(format, args...) + "\n"
}

// add adds a file.
func (a *archive) add(name string, content []byte) {
	if a.err != nil {
		return
	}
	a.err = a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: a.at})
	if a.err == nil {
		_, a.err = a.tar.Write(content)
	}
}

// list adds all objects of a kind in a place as one file.
func (a *archive) list(ctx context.Context, at place, kind schema.GroupVersionKind, options ...client.ListOption) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := at.client.List(ctx, list, append(options, client.InNamespace(at.namespace))...); err != nil {
		a.missingf("%s%s: %s", at.folder, kind.Kind, err)
		return
	}
	items := make([]any, 0, len(list.Items))
	for i := range list.Items {
		items = append(items, list.Items[i].Object)
	}
	a.yaml(at.folder+"objects/"+kind.Kind+".yaml", map[string]any{"items": items})
}

func (a *archive) yaml(name string, content map[string]any) {
	redact(content)
	text, err := yaml.Marshal(content)
	if err != nil {
		a.missingf("%s: %s", name, err)
		return
	}
	a.add(name, text)
}

// redact removes what a report must not or need not have: the values of variables, also in patches and in the annotation of kubectl
// apply, and managed fields.
func redact(value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			redact(item)
		}
	case map[string]any:
		delete(v, "managedFields")
		delete(v, "kubectl.kubernetes.io/last-applied-configuration")
		for key, item := range v {
			if variables, ok := item.([]any); ok && key == "env" {
				redactVariables(variables)
			}
			redact(item)
		}
	}
}

func redactVariables(variables []any) {
	for _, one := range variables {
		if variable, ok := one.(map[string]any); ok && variable["value"] != nil {
			variable["value"] = "[not shown]"
		}
	}
}
