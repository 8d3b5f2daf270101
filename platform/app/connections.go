package app

import (
	"container/list"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/ratelimit"
)

// connectionLimits are the limits of a limitedListener.
type connectionLimits struct {
	total      int
	perAddress int
	proxies    ratelimit.Proxies // whose addresses have no share
}

// limitedListener accepts a connection when there are fewer than the maximum, in all and from the address of the client. A connection
// without a request makes way for a new one: the oldest one of the address, or in all that of the address with the most connections. Thus
// a client that opens many connections takes none from others. When all have requests, a connection beyond the share of its address is
// refused, and one beyond the maximum waits.
//
// Its connections are still TCP connections to net/http, unlike those of netutil.LimitListener: net/http closes them in a way that lets
// the client read the response to a request that was not read to its end.
type limitedListener struct {
	net.Listener
	limits    connectionLimits
	open      chan struct{} // an element for each connection
	closed    chan struct{}
	closeOnce func()
	ended     *prometheus.CounterVec

	mu        sync.Mutex
	addresses map[string]*addressConnections
	waiting   bool // whether a connection waits for another one to be closed
}

// addressConnections are the open connections of an address.
type addressConnections struct {
	count int
	idle  list.List // of *limitedConn, those without a request, the oldest first
}

// Reasons for which a connection is closed, as labels of the metric.
const (
	connectionIdle    = "idle"
	connectionRefused = "refused"
)

// limitConnections returns l with limits. registerer may be nil.
func limitConnections(l net.Listener, limits connectionLimits, registerer prometheus.Registerer) (*limitedListener, error) {
	closed := make(chan struct{})
	limited := &limitedListener{
		Listener: l, limits: limits, open: make(chan struct{}, limits.total), closed: closed, closeOnce: sync.OnceFunc(func() { close(closed) }),
		addresses: map[string]*addressConnections{},
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_connections_ended_total",
			Help: "Connections that the server closed for others, by reason: idle ones, and those beyond the share of an address, which were " +
				"refused.",
		}, []string{"reason"}),
	}
	for _, reason := range []string{connectionIdle, connectionRefused} {
		limited.ended.WithLabelValues(reason)
	}
	if registerer == nil {
		return limited, nil
	}
	return limited, registerer.Register(limited.ended)
}

// Accept implements net.Listener. The connection that waits for another one is open in addition to the maximum.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		tcp, isTCP := conn.(*net.TCPConn)
		if err != nil || !isTCP {
			return conn, err
		}
		c := l.enter(tcp)
		switch {
		case c == nil:
			_ = tcp.Close()
			l.ended.WithLabelValues(connectionRefused).Inc()
		case l.reserve():
			l.begin(c)
			return c, nil
		default:
			l.leave(c)
			return nil, errors.Join(net.ErrClosed, tcp.Close())
		}
	}
}

// reserve waits until a connection may be accepted, and reports whether it may.
func (l *limitedListener) reserve() bool {
	select {
	case l.open <- struct{}{}:
		return true
	default:
	}
	l.setWaiting(true)
	defer l.setWaiting(false)
	l.makeRoom()
	select {
	case l.open <- struct{}{}:
		return true
	case <-l.closed:
		return false
	}
}

func (l *limitedListener) setWaiting(waiting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = waiting
}

// makeRoom closes the oldest connection without a request, if there is one and a connection waits.
func (l *limitedListener) makeRoom() {
	l.mu.Lock()
	var c *limitedConn
	if l.waiting {
		c = l.takeIdleOfAll()
	}
	l.mu.Unlock()
	l.closeIdle(c)
}

// enter counts a connection. It returns nil if its address has too many, all of which have requests.
func (l *limitedListener) enter(tcp *net.TCPConn) *limitedConn {
	c := &limitedConn{TCPConn: tcp}
	if peer := tcp.RemoteAddr(); peer != nil && !l.limits.proxies.MayBe(peer.String()) {
		c.address = l.limits.proxies.ClientAddress(peer.String(), nil)
	}
	c.release = sync.OnceFunc(func() {
		l.leave(c)
		<-l.open
	})
	l.mu.Lock()
	a := l.addresses[c.address]
	if a == nil {
		a = &addressConnections{}
		l.addresses[c.address] = a
	}
	var evicted *limitedConn
	if c.address != "" && a.count >= l.limits.perAddress {
		if evicted = a.takeIdle(); evicted == nil {
			l.mu.Unlock()
			return nil
		}
	}
	a.count++
	l.mu.Unlock()
	l.closeIdle(evicted)
	return c
}

// begin adds a connection to those without a request, after it has got its place: it must not make way for itself.
func (l *limitedListener) begin(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.idle = l.addresses[c.address].idle.PushBack(c)
}

// takeIdleOfAll returns the oldest connection without a request of the address with the most connections; nil if all have one. The caller
// must hold mu.
func (l *limitedListener) takeIdleOfAll() *limitedConn {
	var most *addressConnections
	for _, a := range l.addresses {
		if a.idle.Len() > 0 && (most == nil || a.count > most.count) {
			most = a
		}
	}
	if most == nil {
		return nil
	}
	return most.takeIdle()
}

// takeIdle removes the oldest connection from those without a request, and returns it; nil if all have one.
func (a *addressConnections) takeIdle() *limitedConn {
	oldest := a.idle.Front()
	if oldest == nil {
		return nil
	}
	c, _ := a.idle.Remove(oldest).(*limitedConn)
	c.idle = nil
	return c
}

// closeIdle closes a connection without a request; nil is none.
func (l *limitedListener) closeIdle(c *limitedConn) {
	if c != nil {
		_ = c.Close()
		l.ended.WithLabelValues(connectionIdle).Inc()
	}
}

// observe is the ConnState of the server: it records which connections have requests.
func (l *limitedListener) observe(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok { // *tls.Conn
		conn = secure.NetConn()
	}
	c, ok := conn.(*limitedConn)
	if !ok || state == http.StateNew {
		return
	}
	l.mu.Lock()
	a := l.addresses[c.address]
	switch {
	case a == nil || c.left: // it was closed in the meantime
	case state == http.StateIdle && c.idle == nil:
		c.idle = a.idle.PushBack(c)
	case state != http.StateIdle && c.idle != nil:
		a.idle.Remove(c.idle)
		c.idle = nil
	}
	l.mu.Unlock()
	if state == http.StateIdle {
		l.makeRoom()
	}
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.closeOnce()
	return l.Listener.Close()
}

// limitedConn is a connection that makes way for another one when it is closed.
type limitedConn struct {
	*net.TCPConn
	address string // empty for a proxy
	release func()

	// Both are guarded by the mutex of the listener.
	idle *list.Element // among those of its address; nil while it has a request
	left bool
}

// leave ends the counting of a connection.
func (l *limitedListener) leave(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.addresses[c.address]
	if c.idle != nil {
		a.idle.Remove(c.idle)
	}
	c.idle, c.left = nil, true
	if a.count--; a.count == 0 {
		delete(l.addresses, c.address)
	}
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
