package controllers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/regional"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Stage brings one concern of a network about: from what is observed and what is desired to objects and a condition. A
// stage writes nothing to the API server itself; what it returns is applied before the next stage runs, or only listed while
// the network is paused. Whatever a stage meets, the stages after it run.
type Stage interface {
	// Condition is the type of the condition that tells how the stage stands.
	Condition() string
	// Run looks at the world and says what should be.
	Run(ctx context.Context, w *World) Outcome
}

// World is what a pass knows of a network.
type World struct {
	// SN is the network; nobody changes it.
	SN *v1alpha1.SocialNetwork
	// Now is the time of the pass.
	Now time.Time
	// Network is what rendering needs. Its NetworkID is empty until the stage of the keys has found or made one.
	Network render.Network
	// Cached reads from the cache, which may be a moment behind.
	Cached client.Reader
	// Fresh reads from the API server: for what must not be decided upon an old copy, and for what the cache does not hold.
	Fresh client.Reader
	// Writer labels the Secrets that people made; everything else is written by whoever runs the stages.
	Writer client.Writer
	// SchemaReady is true once the database has the schema that the image needs: pods of this image may start.
	SchemaReady bool
	// Servers speaks with the platform's servers.
	Servers regional.Servers
	// Reports is what each ready server of a region says of itself.
	Reports map[v1alpha1.RegionCode][]Report
	// Status is the status as the stages before have filled it; each stage sets the parts that are its own.
	Status *v1alpha1.SocialNetworkStatus

	hidden []string // pairs of what no message may show, and what it shows in its place
}

// Report is what one server says of itself.
type Report struct {
	// Pod is the name of the server's pod.
	Pod string
	// Ops is the address of its operations port: host and port.
	Ops string
	// Image is what the server's container runs.
	Image string
	// Template is the hash of the pod template that the pod was made from.
	Template string
	// Status is what it said.
	Status statusz.Status
	// Err is why it said nothing.
	Err error
}

// Region returns the part of the status that speaks of a region.
func (w *World) Region(code v1alpha1.RegionCode) *v1alpha1.RegionStatus {
	for i := range w.Status.Regions {
		if w.Status.Regions[i].Code == code {
			return &w.Status.Regions[i]
		}
	}
	w.Status.Regions = append(w.Status.Regions, v1alpha1.RegionStatus{Code: code})
	return &w.Status.Regions[len(w.Status.Regions)-1]
}

// Desired is an object that should be.
type Desired struct {
	Object client.Object
	Mode   apply.Mode
	// Region is the region that the object belongs to; empty for the whole network.
	Region v1alpha1.RegionCode
	// EvenPaused is true for what a pause does not hold up: the revocation of keys.
	EvenPaused bool
	// Manager is the field manager in whose name it is applied; empty: the operator's.
	Manager string
	// First is applied before Object, which waits where that fails.
	First []Desired
	// Events are what has happened once it is applied.
	Events []Event
}

// Outcome is what a stage found, and what it wants.
type Outcome struct {
	// Objects should be; Deletions should not.
	Objects   []Desired
	Deletions []client.Object
	// Status, Reason and Message are the stage's condition.
	Status  metav1.ConditionStatus
	Reason  v1alpha1.Reason
	Message string
	// Regions are conditions of single regions.
	Regions map[v1alpha1.RegionCode][]metav1.Condition
	// Pending is what the stage would have done to the servers, were the network not paused.
	Pending []string
	// Requeue is when the stage has to be run again, though nothing should change; 0: whenever.
	Requeue time.Duration
	// Events are things that happened and that the change of a condition does not tell; told where everything was applied.
	Events []Event
	// After runs once everything was applied without an error; never while paused.
	After func(ctx context.Context) error
}

// Event is something that happened to a network.
type Event struct {
	Warning bool
	Reason  v1alpha1.Reason
	Message string
}

// Want adds an object that should be; what is returned is good until the next one is added.
func (o *Outcome) Want(desired Desired) *Desired {
	o.Objects = append(o.Objects, desired)
	return &o.Objects[len(o.Objects)-1]
}

// True makes the outcome of a stage that holds.
func True(reason v1alpha1.Reason, message string) Outcome {
	return Outcome{Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// False makes the outcome of a stage that does not hold.
func False(reason v1alpha1.Reason, message string) Outcome {
	return Outcome{Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// Unknown makes the outcome of a stage that cannot tell.
func Unknown(reason v1alpha1.Reason, message string) Outcome {
	return Outcome{Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}

// Say sets the condition of an outcome that has more to it.
func (o *Outcome) Say(status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
	o.Status, o.Reason, o.Message = status, reason, message
}

// RegionCondition adds a condition of a region.
func (o *Outcome) RegionCondition(code v1alpha1.RegionCode, kind string, status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
	if o.Regions == nil {
		o.Regions = map[v1alpha1.RegionCode][]metav1.Condition{}
	}
	o.Regions[code] = append(o.Regions[code], metav1.Condition{Type: kind, Status: status, Reason: string(reason), Message: message})
}

// Within makes the stage run again within d.
func (o *Outcome) Within(d time.Duration) {
	if d > 0 && (o.Requeue == 0 || d < o.Requeue) {
		o.Requeue = d
	}
}
