//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/plugin"
	"github.com/plaza-social/plaza/controllers/render"
)

// keyData returns the content of the Secrets with keys that nothing owns, by their names.
func (s *suite) keyData(t *testing.T) map[string]map[string][]byte {
	t.Helper()
	found := map[string]map[string][]byte{}
	for name := range s.secrets(t) {
		found[name] = get(t, s, &corev1.Secret{}, name).Data
	}
	return found
}

// deletedKeys deletes all Secrets with keys. They are restored, and neither users nor apps notice.
func (s *suite) deletedKeys(t *testing.T) {
	t.Helper()
	before := s.keyData(t)
	for name := range before {
		require.NoError(t, s.client.Delete(t.Context(), get(t, s, &corev1.Secret{}, name)))
	}
	s.within(t, "the Secrets are restored", func() string {
		for name, data := range before {
			var secret corev1.Secret
			err := s.client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &secret)
			if err != nil || !secret.DeletionTimestamp.IsZero() {
				return fmt.Sprintf("%s: %v", name, err)
			}
			require.Equal(t, data, secret.Data, name)
		}
		return ""
	})
	s.ready(t)
	s.stillSignedIn(t)
	s.moreWrites(t)
	s.nothingFailed(t)
}

// stillSignedIn checks that the tokens of users and the server keys of all regions are accepted.
func (s *suite) stillSignedIn(t *testing.T) {
	t.Helper()
	for _, code := range codes {
		p := s.people[code]
		p.base = s.base(t, code)
		_, err := p.do(fresh, http.MethodGet, p.base, "/api/v3/communities/"+p.community, nil)
		require.NoError(t, err, "%s is still signed in", p.id)
		_, key := s.activeKey(t, code)
		require.NoError(t, useServerKey(p.base, key), code)
	}
}

// loseHub loses the namespace of the network in the operator's cluster, with everything in it, while the operator is stopped, and
// follows KEYS.md: the keys of a backup restore those of the region there, and the members have copies of the others.
func (s *suite) loseHub(t *testing.T, own string) {
	t.Helper()
	before := s.keyData(t)
	folder := t.TempDir()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key.txt"), []byte(identity.String()), 0o600))
	backup := filepath.Join(folder, "keys.age")
	s.plugin(t, "keys", "backup", network, "--file", backup, "--recipient", identity.Recipient().String())
	lost := s.network(t)
	database := get(t, s, &corev1.Secret{}, "acme-db")

	s.pause(own)
	s.scaleOperator(t, 0)
	s.loseNamespace(t)
	s.moreWrites(t)
	ctx := t.Context()
	require.NoError(t, s.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: s.namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}))
	require.NoError(t,
		s.client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "acme-db"}, Data: database.Data}))
	require.NoError(t, s.client.Create(ctx, &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: network}, Spec: lost.Spec,
	}))
	s.scaleOperator(t, 2)
	s.operatorsReady(t)
	missing := render.ServerKeysSecret(network, v1alpha1.RegionCode(own))
	s.within(t, "the server keys of the lost region are missing, and the members restored the others", func() string {
		sn := s.network(t)
		if !slices.Equal(sn.Status.MissingKeys, []string{missing}) || sn.Status.NetworkID != lost.Status.NetworkID {
			_, reason, message := condition(sn, v1alpha1.ConditionKeysReady)
			return fmt.Sprint(sn.Status.NetworkID, sn.Status.MissingKeys, reason, message)
		}
		return ""
	})
	s.plugin(t, "keys", "restore", network, "--file", backup, "--identity", filepath.Join(folder, "key.txt"))
	s.ready(t)
	after := s.keyData(t)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		require.Equal(t, before[name], after[name], name)
	}
	s.stillSignedIn(t)
	s.resume(t, own)
	s.moreWrites(t)
	s.nothingFailed(t)
}

// plugin runs a command of kubectl plaza.
func (s *suite) plugin(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	root := plugin.New()
	root.SetArgs(append(args, "-n", s.namespace))
	root.SetOut(&out)
	root.SetErr(&out)
	require.NoError(t, root.ExecuteContext(t.Context()), out.String())
	s.sayf("    kubectl plaza %s:\n%s", args[1], &out)
}

// scaleOperator starts or stops the operator.
func (s *suite) scaleOperator(t *testing.T, replicas int32) {
	t.Helper()
	var d appsv1.Deployment
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: operator}, &d))
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	require.NoError(t, s.client.SubResource("scale").Update(t.Context(), &d, client.WithSubResourceBody(scale)))
	s.within(t, fmt.Sprintf("the operator has %d pods", replicas), func() string {
		require.NoError(t, s.client.Get(t.Context(), client.ObjectKeyFromObject(&d), &d))
		if d.Status.Replicas != replicas {
			return fmt.Sprintf("it has %d", d.Status.Replicas)
		}
		return ""
	})
}

// loseNamespace deletes the namespace of the network in spite of all finalizers.
func (s *suite) loseNamespace(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	var secrets corev1.SecretList
	require.NoError(t, s.client.List(ctx, &secrets, client.InNamespace(s.namespace)))
	held := []client.Object{s.network(t)}
	for i := range secrets.Items {
		held = append(held, &secrets.Items[i])
	}
	for _, object := range held {
		base := object.DeepCopyObject().(client.Object)
		object.SetFinalizers(nil)
		require.NoError(t, s.client.Patch(ctx, object, client.MergeFrom(base)))
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	require.NoError(t, s.client.Delete(ctx, ns))
	s.within(t, "the namespace of the network is lost", func() string {
		if err := s.client.Get(ctx, client.ObjectKeyFromObject(ns), ns); !apierrors.IsNotFound(err) {
			return fmt.Sprint("it is there: ", err)
		}
		return ""
	})
}
