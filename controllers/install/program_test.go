//go:build install

package install

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// program is a running operator.
type program struct {
	c       *cluster
	log     output
	metrics string
	health  string
	stop    func()
}

// output is the output of the program, safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var buildOnce = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "plaza-operator-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "plaza-operator")
	args := append([]string{"build", "-buildvcs=false", "-o", path}, buildFlags...)
	build := exec.CommandContext(context.Background(), "go", append(args, "./controllers/cmd/plaza-operator")...)
	build.Dir = testenv.Root()
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := buildOnce(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// startProgram starts the operator like a container of the installed Deployment: with its arguments and variables, and
// the token of its ServiceAccount. Only the ports differ, so that two tests can run concurrently.
func (c *cluster) startProgram() *program {
	c.t.Helper()
	path, err := buildOnce()
	require.NoError(c.t, err)
	var d appsv1.Deployment
	require.NoError(c.t, c.client.Get(context.Background(), client.ObjectKey{Namespace: system, Name: account}, &d))
	c.admits(d.Spec.Template)
	require.Equal(c.t, account, d.Spec.Template.Spec.ServiceAccountName)
	container := d.Spec.Template.Spec.Containers[0]
	p := &program{c: c, metrics: freeAddress(c.t), health: freeAddress(c.t)}
	args := make([]string, 0, len(container.Args))
	for _, arg := range container.Args {
		arg = strings.Replace(arg, "metrics-bind-address=:8080", "metrics-bind-address="+p.metrics, 1)
		arg = strings.Replace(arg, "health-probe-bind-address=:8081", "health-probe-bind-address="+p.health, 1)
		args = append(args, arg)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"KUBECONFIG=" + c.operatorKubeconfig(), "PATH=/"}
	for _, v := range container.Env {
		value := v.Value
		if v.ValueFrom != nil {
			require.Equal(c.t, "metadata.namespace", v.ValueFrom.FieldRef.FieldPath)
			value = system
		}
		cmd.Env = append(cmd.Env, v.Name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	require.NoError(c.t, cmd.Start())
	p.stop = sync.OnceFunc(func() { p.end(cmd) })
	c.t.Cleanup(p.stop)
	return p
}

// end stops the program like a kubelet, and waits until it has released its Lease.
func (p *program) end(cmd *exec.Cmd) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-ended:
		if err != nil {
			p.c.t.Errorf("the operator ended: %v", err)
		}
	case <-time.After(testenv.Patience):
		_ = cmd.Process.Kill()
		p.c.t.Error("the operator did not end within its grace period")
	}
	if p.c.t.Failed() {
		p.c.t.Logf("log of the operator:\n%s", p.log.String())
	}
}

// admits checks whether the operator's namespace admits pods of a template: the security standard applies to pods, not
// to the objects that create them.
func (c *cluster) admits(template corev1.PodTemplateSpec) {
	c.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: account + "-", Namespace: system, Labels: template.Labels},
		Spec:       template.Spec,
	}
	require.NoError(c.t, c.client.Create(context.Background(), pod, client.DryRunAll))
	bad := pod.DeepCopy()
	bad.Name, bad.ResourceVersion, bad.UID = "", "", ""
	bad.Spec.Containers[0].SecurityContext = nil
	require.ErrorContains(c.t, c.client.Create(context.Background(), bad, client.DryRunAll), "violates PodSecurity")
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

// get sends a request to the program.
func (p *program) get(address, path string) (int, string) {
	p.c.t.Helper()
	resp, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(p.c.t, err)
	return resp.StatusCode, string(text)
}
