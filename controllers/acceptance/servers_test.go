package acceptance

import (
	"context"
	"errors"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/platform/statusz"
)

// servers stands in for the platform's servers: one for each address of an operations port.
type servers struct {
	mu   sync.Mutex
	says map[string]*server
	// refuses is what a push of settings gets, nil where it is taken.
	refuses error
	pushes  int
}

// server is what one server says of itself.
type server struct {
	status statusz.Status
	// deaf is true for a server that does not answer.
	deaf bool
	// refusesKeys is true for a server that has not read its newest key yet.
	refusesKeys bool
}

var errDeaf = errors.New("the server does not answer")

var _ platformclient.Servers = (*servers)(nil)

// at changes what a server says.
func (s *servers) at(ops string, change func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.says[ops] == nil {
		s.says[ops] = &server{}
	}
	change(s.says[ops])
}

// all changes what every server says.
func (s *servers) all(change func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range maps.Clone(s.says) {
		change(one)
	}
}

func (s *servers) Status(_ context.Context, ops string) (statusz.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.says[ops]
	if one == nil || one.deaf {
		return statusz.Status{}, errDeaf
	}
	return one.status, nil
}

func (s *servers) VerifyServerKey(_ context.Context, ops, _ string, _ keyring.Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.says[ops]
	switch {
	case one == nil || one.deaf:
		return errDeaf
	case one.refusesKeys:
		return platformclient.ErrKeyRefused
	}
	return nil
}

// PushModeration takes the settings for all servers: the network has one copy of them.
func (s *servers) PushModeration(_ context.Context, api string, _ keyring.Secret, m platformclient.Moderation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushes++
	if _, _, err := net.SplitHostPort(api); err != nil {
		return err
	}
	if s.refuses != nil {
		return s.refuses
	}
	for _, one := range s.says {
		one.status.Moderation = statusz.Moderation{
			IsWhitelistEnabled: m.WhitelistEnabled, IsReportEnabled: m.ReportEnabled, FlagLimit: int(m.FlagLimit),
			Generation: m.ReportedGeneration(), Digest: m.Hash(), AsOf: time.Now(),
		}
	}
	return nil
}

// pushed is how often settings were brought to a region.
func (s *servers) pushed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pushes
}
