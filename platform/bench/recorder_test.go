package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
)

// recorder is a database proxy that records which statements of package store are sent.
type recorder struct {
	url    string // URL of the database through the recorder
	target string // host:port
	names  map[string]string
	mu     sync.Mutex
	sent   []string
}

// start serves until the test ends and returns the URL of the database through the recorder. It is called once per
// server.
func (r *recorder) start(t testing.TB, database string) string {
	t.Helper()
	if r.url != "" {
		return r.url
	}
	u, err := url.Parse(database)
	require.NoError(t, err)
	r.names = map[string]string{}
	for _, s := range store.Statements() {
		r.names[s.SQL] = s.Name
	}
	l := listenLocal(t)
	t.Cleanup(func() { _ = l.Close() })
	r.target, u.Host = u.Host, l.Addr().String()
	r.url = u.String()
	go r.serve(l)
	return r.url
}

func (r *recorder) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go r.connect(client)
	}
}

func (r *recorder) connect(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := new(net.Dialer).Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	_ = r.forward(client, server)
}

// forward copies messages and records those that run a statement. The first message has no type.
func (r *recorder) forward(client io.Reader, server io.Writer) error {
	prepared := map[string]string{}
	for first := true; ; first = false {
		head := make([]byte, 5)
		if first {
			head = head[:4]
		}
		if _, err := io.ReadFull(client, head); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if !first {
			r.note(head[0], body, prepared)
		}
		if _, err := server.Write(slices.Concat(head, body)); err != nil {
			return err
		}
	}
}

// note parses Parse ('P': name, text, …) and Bind ('B': portal, name, …) messages.
func (r *recorder) note(kind byte, body []byte, prepared map[string]string) {
	fields := bytes.SplitN(body, []byte{0}, 3)
	switch kind {
	case 'P':
		prepared[string(fields[0])] = string(fields[1])
	case 'B':
		if name := r.names[prepared[string(fields[1])]]; name != "" {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.sent = append(r.sent, name)
		}
	}
}

// take returns the statements since the last call.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// attempts is how often an operation is sent to a server. Statements that fill a cache are sent by some attempts only.
const attempts = 4

// ofOperation returns the names of the statements that a server sends for op each time, sorted.
func (r *recorder) ofOperation(t testing.TB, op *operation, c *client) []string {
	t.Helper()
	sent := r.ofAttempt(t, op, c)
	for range attempts - 1 {
		sent = intersection(sent, r.ofAttempt(t, op, c))
	}
	return sent
}

// isDelivery reports whether a statement delivers rows of the outbox, which happens after the answer.
func isDelivery(name string) bool {
	return strings.HasPrefix(name, "realtime.") || strings.HasPrefix(name, "outbox.") && name != "outbox.add"
}

// ofAttempt sends op once and returns the names of its statements, sorted.
func (r *recorder) ofAttempt(t testing.TB, op *operation, c *client) []string {
	t.Helper()
	r.take()
	_, err := answerOf(op, c, op.request(0))
	require.NoError(t, err)
	sent := slices.DeleteFunc(r.take(), isDelivery)
	slices.Sort(sent)
	return sent
}

// intersection returns the elements of both a and b, each as often as both contain it. a and b must be sorted.
func intersection(a, b []string) []string {
	var both []string
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case 0:
			both, a, b = append(both, a[0]), a[1:], b[1:]
		case -1:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return both
}

func TestIntersection(t *testing.T) {
	for name, c := range map[string]struct{ a, b, want []string }{
		"equal":     {[]string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"}},
		"more in a": {[]string{"a", "x", "y"}, []string{"a"}, []string{"a"}},
		"more in b": {[]string{"b"}, []string{"a", "b", "c"}, []string{"b"}},
		"twice":     {[]string{"a", "a", "b"}, []string{"a", "a", "a", "b"}, []string{"a", "a", "b"}},
		"nothing":   {[]string{"a"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, intersection(c.a, c.b)) })
	}
}
