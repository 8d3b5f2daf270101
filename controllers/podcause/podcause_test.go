package podcause_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/podcause"
	"github.com/plaza-social/plaza/platform/statusz"
)

func container(change func(*corev1.ContainerStatus)) corev1.PodStatus {
	c := corev1.ContainerStatus{Name: "plaza", Image: "plaza:v2"}
	change(&c)
	return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c}}
}

func waiting(reason, message string) corev1.PodStatus {
	return container(func(c *corev1.ContainerStatus) {
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	})
}

func TestOfPod(t *testing.T) {
	exited := &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", Message: "starting\nplaza: PLAZA_LOG_LEVEL: the value is not a log level.\n",
	}
	for name, test := range map[string]struct {
		status  corev1.PodStatus
		reason  v1alpha1.Reason
		message string
	}{
		"nothing is known": {},
		"it starts":        {status: waiting("ContainerCreating", "")},
		"no image": {
			waiting("ErrImagePull", "dial tcp: lookup registry"), v1alpha1.ReasonPodNotStarted,
			"its image plaza:v2 cannot be pulled",
		},
		"no image, tried again": {waiting("ImagePullBackOff", "back-off"), v1alpha1.ReasonPodNotStarted, "its image plaza:v2 cannot be pulled"},
		"no key of a Secret": {
			waiting("CreateContainerConfigError", `secret "x" not found`), v1alpha1.ReasonPodNotStarted,
			`its container cannot be created: secret "x" not found`,
		},
		"it runs": {status: container(func(c *corev1.ContainerStatus) {
			c.Ready, c.State.Running, c.LastTerminationState.Terminated = true, &corev1.ContainerStateRunning{}, exited
		})},
		"no node": {corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available.",
		}}}, v1alpha1.ReasonPodNotStarted, "it cannot be scheduled: 0/3 nodes are available"},
		"it crashes": {container(func(c *corev1.ContainerStatus) {
			c.State.Waiting, c.LastTerminationState.Terminated = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}, exited
		}), v1alpha1.ReasonPodCrashing, "its container plaza exited with code 1: plaza: PLAZA_LOG_LEVEL: the value is not a log level"},
		"it has just crashed": {container(func(c *corev1.ContainerStatus) {
			c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
		}), v1alpha1.ReasonPodCrashing, "its container plaza exited with code 137 (OOMKilled)"},
		"a pod of an init container": {corev1.PodStatus{
			InitContainerStatuses: waiting("CreateContainerError", "no space.").ContainerStatuses,
			ContainerStatuses:     waiting("ErrImagePull", "").ContainerStatuses,
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Message: "it was"}, {Type: corev1.PodReady, Status: corev1.ConditionFalse},
			},
		}, v1alpha1.ReasonPodNotStarted, "its container cannot be created: no space"},
		"it exits without a reason": {container(func(c *corev1.ContainerStatus) {
			c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 2, Message: "\n"}
		}), v1alpha1.ReasonPodCrashing, "its container plaza exited with code 2"},
		"the second container crashes": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "sidecar", Ready: true}, {Name: "plaza", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}},
		}}, v1alpha1.ReasonPodCrashing, "its container plaza exited with code 1"},
		"it ended": {status: container(func(c *corev1.ContainerStatus) { c.State.Terminated = &corev1.ContainerStateTerminated{} })},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, podcause.Cause{Reason: test.reason, Message: test.message}, podcause.OfPod(&corev1.Pod{Status: test.status}))
		})
	}
}

// TestReasonsOfWaiting checks the reasons for which a container waits that do not go by themselves.
func TestReasonsOfWaiting(t *testing.T) {
	for _, reason := range []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"} {
		require.Equal(t, "its image plaza:v2 cannot be pulled", podcause.OfPod(&corev1.Pod{Status: waiting(reason, "why")}).Message, reason)
	}
	for _, reason := range []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError"} {
		require.Equal(t, "its container cannot be created: why", podcause.OfPod(&corev1.Pod{Status: waiting(reason, "why")}).Message, reason)
	}
}

