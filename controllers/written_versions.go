package controllers

import (
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writtenVersions remembers the resource version of the last status written for each network, so that no reconcile
// starts from an older copy in the cache: it would record its events a second time. It is safe to lose.
type writtenVersions struct {
	mu   sync.Mutex
	last map[types.NamespacedName]string
}

func (v *writtenVersions) record(object client.Object) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last == nil {
		v.last = map[types.NamespacedName]string{}
	}
	v.last[client.ObjectKeyFromObject(object)] = object.GetResourceVersion()
}

func (v *writtenVersions) forget(key types.NamespacedName) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.last, key)
}

// isStale reports whether a copy is older than the last write. It reports false if the versions are not numbers.
func (v *writtenVersions) isStale(object client.Object) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := client.ObjectKeyFromObject(object)
	written, err := strconv.ParseUint(v.last[key], 10, 64)
	if err != nil {
		return false
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil || version >= written {
		delete(v.last, key)
		return false
	}
	return true
}
