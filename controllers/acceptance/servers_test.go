package acceptance

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// servers are fakes of the platform's servers, by the address of their operations port.
type servers struct {
	mu   sync.Mutex
	says map[string]*server
	// refuses is the error of every push, or nil.
	refuses error
	pushes  int
	// hooks are those that were pushed last. directoryKey is the network's, with which servers compute digests.
	hooks        platformclient.Hooks
	directoryKey []byte
}

// server is the state of one server.
type server struct {
	status statusz.Status
	// failed are the failed readiness checks.
	failed []statusz.CheckResult
	// deaf makes every request fail.
	deaf bool
	// refusesKeys makes the server reject every key.
	refusesKeys bool
}

var errDeaf = errors.New("the server does not answer")

var _ platformclient.Servers = (*servers)(nil)

// at changes the state of a server.
func (s *servers) at(ops string, change func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.says[ops] == nil {
		s.says[ops] = &server{}
	}
	change(s.says[ops])
}

// all changes the state of every server.
func (s *servers) all(change func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range maps.Clone(s.says) {
		change(one)
	}
}

func (s *servers) Status(_ context.Context, server platformclient.Server) (statusz.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.says[server.Ops]
	if one == nil || one.deaf || server.Credentials == nil {
		return statusz.Status{}, errDeaf
	}
	status := one.status
	status.Control = &statusz.Control{}
	for _, authority := range server.Credentials.Authorities {
		status.Control.Authorities = append(status.Control.Authorities, statusz.Key{ID: control.ID(authority), Valid: true})
	}
	return status, nil
}

func (s *servers) Readiness(_ context.Context, ops string) (statusz.Readiness, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.says[ops]
	if one == nil || one.deaf {
		return statusz.Readiness{}, errDeaf
	}
	return statusz.Readiness{Ready: len(one.failed) == 0, Checks: one.failed}, nil
}

func (s *servers) VerifyServerKey(_ context.Context, server platformclient.Server, _ string, _ keyring.Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.says[server.Ops]
	switch {
	case one == nil || one.deaf:
		return errDeaf
	case one.refusesKeys:
		return platformclient.ErrKeyRefused
	}
	return nil
}

// SetLogLevel sets the level that a server reports.
func (s *servers) SetLogLevel(_ context.Context, server platformclient.Server, level string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.says[server.Ops]
	if one == nil || one.deaf {
		return errDeaf
	}
	reported := *one.status.LogLevel
	reported.Current = reported.Wanted(level)
	one.status.LogLevel = &reported
	return nil
}

// PushModeration sets the settings of all servers, as replication does.
func (s *servers) PushModeration(_ context.Context, _ platformclient.Server, _ keyring.Secret, m platformclient.Moderation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushes++
	if s.refuses != nil {
		return s.refuses
	}
	for _, one := range s.says {
		one.status.Moderation = statusz.Moderation{
			IsWhitelistEnabled: m.WhitelistEnabled, IsReportEnabled: m.ReportEnabled, FlagLimit: int(m.FlagLimit),
			FlagHideLimit: int(m.FlagHideLimit),
			Generation:    m.ReportedGeneration(), Digest: m.Hash(), AsOf: time.Now(),
		}
	}
	return nil
}

// pushed returns the number of pushes.
func (s *servers) pushed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pushes
}

// PushHooks sets the webhooks and the pre-hook of all servers, as replication does.
func (s *servers) PushHooks(
	_ context.Context, _ platformclient.Server, _ keyring.Secret, hooks platformclient.Hooks,
) ([]platformclient.Refusal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuses != nil {
		return nil, s.refuses
	}
	s.hooks = hooks
	for _, one := range s.says {
		found := &statusz.Hooks{Enabled: true, AsOf: time.Now()}
		for _, w := range hooks.Webhooks {
			found.Webhooks = append(found.Webhooks, statusz.Webhook{Name: w.Name, Digest: w.Hash(s.directoryKey)})
		}
		if hooks.Prehook != nil {
			found.PrehookDigest = hooks.Prehook.Hash(s.directoryKey)
		}
		one.status.Hooks = found
	}
	return nil, nil
}

// pushedHooks returns the hooks that were pushed last.
func (s *servers) pushedHooks() platformclient.Hooks {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hooks
}

// setDirectoryKey sets the key of the digests of hooks. All servers report that they run none.
func (s *servers) setDirectoryKey(key []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.directoryKey = key
	for _, one := range s.says {
		one.status.Hooks = &statusz.Hooks{Enabled: true, AsOf: time.Now()}
	}
}
