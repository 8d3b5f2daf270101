// Package proxy forwards the connections of a server under test to its database, and simulates failures of the network.
package proxy

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Proxy forwards connections to one address. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	silent bool
	refuse bool
	delay  time.Duration
	lose   int
	filter func(client, server net.Conn) // see Filter; nil for none
	links  map[*link]bool
	seen   int
}

// link is one forwarded connection.
type link struct {
	client, server net.Conn
	hurt           bool // bytes were lost, so the connection is unusable
}

// New starts a proxy to the host of a database URL. It stops when the test ends.
func New(t testing.TB, databaseURL string) *Proxy {
	t.Helper()
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	p, err := Open(u.Host)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// Open starts a proxy to an address with a port. The caller must call Close.
func Open(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, links: map[*link]bool{}}
	go p.accept()
	return p, nil
}

// Close stops the proxy and closes every connection.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Drop()
}

// Addr returns the address at which the proxy accepts connections.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Through returns databaseURL with the address of the proxy.
func (p *Proxy) Through(databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		panic(err) // New parsed a similar URL
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

// Aim directs new connections to the host of another database URL.
func (p *Proxy) Aim(t testing.TB, databaseURL string) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	p.AimAt(u.Host)
}

// AimAt directs new connections to another address.
func (p *Proxy) AimAt(target string) { p.set(func() { p.target = target }) }

// Filter makes f forward what the clients of new connections send. f returns when one of the connections has ended. Such a proxy does not
// simulate failures of the network.
func (p *Proxy) Filter(f func(client, server net.Conn)) *Proxy {
	p.set(func() { p.filter = f })
	return p
}

// Cut makes the proxy discard every byte in both directions, on existing and new connections, without closing them,
// as when a region is unreachable.
func (p *Proxy) Cut() { p.set(func() { p.silent = true }) }

// Refuse closes every connection, and new ones at once, as if the server had stopped.
func (p *Proxy) Refuse() {
	p.set(func() { p.refuse = true })
	p.Drop()
}

// Delay holds each answer back for a time; 0 ends that.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Restore ends what Cut and Refuse did. Connections that lost bytes are closed, because the peers could not interpret the rest.
func (p *Proxy) Restore() {
	p.set(func() { p.silent, p.refuse = false, false })
	p.closeLinks(func(l *link) bool { return l.hurt })
}

// Drop closes every connection. New connections are accepted.
func (p *Proxy) Drop() { p.closeLinks(func(*link) bool { return true }) }

// LoseAnswers forwards the next n requests, discards the answers, and closes their connections.
func (p *Proxy) LoseAnswers(n int) { p.set(func() { p.lose = n }) }

// Connections returns the number of connections so far.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *Proxy) closeLinks(which func(*link) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if which(l) {
			l.close()
		}
	}
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	var target string
	p.set(func() {
		if !p.refuse {
			target = p.target
		}
	})
	if target == "" {
		_ = client.Close()
		return
	}
	server, err := net.Dial("tcp", target) //nolint:noctx // ends with the test
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	var filter func(client, server net.Conn)
	p.set(func() { p.links[l] = true; p.seen++; filter = p.filter })
	var both sync.WaitGroup
	both.Go(func() {
		if filter != nil {
			defer l.close()
			filter(client, server)
		} else {
			p.pump(l, server, client, p.toServer)
		}
	})
	both.Go(func() { p.pump(l, client, server, p.afterDelay) })
	both.Wait()
	p.set(func() { delete(p.links, l) })
}

// verdict is what to do with received bytes.
type verdict int

const (
	pass verdict = iota
	swallow
	end
)

// pump forwards bytes until one of the connections ends.
func (p *Proxy) pump(l *link, to io.Writer, from io.Reader, judge func(*link) verdict) {
	defer l.close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		switch judge(l) {
		case end:
			return
		case swallow:
			continue
		case pass:
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) toServer(l *link) verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent {
		l.hurt = true
		return swallow
	}
	return pass
}

// afterDelay decides about an answer once its delay has ended.
func (p *Proxy) afterDelay(l *link) verdict {
	var delay time.Duration
	p.set(func() { delay = p.delay })
	if delay > 0 {
		<-time.NewTimer(delay).C
	}
	return p.toClient(l)
}

func (p *Proxy) toClient(l *link) verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.silent:
		l.hurt = true
		return swallow
	case p.lose > 0:
		p.lose--
		return end
	}
	return pass
}
