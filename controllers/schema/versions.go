package schema

import (
	"context"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/jobresult"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/migrations"
)

// setVersions sets the schema version that the database has and the one that the image needs, as far as servers report them.
func setVersions(p *stage.Pass) {
	schema := &p.Status.Schema
	current, required := reportedVersions(p)
	if current > 0 {
		schema.Current = formatVersion(current)
	}
	image := p.Network.Image()
	switch {
	case required > 0:
		schema.Target = formatVersion(required)
	case image == p.Network.DefaultImage:
		schema.Target = formatVersion(migrations.Target())
	case p.SN.Status.ObservedGeneration != p.SN.Generation: // the known target may be that of another image
		schema.Target = ""
	}
}

// reportedVersions returns the schema version that servers found, and the one that servers of the spec's image need; 0 means
// that no server reports it.
func reportedVersions(p *stage.Pass) (current, required int64) {
	for _, reports := range p.Reports {
		for _, report := range reports {
			if report.Err != nil {
				continue
			}
			current = max(current, report.Status.Schema.Current)
			if report.Image == p.Network.Image() {
				required = max(required, report.Status.Schema.Required)
			}
		}
	}
	return current, required
}

func formatVersion(n int64) string { return strconv.FormatInt(n, 10) }

// termination is the termination message of a migration's newest pod.
type termination struct {
	schema statusz.Migration
	text   string // why it failed
	err    error  // why the pods could not be read
}

func (r *run) readTermination(ctx context.Context, job *batchv1.Job) termination {
	pods, err := jobresult.Pods(ctx, r.cluster.APIReader, job)
	t := termination{err: err}
	t.schema, t.text = statusz.ReadMigration(jobresult.TerminationMessage(pods))
	return t
}

// setVersionsFromJob sets the versions that no server has reported, from the end of a migration.
func setVersionsFromJob(schema *v1alpha1.SchemaStatus, t termination, succeeded bool) {
	if schema.Target == "" && t.schema.Target > 0 {
		schema.Target = formatVersion(t.schema.Target)
	}
	switch {
	case !succeeded || schema.Current != "":
	case t.schema.Current > 0:
		schema.Current = formatVersion(t.schema.Current)
	default: // the image does not report it; a successful migration reached the target
		schema.Current = schema.Target
	}
}
