// Package stage defines the steps of a reconcile and runs them.
//
// A Stage reads the cluster through a Pass and returns an Outcome: the objects that should exist, a condition, and when to
// run again. The Runner applies each Outcome before it runs the next stage, and collects the results in a Report, from
// which the status and the events follow. A stage itself neither writes to the API server nor waits.
package stage

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/podcause"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Stage reconciles one concern of a network. A stage that fails does not keep the stages after it from running.
type Stage interface {
	// Condition returns the type of the condition that reports the stage's result.
	Condition() string
	// Run compares the observed state with the spec and returns what should change.
	Run(ctx context.Context, p *Pass) Outcome
}

// Pass is one reconcile of one network. Stages treat it as read-only, except for the parts of Status that they own; what
// one stage establishes for the stages after it goes into Outcome.Facts.
type Pass struct {
	// SN is the network as read from the cache.
	SN *v1alpha1.SocialNetwork
	// Now is the time of the pass.
	Now time.Time
	// Network is the input of rendering in the operator's own cluster. Its NetworkID and SecretsFingerprint are empty until a stage has
	// published them.
	Network render.Network
	// SchemaReady reports whether the database has the schema that the image needs, so that its pods may start.
	SchemaReady bool
	// Refused is why the operator's restrictions do not allow the network's pods, or "". No pod is created or changed then.
	Refused string
	// Updates are the rules for the beginning of updates.
	Updates Updates
	// Clusters are the clusters with objects of the network, each with one namespace. The first is the operator's own.
	Clusters []*Cluster
	// Reports holds the status report of each ready server, by region.
	Reports map[v1alpha1.RegionCode][]ServerReport
	// Causes are why servers of a region are not ready, in the order of the pods' names; those of ready servers, which
	// serve but cannot reach a home's database, are last.
	Causes map[v1alpha1.RegionCode][]PodCause
	// Control are the operator's credentials for control calls; nil if there are none yet.
	Control *control.Credentials
	// Status is the status as filled in by the stages so far.
	Status *v1alpha1.SocialNetworkStatus

	redactions []string // secret texts, the longest first
}

// ServerReport is the answer of one server to a status request.
type ServerReport struct {
	// Pod is the name of the server's pod.
	Pod string
	// Server is where the server is called. It has no control port if Status was read without one.
	Server platformclient.Server
	// Image is the image of the server's container.
	Image string
	// Template is the hash of the pod template that the pod was created from.
	Template string
	// Status is the answer; it is zero if Err is set.
	Status statusz.Status
	// Err is the error of the request.
	Err error
}

// PodCause is why a pod is not ready, or what its server lacks although it is ready.
type PodCause struct {
	Pod   string
	Ready bool
	podcause.Cause
}

// String returns the cause as the beginning of a sentence.
func (c PodCause) String() string { return "pod " + c.Pod + ": " + c.Message }

// Facts are what a stage establishes for the stages after it. Zero fields change nothing.
type Facts struct {
	// NetworkID is the identity of the network, as read from its Secret.
	NetworkID string
	// SecretsFingerprints change with the content of the Secrets that the pods of a cluster read.
	SecretsFingerprints map[*Cluster]string
	// SchemaReady reports that the database has the schema that the image needs.
	SchemaReady bool
}

func (p *Pass) publish(f Facts) {
	for _, c := range p.Clusters {
		if f.NetworkID != "" {
			c.Network.NetworkID = f.NetworkID
		}
		if fingerprint := f.SecretsFingerprints[c]; fingerprint != "" {
			c.Network.SecretsFingerprint = fingerprint
		}
	}
	p.Network = p.Own().Network
	p.SchemaReady = p.SchemaReady || f.SchemaReady
}

// Region returns the status of a region, which it adds if there is none.
func (p *Pass) Region(code v1alpha1.RegionCode) *v1alpha1.RegionStatus {
	for i := range p.Status.Regions {
		if p.Status.Regions[i].Code == code {
			return &p.Status.Regions[i]
		}
	}
	p.Status.Regions = append(p.Status.Regions, v1alpha1.RegionStatus{Code: code})
	return &p.Status.Regions[len(p.Status.Regions)-1]
}

// UserSecret reads a Secret that a user created in a cluster. The cache holds only Secrets with our label; others are read from
// the API server. Pass the Secret to Outcome.Watch so that later changes of it start a reconcile.
func (c *Cluster) UserSecret(ctx context.Context, name string) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: c.Namespace(), Name: name}
	var secret corev1.Secret
	err := c.Cache.Get(ctx, key, &secret)
	if apierrors.IsNotFound(err) {
		err = c.APIReader.Get(ctx, key, &secret)
	}
	if err != nil {
		return nil, err
	}
	return &secret, nil
}

// MissingInterval is how often a Secret is looked for that does not exist: it is not cached, because it has no label yet.
const MissingInterval = 3 * time.Second

// ReadSecret reads a Secret that the spec names, watches it, and redacts its values. It returns nil, and sets the condition, if the Secret
// does not exist, cannot be read, or has no value of a key. purpose follows its name in the condition.
func (o *Outcome) ReadSecret(ctx context.Context, p *Pass, c *Cluster, name, purpose string, keys ...string) *corev1.Secret {
	secret, err := c.UserSecret(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		o.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonSecretMissing,
			fmt.Sprintf("Secret %s%s does not exist %s; the operator continues once it is created.", name, purpose, c.Where()))
		o.RequeueAfter(MissingInterval)
		return nil
	case err != nil:
		o.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, err.Error())
		return nil
	}
	o.Watch(c, secret)
	p.RedactSecret(secret)
	for _, key := range keys {
		if len(bytes.TrimSpace(secret.Data[key])) == 0 {
			o.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonSecretIncomplete, fmt.Sprintf("Secret %s has no key %s.", name, key))
			return nil
		}
	}
	return secret
}

// minRedactedLength keeps short values, such as a port or a region, from being redacted inside ordinary words.
const minRedactedLength = 6

// RedactSecret makes Redact remove the values of a Secret, and the passwords in those that are URLs, valid or not.
func (p *Pass) RedactSecret(secret *corev1.Secret) {
	for _, value := range secret.Data {
		text := strings.TrimSpace(string(value))
		if len(text) >= minRedactedLength {
			p.redactions = append(p.redactions, text)
		}
		if strings.Contains(text, "://") {
			p.redactions = append(p.redactions, dburl.Secrets(text)...)
		}
	}
	slices.SortFunc(p.redactions, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// Redact replaces the content of redacted Secrets in a text that is shown in a message. Longer values are replaced before those that they
// contain.
func (p *Pass) Redact(text string) string {
	pairs := make([]string, 0, 2*len(p.redactions))
	for _, secret := range p.redactions {
		pairs = append(pairs, secret, "[secret]")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
