//go:build cluster

package clustertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

// rotation is a rotation in progress, and the server of an app that uses its keys.
type rotation struct {
	old   map[string]string // the previously active key, by region
	oldID map[string]string
	ended chan struct{}
	wait  sync.WaitGroup

	mu     sync.Mutex
	used   map[string]bool // ids
	calls  int
	failed []string
}

// activeKey returns the active server key from the Secret, by its id in the status.
func (s *suite) activeKey(t *testing.T, code string) (id, key string) {
	t.Helper()
	for _, region := range s.network(t).Status.Regions {
		for _, k := range region.ServerKeys {
			if string(region.Code) == code && k.State == v1alpha1.KeyActive {
				id = k.ID
			}
		}
	}
	var keys struct{ Keys []struct{ ID, Key string } }
	secret := getIn(t, s, code, &corev1.Secret{}, render.ServerKeysSecret(network, v1alpha1.RegionCode(code)))
	require.NoError(t, json.Unmarshal(secret.Data[keyring.ServerKeysFile], &keys))
	for _, k := range keys.Keys {
		if k.ID == id {
			key = k.Key
		}
	}
	return id, key
}

// useServerKey makes a request with a key like the server of an app.
func useServerKey(base, key string) error {
	header := http.Header{"X-Server-Key": {key}, "Content-Type": {"application/json"}}
	_, err := call(fresh, http.MethodPost, base+"/api/v4/authentication/token", header, object{"userId": "user"})
	return err
}

// rotate starts a rotation while a client uses the active key of each region.
func (s *suite) rotate(t *testing.T) {
	t.Helper()
	s.edit(t, quick)
	r := &rotation{old: map[string]string{}, oldID: map[string]string{}, used: map[string]bool{}, ended: make(chan struct{})}
	for _, code := range codes {
		r.oldID[code], r.old[code] = s.activeKey(t, code)
		require.NotEmpty(t, r.old[code], code)
	}
	s.rotation = r
	useKeys := func() {
		for _, code := range codes {
			id, key := s.activeKey(s.t, code)
			r.note(code, id, key, useServerKey(s.people[code].base, key))
		}
	}
	useKeys()
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		if sn.Annotations == nil {
			sn.Annotations = map[string]string{}
		}
		sn.Annotations[v1alpha1.AnnotationRotate] = "1"
	})
	r.wait.Go(func() {
		for {
			useKeys()
			select {
			case <-r.ended:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
}

func (r *rotation) note(code, id, key string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if key != "" { // otherwise the Secret is newer than the status: retry
		r.used[code+" "+id] = true
	}
	if key != "" && err != nil {
		r.failed = append(r.failed, fmt.Sprintf("%s with %s: %v", code, id, err))
	}
}

// isWhole returns "" if two keys of each region were used.
func (r *rotation) isWhole() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.used) < 2*len(codes) {
		return fmt.Sprint(r.used)
	}
	return ""
}

// rotated waits for the new keys, and then for the expiry of the old ones.
func (s *suite) rotated(t *testing.T) {
	t.Helper()
	r := s.rotation
	for _, code := range codes {
		s.within(t, "a new key is the one to use at "+code, func() string {
			id, _ := s.activeKey(t, code)
			if id == r.oldID[code] || id == "" {
				return "the active key is still " + id
			}
			return ""
		})
	}
	for _, code := range codes {
		s.within(t, "the old key has expired at "+code, func() string {
			for _, region := range s.network(t).Status.Regions {
				if string(region.Code) == code && len(region.ServerKeys) != 1 {
					return fmt.Sprintf("%+v", region.ServerKeys)
				}
			}
			if err := useServerKey(s.people[code].base, r.old[code]); !refused(err) {
				return fmt.Sprintf("it is still accepted (%v)", err)
			}
			return ""
		})
	}
	s.within(t, "each region's old key and its new one were used", r.isWhole)
	close(r.ended)
	r.wait.Wait()
	require.Empty(t, r.failed, "of %d calls with the active key", r.calls)
	s.sayf("    %d calls with whatever key was active, none failed", r.calls)
	s.ready(t)
	s.nothingFailed(t)
}
