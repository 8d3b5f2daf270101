//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// patience is how long a test waits for an expected change, such as that three regions with real pods were updated one after another. It
// costs time only when the test fails.
const patience = 10 * time.Minute

// within waits until wrong returns "", and otherwise fails with its last result.
func (s *suite) within(t *testing.T, what string, wrong func() string) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(250 * time.Millisecond)
	defer again.Stop()
	for {
		last := wrong()
		if last == "" {
			s.sayf("    %s: after %.1f s", what, time.Since(began).Seconds())
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			require.FailNow(t, what, last)
		}
	}
}

// holds checks that wrong returns "", and does so after the operator has reconciled the network again.
func (s *suite) holds(t *testing.T, what string, wrong func() string) {
	t.Helper()
	require.Empty(t, wrong(), what)
	s.observed(t)
	require.Empty(t, wrong(), what)
	s.sayf("    %s", what)
}

// ready waits until the network is ready at its current generation.
func (s *suite) ready(t *testing.T) *v1alpha1.SocialNetwork {
	t.Helper()
	return s.readyIn(t, s.namespace, network)
}

func (s *suite) readyIn(t *testing.T, namespace, name string) *v1alpha1.SocialNetwork {
	t.Helper()
	var sn v1alpha1.SocialNetwork
	s.within(t, name+" is ready", func() string {
		if err := s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &sn); err != nil {
			return err.Error()
		}
		switch c := meta.FindStatusCondition(sn.Status.Conditions, v1alpha1.ConditionReady); {
		case c == nil:
			return "it has no status yet"
		case c.ObservedGeneration != sn.Generation:
			return fmt.Sprintf("its status is of generation %d, not %d", c.ObservedGeneration, sn.Generation)
		case c.Status != metav1.ConditionTrue:
			return c.Reason + ": " + c.Message
		}
		return ""
	})
	return &sn
}

// explain prints diagnostics after a phase has failed.
func (s *suite) explain(t *testing.T) {
	t.Helper()
	if !t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, namespace := range []string{s.namespace, system} {
		s.explainPods(ctx, t, namespace)
		events, err := s.kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Logf("events of %s: %v", namespace, err)
			continue
		}
		for _, e := range events.Items[max(0, len(events.Items)-60):] {
			t.Logf("event %s %s %s/%s: %s", e.Type, e.Reason, e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message)
		}
	}
	var list v1alpha1.SocialNetworkList
	if err := s.client.List(ctx, &list); err != nil {
		t.Logf("networks: %v", err)
	}
	for _, sn := range list.Items {
		for _, c := range sn.Status.Conditions {
			t.Logf("%s/%s %s=%s %s: %s", sn.Namespace, sn.Name, c.Type, c.Status, c.Reason, c.Message)
		}
	}
}

// explainPods prints the states of pods and the ends of their logs.
func (s *suite) explainPods(ctx context.Context, t *testing.T, namespace string) {
	t.Helper()
	var pods corev1.PodList
	if err := s.client.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		t.Logf("pods of %s: %v", namespace, err)
	}
	for _, pod := range pods.Items {
		t.Logf("pod %s/%s on %s: %s %s", namespace, pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.Status.Message)
		for _, c := range pod.Status.ContainerStatuses {
			t.Logf("  ready=%t restarts=%d state=%s last=%s", c.Ready, c.RestartCount, c.State.String(), c.LastTerminationState.String())
		}
		stream, err := s.kube.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{TailLines: new(int64(20))}).Stream(ctx)
		if err != nil {
			t.Logf("  log: %v", err)
			continue
		}
		text, err := io.ReadAll(stream)
		_ = stream.Close() // it was read
		t.Logf("  log (%v):\n  %s", err, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  "))
	}
}
