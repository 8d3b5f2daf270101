// Package podcause finds out why a pod is not ready: from the pod itself, and from the readiness checks of its server.
package podcause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Cause is why a pod is not ready.
type Cause struct {
	// Reason is empty if there is no cause: the pod is starting.
	Reason v1alpha1.Reason
	// Message completes the sentence "pod x: …", without a period.
	Message string
}

// OfPod returns the cause that the status of a pod shows; its Reason is empty if it shows none. The message is the same from
// restart to restart.
func OfPod(pod *corev1.Pod) Cause {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return Cause{v1alpha1.ReasonPodNotStarted, "it cannot be scheduled: " + strings.TrimSuffix(c.Message, ".")}
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if cause := ofContainer(c); cause.Reason != "" {
			return cause
		}
	}
	return Cause{}
}

func ofContainer(c corev1.ContainerStatus) Cause {
	if waiting := c.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable":
			return Cause{v1alpha1.ReasonPodNotStarted, fmt.Sprintf("its image %s cannot be pulled", c.Image)}
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return Cause{v1alpha1.ReasonPodNotStarted, "its container cannot be created: " + strings.TrimSuffix(waiting.Message, ".")}
		}
	}
	ended := c.State.Terminated
	if ended == nil && !c.Ready {
		ended = c.LastTerminationState.Terminated
	}
	if ended == nil || ended.ExitCode == 0 {
		return Cause{}
	}
	message := fmt.Sprintf("its container %s exited with code %d", c.Name, ended.ExitCode)
	if ended.Reason != "" && ended.Reason != "Error" {
		message += " (" + ended.Reason + ")"
	}
	if last := lastLine(ended.Message); last != "" {
		message += ": " + strings.TrimSuffix(last, ".")
	}
	return Cause{v1alpha1.ReasonPodCrashing, message}
}

// lastLine returns the last line of a termination message, which is the end of the container's log.
func lastLine(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// outOfConnections are parts of the errors with which databases, and poolers before them, refuse a further connection.
var outOfConnections = []string{
	"too many clients", "too many connections", "remaining connection slots", "no more connections allowed", "SQLSTATE 53300",
}

// OfChecks returns the cause that failed readiness checks show. A database that does not respond explains other checks.
func OfChecks(r statusz.Readiness) Cause {
	var other Cause
	for _, c := range r.Checks {
		if c.Ready || c.Advisory {
			continue
		}
		message := fmt.Sprintf("%s: %s", c.Name, strings.TrimSuffix(c.Reason, "."))
		if !strings.HasPrefix(c.Name, statusz.CheckDatabase) {
			other = cmp.Or(other, Cause{v1alpha1.ReasonServerNotReady, message})
			continue
		}
		if slices.ContainsFunc(outOfConnections, func(text string) bool { return strings.Contains(c.Reason, text) }) {
			return Cause{v1alpha1.ReasonDatabaseOutOfConnections, message}
		}
		return Cause{v1alpha1.ReasonDatabaseUnreachable, message}
	}
	return other
}

// OfHomes returns the cause of a server that is ready but cannot reach the databases of some homes.
func OfHomes(r statusz.Readiness) Cause {
	var homes []string
	for _, c := range r.Checks {
		if !c.Ready && strings.HasPrefix(c.Name, statusz.CheckDatabase) {
			homes = append(homes, fmt.Sprintf("%s: %s", c.Name, strings.TrimSuffix(c.Reason, ".")))
		}
	}
	if len(homes) == 0 {
		return Cause{}
	}
	return Cause{v1alpha1.ReasonDatabaseUnreachable, strings.Join(homes, "; ")}
}

// startTime is how long a server may take to listen.
const startTime = 30 * time.Second

// OfSilence returns the cause of a server that does not answer requests on its operations port, or none if it may still be
// starting.
func OfSilence(pod *corev1.Pod, err error, now time.Time) Cause {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && now.Sub(c.LastTransitionTime.Time) > startTime {
			return Cause{v1alpha1.ReasonServerNotReady, "it does not respond: " + err.Error()}
		}
	}
	return Cause{}
}