// TestOutOfConnections checks the errors of databases and poolers that refuse a further connection.
func TestOutOfConnections(t *testing.T) {
	for reason, want := range map[string]v1alpha1.Reason{
		"FATAL: sorry, too many clients already":                       v1alpha1.ReasonDatabaseOutOfConnections,
		"FATAL: too many connections for role plaza":                   v1alpha1.ReasonDatabaseOutOfConnections,
		"FATAL: remaining connection slots are reserved for SUPERUSER": v1alpha1.ReasonDatabaseOutOfConnections,
		"ERROR: no more connections allowed (max_client_conn)":         v1alpha1.ReasonDatabaseOutOfConnections,
		"FATAL: the limit is reached (SQLSTATE 53300)":                 v1alpha1.ReasonDatabaseOutOfConnections,
		"FATAL: the database system is shutting down (SQLSTATE 57P03)": v1alpha1.ReasonDatabaseUnreachable,
	} {
		require.Equal(t, want, podcause.OfChecks(statusz.Readiness{Checks: []statusz.CheckResult{failed("database", reason)}}).Reason, reason)
	}
}

func failed(name, reason string) statusz.CheckResult {
	return statusz.CheckResult{Name: name, Reason: reason}
}

func TestOfChecks(t *testing.T) {
	const refused = "dial tcp 10.0.0.1:5432: connection refused"
	remote := failed("database sg", refused)
	remote.Advisory = true
	for name, test := range map[string]struct {
		checks  []statusz.CheckResult
		reason  v1alpha1.Reason
		message string
	}{
		"ready": {checks: []statusz.CheckResult{{Name: "schema", Ready: true}, remote}},
		"the database is away": {
			[]statusz.CheckResult{failed("schema", "timeout"), failed("database eu", refused)},
			v1alpha1.ReasonDatabaseUnreachable, "database eu: " + refused,
		},
		"all databases are away": {
			[]statusz.CheckResult{failed("database", refused)},
			v1alpha1.ReasonDatabaseUnreachable,
			"database: " + refused,
		},
		"the database is full": {
			[]statusz.CheckResult{failed("database eu", "FATAL: sorry, too many clients already (SQLSTATE 53300)")},
			v1alpha1.ReasonDatabaseOutOfConnections, "database eu: FATAL: sorry, too many clients already (SQLSTATE 53300)",
		},
		"the schema is older": {
			[]statusz.CheckResult{failed("schema", "schema version is 3, required is 4.")},
			v1alpha1.ReasonServerNotReady,
			"schema: schema version is 3, required is 4",
		},
		"a check after others": {
			[]statusz.CheckResult{{Name: "schema", Ready: true}, remote, failed("keys", "missing")}, v1alpha1.ReasonServerNotReady, "keys: missing",
		},
		"the first of two others": {[]statusz.CheckResult{failed("a", "x"), failed("b", "y")}, v1alpha1.ReasonServerNotReady, "a: x"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, podcause.Cause{Reason: test.reason, Message: test.message}, podcause.OfChecks(statusz.Readiness{Checks: test.checks}))
		})
	}
	require.Equal(t, podcause.Cause{Reason: v1alpha1.ReasonDatabaseUnreachable, Message: "database sg: " + refused},
		podcause.OfHomes(statusz.Readiness{Ready: true, Checks: []statusz.CheckResult{remote}}))
	require.Equal(t, "database eu: away; database sg: "+refused, podcause.OfHomes(statusz.Readiness{Checks: []statusz.CheckResult{
		{Name: "database us", Ready: true}, failed("schema", "older"), failed("database eu", "away."), remote,
	}}).Message)
	require.Empty(t, podcause.OfHomes(statusz.Readiness{Ready: true}))
}

// TestOfSilence gives a server time to start.
func TestOfSilence(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type:               corev1.PodReady,
		LastTransitionTime: metav1.NewTime(now.Add(-30 * time.Second)),
	}}}}
	refused := errors.New("connection refused")
	require.Empty(t, podcause.OfSilence(pod, refused, now))
	require.Equal(t, podcause.Cause{Reason: v1alpha1.ReasonServerNotReady, Message: "it does not respond: connection refused"},
		podcause.OfSilence(pod, refused, now.Add(time.Second)))
	pod.Status.Conditions[0].Type = corev1.PodScheduled
	require.Empty(t, podcause.OfSilence(pod, refused, now.Add(time.Hour)), "the time since it was scheduled does not count")
}
