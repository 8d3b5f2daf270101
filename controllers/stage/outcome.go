package stage

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

// Desired is an object to apply.
type Desired struct {
	Object client.Object
	Mode   apply.Mode
	// Region is the region that the object belongs to, or empty.
	Region v1alpha1.RegionCode
	// Cluster is that of the object; nil means that of Region, or the operator's own without a region.
	Cluster *Cluster
	// IgnorePause applies the object even while the network is paused.
	IgnorePause bool
	// Manager is the field manager; empty means the operator's.
	Manager string
	// Prune is the path of the part of the object from which additions by others are removed; nil means none.
	Prune []string
	// Prerequisites are applied before Object, which is skipped if one of them fails.
	Prerequisites []Desired
	// Events are recorded once the object was applied.
	Events []Event
}

// Deletion is an object to delete.
type Deletion struct {
	Object  client.Object
	Cluster *Cluster
}

// WatchedSecret is a Secret of a user to label.
type WatchedSecret struct {
	Secret  *corev1.Secret
	Cluster *Cluster
}

// Outcome is the result of a stage.
type Outcome struct {
	// Objects are applied, Deletions are deleted.
	Objects   []Desired
	Deletions []Deletion
	// Released are deleted Secrets with keys that may go: they lose their finalizer, also while the network is paused.
	Released []Deletion
	// Watched are Secrets of users to label, so that the cache holds them. See Watch.
	Watched []WatchedSecret
	// Status, Reason and Message are the stage's condition.
	Status  metav1.ConditionStatus
	Reason  v1alpha1.Reason
	Message string
	// Regions are conditions of single regions.
	Regions map[v1alpha1.RegionCode][]metav1.Condition
	// Pending describes calls to servers that the stage left out because the network is paused.
	Pending []string
	// Requeue is when the stage must run again without any other trigger; 0 means it need not.
	Requeue time.Duration
	// Events are recorded if everything was applied, in addition to the events for changed conditions.
	Events []Event
	// Facts are published to the stages after this one.
	Facts Facts
}

// Event is a Kubernetes event to record for a network.
type Event struct {
	Warning bool
	Reason  v1alpha1.Reason
	Message string
}

// True returns an outcome whose condition is True.
func True(reason v1alpha1.Reason, message string) Outcome {
	return Outcome{Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// False returns an outcome whose condition is False.
func False(reason v1alpha1.Reason, message string) Outcome {
	return Outcome{Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// Unknown returns an outcome whose condition is Unknown.
func Unknown(reason v1alpha1.Reason, message string) Outcome {
	return Outcome{Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}

// SetCondition sets the stage's condition.
func (o *Outcome) SetCondition(status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
	o.Status, o.Reason, o.Message = status, reason, message
}

// SetRegionCondition sets a condition of a region.
func (o *Outcome) SetRegionCondition(code v1alpha1.RegionCode, conditionType string, status metav1.ConditionStatus,
	reason v1alpha1.Reason, message string,
) {
	if o.Regions == nil {
		o.Regions = map[v1alpha1.RegionCode][]metav1.Condition{}
	}
	o.Regions[code] = append(o.Regions[code], metav1.Condition{Type: conditionType, Status: status, Reason: string(reason), Message: message})
}

// Apply adds an object to apply. The returned pointer is valid until the next call.
func (o *Outcome) Apply(desired Desired) *Desired {
	o.Objects = append(o.Objects, desired)
	return &o.Objects[len(o.Objects)-1]
}

// Watch labels a Secret that a user created in a cluster, so that the cache holds it from then on. It does nothing if the label is
// set.
func (o *Outcome) Watch(c *Cluster, secret *corev1.Secret) {
	isSame := func(s WatchedSecret) bool { return s.Cluster == c && s.Secret.Name == secret.Name }
	if secret.Labels[render.LabelWatched] != "true" && !slices.ContainsFunc(o.Watched, isSame) {
		o.Watched = append(o.Watched, WatchedSecret{secret, c})
	}
}

// RequeueAfter makes the stage run again after d at the latest; d ≤ 0 changes nothing.
func (o *Outcome) RequeueAfter(d time.Duration) {
	if d > 0 && (o.Requeue == 0 || d < o.Requeue) {
		o.Requeue = d
	}
}
