package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/podcause"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// checkedServers are servers with the results of their readiness checks, by their addresses. Others do not answer.
type checkedServers struct {
	platformclient.Servers

	checks  map[string][]statusz.CheckResult
	control *statusz.Control
	mu      sync.Mutex
	asked   []string // for their checks
}

func (s *checkedServers) Status(_ context.Context, server platformclient.Server) (statusz.Status, error) {
	if _, found := s.checks[server.Ops]; !found {
		return statusz.Status{}, errors.New("connection refused")
	}
	return statusz.Status{Control: s.control}, nil
}

func (s *checkedServers) Readiness(_ context.Context, ops string) (statusz.Readiness, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, ops)
	checks, found := s.checks[ops]
	if !found {
		return statusz.Readiness{}, errors.New("connection refused")
	}
	return statusz.Readiness{Checks: checks}, nil
}

// serverPod returns a pod of a region whose server runs since an hour ago.
func serverPod(name string, code v1alpha1.RegionCode, ip string, change func(*corev1.Pod)) *corev1.Pod {
	labels := render.ServerSelector("acme")
	labels[render.LabelRegion] = string(code)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza", Labels: labels}}
	pod.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: render.PortOpsName, ContainerPort: 9080}}}}
	pod.Status = corev1.PodStatus{
		PodIP: ip,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(time.Unix(0, 0)),
		}},
		ContainerStatuses: []corev1.ContainerStatus{
			{Name: render.ContainerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		},
	}
	if change != nil {
		change(pod)
	}
	return pod
}

func notReady(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse }

// readPods returns a pass of a network with the regions us and eu that has read its pods.
func readPods(t *testing.T, servers *checkedServers, pods ...client.Object) *stage.Pass {
	t.Helper()
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza"}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "us"}, {Code: "eu"}}
	own := &stage.Cluster{Cache: fake.NewClientBuilder().WithObjects(pods...).Build(), Servers: servers, Network: render.Network{SN: sn}}
	p := &stage.Pass{SN: sn, Now: time.Unix(3600, 0), Clusters: []*stage.Cluster{own}, Network: own.Network}
	require.NoError(t, Read(t.Context(), p))
	return p
}

// TestCausesOfPods checks why the pods of a region are not ready, and what the first ready server of each region lacks.
func TestCausesOfPods(t *testing.T) {
	away := func(home string) []statusz.CheckResult {
		return []statusz.CheckResult{{Name: "database " + home, Reason: "away", Advisory: true}}
	}
	crashed := func(pod *corev1.Pod) {
		notReady(pod)
		pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
	}
	servers := &checkedServers{checks: map[string][]statusz.CheckResult{
		"10.0.0.1:9080": away("sg"), "10.0.0.2:9080": away("eu"), "10.0.0.4:9080": {{Name: "schema", Reason: "older"}}, "10.0.0.5:9080": nil,
		"10.0.0.8:9080": {},
	}}
	p := readPods(
		t, servers,
		serverPod("us-1", "us", "10.0.0.1", nil),
		serverPod("us-2", "us", "10.0.0.2", nil),
		serverPod("us-3", "us", "10.0.0.3", func(pod *corev1.Pod) {
			notReady(pod)
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
		}),
		serverPod("us-4", "us", "10.0.0.4", crashed),
		serverPod("us-5", "us", "10.0.0.5", crashed),
		serverPod("us-6", "us", "10.0.0.6", func(pod *corev1.Pod) {
			notReady(pod)
			pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "InvalidImageName"}}
		}),
		serverPod("us-7", "us", "", nil),
		serverPod("eu-1", "eu", "10.0.0.7", nil),
		serverPod("eu-2", "eu", "10.0.0.8", nil),
		serverPod("eu-3", "eu", "10.0.0.9", func(pod *corev1.Pod) {
			pod.DeletionTimestamp, pod.Finalizers = new(metav1.Now()), []string{"example.com/keep"}
		}),
		serverPod("us-8", "us", "10.0.0.10", func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }),
		serverPod("us-9", "us", "10.0.0.11", func(pod *corev1.Pod) { pod.Labels[render.LabelInstance] = "other" }),
	)
	cause := func(reason v1alpha1.Reason, message string) podcause.Cause {
		return podcause.Cause{Reason: reason, Message: message}
	}
	require.Equal(t, map[v1alpha1.RegionCode][]stage.PodCause{"us": {
		{Pod: "us-3", Cause: cause(v1alpha1.ReasonServerNotReady, "it does not respond: connection refused")},
		{Pod: "us-4", Cause: cause(v1alpha1.ReasonServerNotReady, "schema: older")},
		{Pod: "us-5", Cause: cause(v1alpha1.ReasonPodCrashing, "its container plaza exited with code 1")},
		{Pod: "us-6", Cause: cause(v1alpha1.ReasonPodNotStarted, "its image  cannot be pulled")},
		{Pod: "us-1", Ready: true, Cause: cause(v1alpha1.ReasonDatabaseUnreachable, "database sg: away")},
	}}, p.Causes)
	slices.Sort(servers.asked)
	asked := []string{"10.0.0.1:9080", "10.0.0.3:9080", "10.0.0.4:9080", "10.0.0.5:9080"}
	require.Equal(t, asked, servers.asked, "the first ready server of eu does not answer")
	ready := map[v1alpha1.RegionCode][]string{}
	for code, reports := range p.Reports {
		for _, report := range reports {
			ready[code] = append(ready[code], report.Pod)
		}
	}
	require.Equal(t, map[v1alpha1.RegionCode][]string{"us": {"us-1", "us-2"}, "eu": {"eu-1", "eu-2"}}, ready)
	require.Error(t, p.Reports["eu"][0].Err)
	require.NoError(t, p.Reports["eu"][1].Err)
}

