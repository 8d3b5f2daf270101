package controllers

import (
	"context"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/migrations"
)

// noteVersions fills in the schema that the servers see, and the one that the image needs.
func (Schema) noteVersions(w *World) {
	schema := &w.Status.Schema
	current, required := seen(w)
	if current > 0 {
		schema.Current = version(current)
	}
	image := w.Network.Image()
	switch {
	case required > 0:
		schema.Target = version(required)
	case image == w.Network.DefaultImage:
		schema.Target = version(migrations.Target())
	case w.SN.Status.ObservedGeneration != w.SN.Generation: // what is known may be of another image
		schema.Target = ""
	}
}

// seen is the schema that the servers found, and the one that those of the spec's image need; 0 where none says.
func seen(w *World) (current, required int64) {
	for _, reports := range w.Reports {
		for _, report := range reports {
			if report.Err != nil {
				continue
			}
			current = max(current, report.Status.Schema.Current)
			if report.Image == w.Network.Image() {
				required = max(required, report.Status.Schema.Required)
			}
		}
	}
	return current, required
}

func version(n int64) string { return strconv.FormatInt(n, 10) }

// migrationEnd is what the newest pod of a migration said at its end.
type migrationEnd struct {
	schema statusz.Migration
	text   string // why it failed
	err    error  // why nothing could be read
}

// migrationOf reads what a migration's pod wrote at its end. Pods of Jobs are not in the cache.
func migrationOf(ctx context.Context, w *World, job *batchv1.Job) (end migrationEnd) {
	var pods corev1.PodList
	end.err = w.Fresh.List(ctx, &pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}, client.Limit(20))
	end.schema, end.text = statusz.ReadMigration(terminationMessage(pods.Items))
	return end
}

// noteEnd fills in what no server has told, of a migration that ended well or not.
func (Schema) noteEnd(schema *v1alpha1.SchemaStatus, end migrationEnd, well bool) {
	if schema.Target == "" && end.schema.Target > 0 {
		schema.Target = version(end.schema.Target)
	}
	switch {
	case !well || schema.Current != "":
	case end.schema.Current > 0:
		schema.Current = version(end.schema.Current)
	default: // of an image that does not say: it has what it needs
		schema.Current = schema.Target
	}
}

// terminationMessage is what the newest pod wrote.
func terminationMessage(pods []corev1.Pod) string {
	var newest *corev1.Pod
	for i := range pods {
		if newest == nil || newest.CreationTimestamp.Before(&pods[i].CreationTimestamp) {
			newest = &pods[i]
		}
	}
	if newest == nil {
		return ""
	}
	for _, c := range newest.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil && t.Message != "" {
			return t.Message
		}
	}
	return ""
}
