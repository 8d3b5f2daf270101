package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

// UserSecret reads a Secret that the spec names and that a person made. The cache holds Secrets with our label only, so
// that the operator needs no copy of every Secret of the cluster: one without the label is read from the API server, and
// labelled, so that its changes are seen from then on. While the network is paused nothing is labelled.
func (w *World) UserSecret(ctx context.Context, name string) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: w.SN.Namespace, Name: name}
	var secret corev1.Secret
	err := w.Cached.Get(ctx, key, &secret)
	if err == nil || !apierrors.IsNotFound(err) {
		return &secret, err
	}
	if err := w.Fresh.Get(ctx, key, &secret); err != nil {
		return nil, err
	}
	if secret.Labels[render.LabelWatched] == "true" || w.SN.Spec.Paused {
		return &secret, nil
	}
	before := secret.DeepCopy()
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[render.LabelWatched] = "true"
	if err := w.Writer.Patch(ctx, &secret, client.MergeFrom(before), client.FieldOwner(apply.Manager)); err != nil {
		return nil, fmt.Errorf("labelling Secret %s: %w", name, err)
	}
	return &secret, nil
}
