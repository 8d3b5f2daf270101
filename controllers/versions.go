package controllers

import (
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// versions remembers what was written last of each network, so that no pass starts from a copy in the cache that is older:
// it would find its own changes undone, and tell of them again. What is lost with the process is found out anew.
type versions struct {
	mu   sync.Mutex
	last map[types.NamespacedName]string
}

func (v *versions) wrote(object client.Object) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last == nil {
		v.last = map[types.NamespacedName]string{}
	}
	v.last[client.ObjectKeyFromObject(object)] = object.GetResourceVersion()
}

func (v *versions) forget(key types.NamespacedName) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.last, key)
}

// newerThan is true for a copy from before the last write. Versions grow; where they are no numbers, nothing is known.
func (v *versions) newerThan(object client.Object) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := client.ObjectKeyFromObject(object)
	wrote, err := strconv.ParseUint(v.last[key], 10, 64)
	if err != nil {
		return false
	}
	have, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil || have >= wrote {
		delete(v.last, key)
		return false
	}
	return true
}
