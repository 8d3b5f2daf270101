package main

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
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/kubernetes"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// operator is the running program.
type operator struct {
	process     *exec.Cmd
	metrics     string // the address of its metrics
	heapProfile string // the address of its heap profile
}

func (o *operator) end() {
	_ = o.process.Process.Signal(syscall.SIGTERM)
	_ = o.process.Wait()
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

func (o *operator) look(ctx context.Context, env *testenv.Env) (*sight, error) {
	s := &sight{buckets: map[float64]float64{}, by: map[string]float64{}}
	text, err := get(ctx, o.metrics)
	if err != nil {
		return s, err
	}
	own, err := parse(text)
	if err != nil {
		return s, err
	}
	for _, m := range own["controller_runtime_reconcile_time_seconds"].GetMetric() {
		s.passes += float64(m.GetHistogram().GetSampleCount())
		for _, b := range m.GetHistogram().GetBucket() {
			s.buckets[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	for _, m := range own["go_memstats_heap_inuse_bytes"].GetMetric() {
		s.heap = m.GetGauge().GetValue()
	}
	if s.resident, s.peak, err = memory(o.process.Process.Pid); err != nil {
		return s, err
	}
	return s, s.lookAtServer(ctx, env)
}

func (s *sight) lookAtServer(ctx context.Context, env *testenv.Env) error {
	set, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	text, err := set.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("metrics of the API server: %w", err)
	}
	server, err := parse(text)
	if err != nil {
		return err
	}
	for _, m := range server["apiserver_request_total"].GetMetric() {
		labels := map[string]string{}
		for _, pair := range m.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		if !slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}, labels["verb"]) || !slices.Contains(counted, labels["resource"]) {
			continue
		}
		s.writes += m.GetCounter().GetValue()
		s.by[labels["verb"]+" "+labels["resource"]] += m.GetCounter().GetValue()
	}
	return nil
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
func (o *operator) saveHeap(ctx context.Context, path string) error {
	profile, err := get(ctx, o.heapProfile)
	if err != nil {
		return err
	}
	return os.WriteFile(path, profile, 0o600)
}

// get sends a request to the operator.
func get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Timeout: 30 * time.Second}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the operator: %w", err)
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func parse(text []byte) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return families, nil
}

var memoryLine = regexp.MustCompile(`(?m)^(VmRSS|VmHWM):\s+(\d+) kB$`)

// memory returns the current and the peak resident memory of a process.
func memory(pid int) (resident, peak float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, found := range memoryLine.FindAllStringSubmatch(string(text), -1) {
		kib, _ := strconv.ParseFloat(found[2], 64)
		if found[1] == "VmRSS" {
			resident = kib * 1024
		} else {
			peak = kib * 1024
		}
	}
	return resident, peak, err
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

func freePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("%T is no address of TCP", listener.Addr())
	}
	return address.Port, nil
}
