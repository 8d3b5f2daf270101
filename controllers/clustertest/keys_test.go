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

// rotation is a rotation under way, and an app's own server that works through it.
type rotation struct {
	old   map[string]string // the key that was active before, by region
	oldID map[string]string
	ended chan struct{}
	wait  sync.WaitGroup

	mu     sync.Mutex
	used   map[string]bool // ids
	calls  int
	failed []string
}

// activeKey is the server key that the status names, from the Secret.
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
	secret := get(t, s, &corev1.Secret{}, render.ServerKeysSecret(network, v1alpha1.RegionCode(code)))
	require.NoError(t, json.Unmarshal(secret.Data[keyring.ServerKeysFile], &keys))
	for _, k := range keys.Keys {
		if k.ID == id {
			key = k.Key
		}
	}
	return id, key
}

// useServerKey does what an app's own server does with a key.
func useServerKey(base, key string) error {
	header := http.Header{"X-Server-Key": {key}, "Content-Type": {"application/json"}}
	_, err := call(fresh, http.MethodPost, base+"/api/v4/authentication/token", header, object{"userId": "somebody"})
	return err
}

// rotate asks for new keys, and lets a client use whatever key is active at each region.
func (s *suite) rotate(t *testing.T) {
	t.Helper()
	s.edit(t, quick)
	r := &rotation{old: map[string]string{}, oldID: map[string]string{}, used: map[string]bool{}, ended: make(chan struct{})}
	for _, code := range codes {
		r.oldID[code], r.old[code] = s.activeKey(t, code)
		require.NotEmpty(t, r.old[code], code)
	}
	s.rotation = r
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		if sn.Annotations == nil {
			sn.Annotations = map[string]string{}
		}
		sn.Annotations[v1alpha1.AnnotationRotate] = "1"
	})
	r.wait.Go(func() {
		for {
			for _, code := range codes {
				id, key := s.activeKey(s.t, code)
				r.note(code, id, key, useServerKey(s.people[code].base, key))
			}
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
	if key != "" { // else the Secret is newer than the status: it is asked for again
		r.used[code+" "+id] = true
	}
	if key != "" && err != nil {
		r.failed = append(r.failed, fmt.Sprintf("%s with %s: %v", code, id, err))
	}
}

// rotated waits for the new keys, and then for the end of the old ones.
func (s *suite) rotated(t *testing.T) {
	t.Helper()
	r := s.rotation
	for _, code := range codes {
		s.within(t, 4*time.Minute, "a new key is the one to use at "+code, func() string {
			id, _ := s.activeKey(t, code)
			if id == r.oldID[code] || id == "" {
				return "the active key is still " + id
			}
			return ""
		})
	}
	for _, code := range codes {
		s.within(t, 4*time.Minute, "the old key is over at "+code, func() string {
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
	close(r.ended)
	r.wait.Wait()
	require.Empty(t, r.failed, "of %d calls with the active key", r.calls)
	require.Len(t, r.used, 2*len(codes), "each region's old key and its new one were used: %v", r.used)
	s.sayf("    %d calls with whatever key was active, none failed", r.calls)
	s.ready(t, time.Minute)
	s.nothingFailed(t)
}