// TestReportOfAServer checks how a server is called, and from what it was started.
func TestReportOfAServer(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza"}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "us"}}
	pod := serverPod("us-1", "us", "10.0.0.1", func(pod *corev1.Pod) {
		pod.Labels["pod-template-hash"] = "7d8f9c6b5d"
		pod.Spec.Containers = []corev1.Container{
			{Name: "sidecar", Image: "sidecar:1"},
			{
				Name: render.ContainerName, Image: "plaza:1",
				Ports: []corev1.ContainerPort{{Name: "ops", ContainerPort: 9080}, {Name: "control", ContainerPort: 9443}},
			},
		}
	})
	servers := &checkedServers{checks: map[string][]statusz.CheckResult{"10.0.0.1:9080": nil}, control: &statusz.Control{}}
	want := platformclient.Server{
		Ops: "10.0.0.1:9080", Control: "10.0.0.1:9443", Name: control.ServerName("us", "0123456789abcdef01234567"),
		Credentials: &control.Credentials{},
	}
	own := &stage.Cluster{
		Cache: fake.NewClientBuilder().WithObjects(pod.DeepCopy()).Build(), Servers: servers,
		Network: render.Network{SN: sn, NetworkID: "0123456789abcdef01234567"},
	}
	p := &stage.Pass{SN: sn, Clusters: []*stage.Cluster{own}, Network: own.Network, Control: want.Credentials}
	require.NoError(t, Read(t.Context(), p))
	require.Equal(t, []stage.ServerReport{{
		Pod: "us-1", Server: want, Image: "plaza:1", Template: "7d8f9c6b5d", Status: statusz.Status{Control: servers.control},
	}}, p.Reports["us"])
}

// TestFewPodsAreAsked asks a limited number of servers that are not ready.
func TestFewPodsAreAsked(t *testing.T) {
	servers := &checkedServers{}
	var pods []client.Object
	for i := range 17 {
		pods = append(pods, serverPod(fmt.Sprintf("us-%02d", i), "us", fmt.Sprintf("10.0.0.%d", i), notReady))
	}
	require.Len(t, readPods(t, servers, pods...).Causes["us"], 16)
	require.Len(t, servers.asked, 16)
}

