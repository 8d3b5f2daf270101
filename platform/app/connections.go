package app

import (
	"net"
	"sync"
)

// limitedListener accepts a connection when there are fewer than the maximum. Its connections are still TCP connections
// to net/http, unlike those of netutil.LimitListener: net/http closes them in a way that lets the client read the
// response to a request that was not read to its end.
type limitedListener struct {
	net.Listener
	open      chan struct{} // an element for each connection
	closed    chan struct{}
	closeOnce func()
}

func limitConnections(l net.Listener, maximum int) *limitedListener {
	closed := make(chan struct{})
	return &limitedListener{
		Listener: l, open: make(chan struct{}, maximum), closed: closed, closeOnce: sync.OnceFunc(func() { close(closed) }),
	}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	release := sync.OnceFunc(func() { <-l.open })
	tcp, isTCP := conn.(*net.TCPConn)
	if err != nil || !isTCP {
		release()
		return conn, err
	}
	return &limitedConn{TCPConn: tcp, release: release}, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.closeOnce()
	return l.Listener.Close()
}

// limitedConn is a connection that makes way for another one when it is closed.
type limitedConn struct {
	*net.TCPConn
	release func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
