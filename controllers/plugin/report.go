package plugin

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	var lines int64
	cmd := &cobra.Command{
		Use:   "report NETWORK",
		Short: "Write an archive with the state of a network, for a request for help",
		Long: "Write an archive (.tar.gz) with the SocialNetwork, its objects, events, and the ends of the logs of its pods. It has no\n" +
			"Secrets, and no values of variables. Logs have addresses and ids of users: look at them before you send the archive, or\n" +
			"leave them out with --log-lines 0. Objects in member clusters are not part of it.",
		Example: "  kubectl plaza report acme -f acme.tar.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				file = args[0] + "-report.tar.gz"
			}
			sn, err := p.network(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := p.writeReport(cmd.Context(), sn, file, lines); err != nil {
				return fmt.Errorf("writing %s: %w", file, err)
			}
			out := &printer{w: cmd.OutOrStdout()}
			out.linef("%s", file)
			return out.err
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the archive; default: NETWORK-report.tar.gz")
	cmd.Flags().Int64Var(&lines, "log-lines", 500, "lines of the log of each pod; 0 leaves the logs out")
	return cmd
}

// reported are the kinds of a network's objects in a report.
func reported() []schema.GroupVersionKind {
	return append(render.RegionKinds(), schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, corev1.SchemeGroupVersion.WithKind("Pod"))
}

// writeReport writes the archive. What cannot be read is named in errors.txt.
func (p *plugin) writeReport(ctx context.Context, sn *v1alpha1.SocialNetwork, path string, lines int64) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(file)
	a := &archive{tar: tar.NewWriter(zip), at: p.now()}
	defer func() { err = errors.Join(err, a.tar.Close(), zip.Close(), file.Close()) }()
	a.object(ctx, p.client, "socialnetwork.yaml", v1alpha1.GroupVersion.WithKind(v1alpha1.Kind), client.ObjectKeyFromObject(sn))
	match := client.MatchingLabels{render.LabelNetwork: sn.Name, render.LabelManagedBy: render.OperatorName}
	for _, kind := range reported() {
		a.list(ctx, p.client, kind, client.InNamespace(sn.Namespace), match)
	}
	a.list(ctx, p.client, corev1.SchemeGroupVersion.WithKind("Event"), client.InNamespace(sn.Namespace))
	if lines > 0 {
		p.logs(ctx, a, sn, match, lines)
	}
	a.add("errors.txt", []byte(a.missing))
	return a.err
}

// logs adds the ends of the logs of a network's pods, also of containers that ended before.
func (p *plugin) logs(ctx context.Context, a *archive, sn *v1alpha1.SocialNetwork, match client.MatchingLabels, lines int64) {
	var pods corev1.PodList
	if err := p.client.List(ctx, &pods, client.InNamespace(sn.Namespace), match); err != nil {
		a.missingf("logs: %s", err)
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, previous := range []bool{false, true} {
			if previous && !hasRestarted(pod) {
				continue
			}
			options := &corev1.PodLogOptions{TailLines: &lines, Previous: previous, Container: render.ContainerName}
			stream, err := p.kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
			if err != nil {
				a.missingf("log of pod %s: %s", pod.Name, err)
				continue
			}
			text, err := io.ReadAll(stream)
			if err = errors.Join(err, stream.Close()); err != nil {
				a.missingf("log of pod %s: %s", pod.Name, err)
			}
			a.add(logName(pod.Name, previous), text)
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
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].RestartCount > 0 {
			return true
		}
	}
	return false
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

// object adds an object.
func (a *archive) object(ctx context.Context, c client.Reader, name string, kind schema.GroupVersionKind, key client.ObjectKey) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	if err := c.Get(ctx, key, object); err != nil {
		a.missingf("%s: %s", name, err)
		return
	}
	a.yaml(name, object.Object)
}

// list adds all objects of a kind as one file.
func (a *archive) list(ctx context.Context, c client.Reader, kind schema.GroupVersionKind, options ...client.ListOption) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.List(ctx, list, options...); err != nil {
		a.missingf("%s: %s", kind.Kind, err)
		return
	}
	items := make([]any, 0, len(list.Items))
	for i := range list.Items {
		items = append(items, list.Items[i].Object)
	}
	a.yaml("objects/"+kind.Kind+".yaml", map[string]any{"items": items})
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