// TestAddress checks the ports at which the server of a pod is called.
func TestAddress(t *testing.T) {
	pod := serverPod("us-1", "us", "10.0.0.1", nil)
	own, member := &stage.Cluster{}, &stage.Cluster{Name: "member"}
	require.Equal(t, "10.0.0.1:9080", address(own, pod, render.PortOpsName))
	require.Empty(t, address(own, pod, render.PortControlName))
	pod.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{
		{Name: "http", ContainerPort: 1}, {Name: "ops", ContainerPort: 2}, {Name: "control", ContainerPort: 3},
	}}}
	require.Equal(t, "10.0.0.1:2", address(own, pod, render.PortOpsName))
	require.Equal(t, "10.0.0.1:3", address(own, pod, render.PortControlName))
	require.Contains(t, address(member, pod, render.PortOpsName), "us-1")
	require.NotContains(t, address(member, pod, render.PortOpsName), "10.0.0.1", "the address of a pod is not reachable from another cluster")
}

// silentServers are servers that do not answer.
type silentServers struct{ platformclient.Servers }

func (silentServers) Status(context.Context, platformclient.Server) (statusz.Status, error) {
	return statusz.Status{}, errors.New("connection refused")
}

// TestPodsOfTheFormerCluster moves a region to another cluster: pods that are left in the former one are not among its servers.
func TestPodsOfTheFormerCluster(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza"}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "eu", Cluster: "member"}}
	clusterOf := func(name, namespace, pod string) *stage.Cluster {
		labels := render.ServerSelector(sn.Name)
		labels[render.LabelRegion] = "eu"
		ready := corev1.PodStatus{PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		cache := fake.NewClientBuilder().WithObjects(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: namespace, Labels: labels},
			Status:     ready,
		}).Build()
		return &stage.Cluster{
			Name: name, Cache: cache, Servers: silentServers{},
			Network: render.Network{SN: sn, Cluster: name, Namespace: namespace},
		}
	}
	p := &stage.Pass{SN: sn, Clusters: []*stage.Cluster{
		clusterOf("", "plaza", "former"),
		clusterOf("member", render.RegionNamespace(sn, &sn.Spec.Regions[0]), "present"),
	}}
	p.Network = p.Own().Network
	require.NoError(t, Read(t.Context(), p))
	require.Len(t, p.Reports["eu"], 1)
	require.Equal(t, "present", p.Reports["eu"][0].Pod)
}

// levelServers record the log levels that are set.
type levelServers struct {
	platformclient.Servers

	set []string
}

func (s *levelServers) SetLogLevel(_ context.Context, _ platformclient.Server, level string) error {
	s.set = append(s.set, level)
	return nil
}

// TestSetLogLevel checks when the log level of a server is set.
func TestSetLogLevel(t *testing.T) {
	for name, c := range map[string]struct {
		level  string // of the spec
		change func(sn *v1alpha1.SocialNetwork, report *stage.ServerReport)
		want   []string
	}{
		"another level":      {level: "debug", want: []string{"debug"}},
		"the same level":     {level: "warn"},
		"the level at start": {level: "", want: []string{""}},
		"paused":             {level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) { sn.Spec.Paused = true }},
		"no answer": {
			level: "debug", change: func(_ *v1alpha1.SocialNetwork, report *stage.ServerReport) { report.Err = errors.New("silent") },
		},
		"a level that cannot be changed": {
			level: "debug", change: func(_ *v1alpha1.SocialNetwork, report *stage.ServerReport) { report.Status.LogLevel = nil },
		},
		"a variable": {level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) {
			sn.Spec.Regions[1].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL"}}
		}, want: []string{""}},
		"a variable elsewhere": {level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) {
			sn.Spec.Regions[0].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL"}}
		}, want: []string{"debug"}},
		"no settings of servers": {
			level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) { sn.Spec.Server = nil }, want: []string{""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: "acme"}}
			sn.Spec.Regions, sn.Spec.Server = []v1alpha1.Region{{Code: "us"}, {Code: "eu"}}, &v1alpha1.Server{LogLevel: c.level}
			report := &stage.ServerReport{
				Server: platformclient.Server{Control: "10.0.0.1:9443"},
				Status: statusz.Status{LogLevel: &statusz.LogLevel{Current: "warn", Configured: "info"}},
			}
			if c.change != nil {
				c.change(sn, report)
			}
			servers := &levelServers{}
			setLogLevel(t.Context(), servers, sn, "eu", report)
			require.Equal(t, c.want, servers.set)
		})
	}
}
