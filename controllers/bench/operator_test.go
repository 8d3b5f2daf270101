//go:build bench

package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// operator is the running program.
type operator struct {
	t           *testing.T
	process     *exec.Cmd
	metrics     string // the address of its metrics
	heapProfile string // the address of its heap profile
}

// startOperator builds the program of this tree, unless the flag names one, and runs it until the test ends.
func startOperator(t *testing.T, env *testenv.Env) *operator {
	t.Helper()
	folder := t.TempDir()
	if *program == "" {
		*program = filepath.Join(folder, "plaza-operator")
		building := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", *program, "./controllers/cmd/plaza-operator")
		building.Dir, building.Stderr = testenv.Root(), os.Stderr
		require.NoError(t, building.Run())
	}
	user, err := env.AddUser(envtest.User{Name: "operator", Groups: []string{"system:masters"}})
	require.NoError(t, err)
	kubeconfig := filepath.Join(folder, "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, user, 0o600))
	metrics, profile := freeAddress(t), freeAddress(t)
	op := &operator{t: t, metrics: "http://" + metrics + "/metrics", heapProfile: "http://" + profile + "/debug/pprof/heap?gc=1"}
	op.process = exec.CommandContext(context.WithoutCancel(t.Context()), *program, "--metrics-bind-address="+metrics,
		"--health-probe-bind-address=0",
		"--pprof-bind-address="+profile, "--platform-image=plaza.example/plaza:v1", "--namespace=default", "--log-level=warn",
		"--kube-api-qps=500")
	op.process.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	op.process.Stdout, op.process.Stderr = os.Stderr, os.Stderr
	require.NoError(t, op.process.Start())
	t.Cleanup(func() {
		_ = op.process.Process.Signal(syscall.SIGTERM)
		_ = op.process.Wait()
	})
	return op
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// sight is a snapshot of the metrics of the operator and the API server.
type sight struct {
	passes         float64
	buckets        map[float64]float64
	writes         float64
	by             map[string]float64
	resident, peak float64
	heap           float64
}

// counted are the resources that the operator writes. The API server itself writes others, such as its leases.
var counted = []string{
	"socialnetworks", "secrets", "configmaps", "services", "serviceaccounts", "deployments", "jobs", "pods", "events",
	"networkpolicies", "ingresses", "poddisruptionbudgets", "horizontalpodautoscalers",
}

func (o *operator) look(env *testenv.Env) *sight {
	o.t.Helper()
	s := &sight{buckets: map[float64]float64{}, by: map[string]float64{}}
	own := parse(o.t, o.get(o.metrics))
	for _, m := range own["controller_runtime_reconcile_time_seconds"].GetMetric() {
		s.passes += float64(m.GetHistogram().GetSampleCount())
		for _, b := range m.GetHistogram().GetBucket() {
			s.buckets[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	for _, m := range own["go_memstats_heap_inuse_bytes"].GetMetric() {
		s.heap = m.GetGauge().GetValue()
	}
	s.resident, s.peak = o.memory()
	s.lookAtServer(o.t, env)
	return s
}

func (s *sight) lookAtServer(t *testing.T, env *testenv.Env) {
	t.Helper()
	set, err := kubernetes.NewForConfig(env.Config)
	require.NoError(t, err)
	text, err := set.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	require.NoError(t, err)
	for _, m := range parse(t, text)["apiserver_request_total"].GetMetric() {
		labels := map[string]string{}
		for _, pair := range m.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		if !slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}, labels["verb"]) ||
			!slices.Contains(counted, labels["resource"]) {
			continue
		}
		s.writes += m.GetCounter().GetValue()
		s.by[labels["verb"]+" "+labels["resource"]] += m.GetCounter().GetValue()
	}
}

// written lists the writes since an earlier snapshot.
func (s *sight) written(before *sight) []string {
	var list []string
	for _, what := range slices.Sorted(maps.Keys(s.by)) {
		if n := s.by[what] - before.by[what]; n > 0 {
			list = append(list, fmt.Sprintf("%s %.0f times", what, n))
		}
	}
	return list
}

// saveHeap saves a heap profile of the operator.
func (o *operator) saveHeap(path string) {
	o.t.Helper()
	require.NoError(o.t, os.WriteFile(path, o.get(o.heapProfile), 0o600))
}

// get sends a request to the operator.
func (o *operator) get(address string) []byte {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, address, nil)
	require.NoError(o.t, err)
	resp, err := (&http.Client{Timeout: 30 * time.Second}).Do(req)
	require.NoError(o.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(o.t, err)
	return text
}

func parse(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	require.NoError(t, err)
	return families
}

var memoryLine = regexp.MustCompile(`(?m)^(VmRSS|VmHWM):\s+(\d+) kB$`)

// memory returns the current and the peak resident memory of the operator.
func (o *operator) memory() (resident, peak float64) {
	o.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.process.Process.Pid))
	require.NoError(o.t, err)
	for _, found := range memoryLine.FindAllStringSubmatch(string(text), -1) {
		kib, err := strconv.ParseFloat(found[2], 64)
		require.NoError(o.t, err)
		if found[1] == "VmRSS" {
			resident = kib * 1024
		} else {
			peak = kib * 1024
		}
	}
	return resident, peak
}

// quantile returns the upper bound of the histogram bucket that contains the quantile of the observations between two
// snapshots.
func quantile(q float64, before, after map[float64]float64) time.Duration {
	bounds := slices.Sorted(maps.Keys(after))
	if len(bounds) == 0 {
		return 0
	}
	total := after[bounds[len(bounds)-1]] - before[bounds[len(bounds)-1]]
	for _, bound := range bounds {
		if after[bound]-before[bound] >= q*total && !math.IsInf(bound, 1) {
			return time.Duration(bound * float64(time.Second))
		}
	}
	return time.Duration(math.MaxInt64)
}
