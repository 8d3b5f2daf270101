package controllers

import (
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writtenVersions remembers the resource version of the last status written for each network, so that no reconcile
// starts from an older copy in the cache: it would record its events a second time. It is safe to lose.
type writtenVersions struct{ last sync.Map }

func (v *writtenVersions) record(object client.Object) {
	v.last.Store(client.ObjectKeyFromObject(object), object.GetResourceVersion())
}

func (v *writtenVersions) forget(key types.NamespacedName) { v.last.Delete(key) }

// isStale reports whether a copy is older than the last write. It reports false if the versions are not numbers.
func (v *writtenVersions) isStale(object client.Object) bool {
	key := client.ObjectKeyFromObject(object)
	last, _ := v.last.Load(key)
	text, _ := last.(string)
	written, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return false
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil || version >= written {
		v.forget(key)
		return false
	}
	return true
}
