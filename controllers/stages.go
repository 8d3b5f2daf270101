package controllers

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stages are the stages of a network, in their order: the sweep comes last, so that what replaces a thing is there before
// the thing goes.
func Stages(scheme *runtime.Scheme, kinds *OptionalKinds) []Stage {
	return []Stage{
		Keys{},
		Schema{},
		Regions{},
		Moderation{},
		Monitoring{},
		Pinned{},
		Sweep{
			Scheme: scheme,
			Wanted: monitoringObjects,
			Kinds:  func(*World) []schema.GroupVersionKind { return kinds.Kinds() },
		},
	}
}
