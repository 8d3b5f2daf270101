package app

import (
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/edge"
)

// listener is an open port and its server.
type listener struct {
	net.Listener
	setting string
	server  *http.Server
}

// listen opens the port of a setting, unless it is open.
func listen(setting string, addr config.Address, open net.Listener) (listener, error) {
	if open != nil {
		return listener{Listener: open, setting: setting}, nil
	}
	l, err := net.Listen("tcp", string(addr))
	if err != nil {
		return listener{}, &ListenError{Setting: setting, Addr: string(addr), Err: err}
	}
	return listener{Listener: l, setting: setting}, nil
}

func (l listener) serve(failed chan<- error) {
	go func() {
		serve := l.server.Serve
		if l.server.TLSConfig != nil {
			serve = func(l2 net.Listener) error { return l.server.ServeTLS(l2, "", "") } // the certificate is in the configuration
		}
		if err := serve(l.Listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serving %s: %w", l.Addr(), err)
		}
	}()
}

// close closes the port; it does nothing for the zero listener.
func (l listener) close() error {
	if l.Listener == nil {
		return nil
	}
	return l.Listener.Close()
}

// apiServer has the limits of package edge, which also limits the duration of each request. Connections have no time
// limit, because streams are unbounded.
func (r *Region) apiServer(handler http.Handler) *http.Server {
	s := edge.NewServer(handler, r.limits.ReadHeaders)
	s.MaxHeaderBytes = int(r.cfg.MaxHeaderBytes)
	s.ErrorLog, s.ConnState = r.errorLog(), r.connState
	if r.parts.certificate != nil {
		s.TLSConfig = r.parts.certificate.TLSConfig()
	}
	return s
}

// opsServer has no time limit for responses, because the duration of a profile is chosen by the client.
func (r *Region) opsServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: r.limits.ReadHeaders,
		IdleTimeout:       edge.IdleTimeout,
		ErrorLog:          r.errorLog(),
	}
}

func (r *Region) errorLog() *log.Logger { return slog.NewLogLogger(r.log.Handler(), slog.LevelWarn) }
