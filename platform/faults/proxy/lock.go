package proxy

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Lock makes the reads of a row wait, as CockroachDB does while a transaction has locked it. PostgreSQL never lets a read wait for the
// lock of a row.
type Lock struct {
	text     []byte        // the argument of the statements that read the row
	limit    time.Duration // lock_timeout of the sessions
	unlocked chan struct{}
	unlock   sync.Once
	refused  atomic.Int64
}

// ReadMessages makes the proxy read the statements of new connections, which LockReads requires. Such a proxy does not simulate failures
// of the network.
func (p *Proxy) ReadMessages() *Proxy {
	p.set(func() { p.reads = true })
	return p
}

// LockReads makes the statements outside of transactions that have text as an argument wait until Unlock, each for at most limit. They
// then fail as those whose lock_timeout has ended.
func (p *Proxy) LockReads(text string, limit time.Duration) *Lock {
	l := &Lock{text: []byte(text), limit: limit, unlocked: make(chan struct{})}
	p.set(func() { p.lock = l })
	return l
}

// Unlock ends the waiting.
func (l *Lock) Unlock() { l.unlock.Do(func() { close(l.unlocked) }) }

// Refused returns how many statements have failed so far.
func (l *Lock) Refused() int64 { return l.refused.Load() }

// admits waits for a batch of messages, and reports whether they may be sent.
func (l *Lock) admits() bool {
	select {
	case <-l.unlocked:
		return true
	case <-time.NewTimer(l.limit).C:
		l.refused.Add(1)
		return false
	}
}

// The types of the messages that a client sends, see the documentation of PostgreSQL's protocol.
const (
	messageParse = 'P'
	messageBind  = 'B'
	messageSync  = 'S'
)

// session reads the messages of a client.
type session struct {
	client     net.Conn
	server     net.Conn
	lock       func() *Lock
	statements map[string]string // prepared statements by name
	batch      []byte            // messages up to the next Sync
	begins     bool              // the batch begins a transaction
	bound      []byte            // the Bind messages of the batch
}

// pumpMessages forwards the messages of a client until one of the connections ends.
func (p *Proxy) pumpMessages(l *link) {
	defer l.close()
	s := session{client: l.client, server: l.server, statements: map[string]string{}, lock: func() (lock *Lock) {
		p.set(func() { lock = p.lock })
		return lock
	}}
	s.forward()
}

// forward forwards the messages of a client until the connection ends. The messages up to a Sync are forwarded together.
func (s *session) forward() {
	header := make([]byte, 4)
	if s.copyBody(header, nil) != nil { // the startup message has no type
		return
	}
	for {
		kind := make([]byte, 1, 5)
		if _, err := io.ReadFull(s.client, kind); err != nil {
			return
		}
		if s.copyBody(header, kind) != nil {
			return
		}
	}
}

// copyBody reads the length and the body of a message, whose type is prefix, and forwards or keeps it.
func (s *session) copyBody(header, prefix []byte) error {
	if _, err := io.ReadFull(s.client, header); err != nil {
		return err
	}
	body := make([]byte, max(0, int(binary.BigEndian.Uint32(header))-len(header)))
	if _, err := io.ReadFull(s.client, body); err != nil {
		return err
	}
	message := append(append(prefix, header...), body...)
	if len(prefix) == 0 {
		_, err := s.server.Write(message)
		return err
	}
	return s.message(prefix[0], message, body)
}

func (s *session) message(kind byte, message, body []byte) error {
	s.batch = append(s.batch, message...)
	switch kind {
	case messageParse:
		name, rest, _ := bytes.Cut(body, []byte{0})
		text, _, _ := bytes.Cut(rest, []byte{0})
		s.statements[string(name)] = string(text)
		return nil
	case messageBind:
		_, rest, _ := bytes.Cut(body, []byte{0}) // the portal
		name, arguments, _ := bytes.Cut(rest, []byte{0})
		s.begins = s.begins || strings.HasPrefix(s.statements[string(name)], "BEGIN")
		s.bound = append(s.bound, arguments...)
		return nil
	case 'D', 'E', 'C': // Describe, Execute and Close
		return nil
	}
	return s.flush(kind)
}

// flush forwards the batch, or answers it with an error.
func (s *session) flush(kind byte) (err error) {
	l := s.lock()
	if kind == messageSync && l != nil && !s.begins && bytes.Contains(s.bound, l.text) && !l.admits() {
		answer, _ := (&pgproto3.ErrorResponse{Severity: "ERROR", Code: "55P03", Message: "canceling statement due to lock timeout"}).Encode(nil)
		answer, _ = (&pgproto3.ReadyForQuery{TxStatus: 'I'}).Encode(answer)
		_, err = s.client.Write(answer)
	} else {
		_, err = s.server.Write(s.batch)
	}
	s.batch, s.bound, s.begins = nil, nil, false
	return err
}
