//go:build faults

package faults

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

// rowLock makes the reads of a row wait, as CockroachDB does while a transaction has locked it. PostgreSQL never lets a read wait for the
// lock of a row. It is a filter of a proxy.
type rowLock struct {
	mu       sync.Mutex
	text     []byte        // the argument of the statements that read the row; empty before set
	limit    time.Duration // lock_timeout of the sessions
	unlocked chan struct{}
	once     sync.Once
	failed   atomic.Int64
}

func newRowLock(limit time.Duration) *rowLock {
	return &rowLock{limit: limit, unlocked: make(chan struct{})}
}

// set makes the statements outside of transactions that have text as an argument wait until unlock, each for at most limit. They then
// fail as those whose lock_timeout has ended.
func (l *rowLock) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = []byte(text)
}

// unlock ends the waiting.
func (l *rowLock) unlock() { l.once.Do(func() { close(l.unlocked) }) }

// refused returns how many statements have failed so far.
func (l *rowLock) refused() int64 { return l.failed.Load() }

// admits waits for a batch of messages with arguments, and reports whether they may be sent.
func (l *rowLock) admits(arguments []byte) bool {
	l.mu.Lock()
	text := l.text
	l.mu.Unlock()
	if len(text) == 0 || !bytes.Contains(arguments, text) {
		return true
	}
	select {
	case <-l.unlocked:
		return true
	case <-time.NewTimer(l.limit).C:
		l.failed.Add(1)
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
	lock       *rowLock
	statements map[string]string // prepared statements by name
	batch      []byte            // messages up to the next Sync
	begins     bool              // the batch begins a transaction
	bound      []byte            // the Bind messages of the batch
}

// filter forwards the messages of a client until one of the connections ends.
func (l *rowLock) filter(client, server net.Conn) {
	s := session{client: client, server: server, lock: l, statements: map[string]string{}}
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
	if kind == messageSync && !s.begins && !s.lock.admits(s.bound) {
		answer, _ := (&pgproto3.ErrorResponse{Severity: "ERROR", Code: "55P03", Message: "canceling statement due to lock timeout"}).Encode(nil)
		answer, _ = (&pgproto3.ReadyForQuery{TxStatus: 'I'}).Encode(answer)
		_, err = s.client.Write(answer)
	} else {
		_, err = s.server.Write(s.batch)
	}
	s.batch, s.bound, s.begins = nil, nil, false
	return err
}
