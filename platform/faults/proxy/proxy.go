// Package proxy stands between a server under test and its database, and takes part of the network away.
package proxy

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy passes connections on to one address, until it is told otherwise. Safe for use by several goroutines.
type Proxy struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	silent bool
	lose   int
	links  map[*link]bool
	seen   int
}

// link is one connection and its other half.
type link struct {
	client, server net.Conn
	hurt           bool // bytes of it are gone: it cannot go on
}

// New starts a proxy to the host of a database URL. It ends with the test.
func New(t testing.TB, databaseURL string) *Proxy {
	t.Helper()
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{listener: l, target: u.Host, links: map[*link]bool{}}
	go p.accept()
	t.Cleanup(func() {
		_ = l.Close()
		p.Drop()
	})
	return p
}

// Through returns databaseURL by way of the proxy.
func (p *Proxy) Through(databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		panic(err) // New read one like it
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

// Aim makes new connections go to the host of another database URL.
func (p *Proxy) Aim(t testing.TB, databaseURL string) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	p.set(func() { p.target = u.Host })
}

// Cut makes the proxy swallow every byte, in both directions, of connections old and new: nobody is told, nothing
// arrives, as when a region is lost.
func (p *Proxy) Cut() { p.set(func() { p.silent = true }) }

// Restore ends what Cut did. Connections that lost bytes meanwhile are closed: the peers could not make sense of the rest.
func (p *Proxy) Restore() {
	p.set(func() { p.silent = false })
	p.closeLinks(func(l *link) bool { return l.hurt })
}

// Drop closes every connection; new ones are accepted.
func (p *Proxy) Drop() { p.closeLinks(func(*link) bool { return true }) }

// LoseAnswers lets the next n requests through, keeps the answers, and closes their connections.
func (p *Proxy) LoseAnswers(n int) { p.set(func() { p.lose = n }) }

// Connections returns how many connections were ever made.
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
	p.set(func() { target = p.target })
	server, err := net.Dial("tcp", target) //nolint:noctx // ends with the test
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	p.set(func() { p.links[l] = true; p.seen++ })
	var both sync.WaitGroup
	both.Go(func() { p.pump(l, server, client, p.toServer) })
	both.Go(func() { p.pump(l, client, server, p.toClient) })
	both.Wait()
	p.set(func() { delete(p.links, l) })
}

// verdict is what becomes of bytes that arrived.
type verdict int

const (
	pass verdict = iota
	swallow
	end
)

// pump moves bytes until one of the connections ends.
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
