package realtime

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// upgrader opens connections by WebSocket. Their buffers are small, and those for writing are shared, because most
// connections are idle.
var upgrader = websocket.Upgrader{
	Subprotocols:    []string{"mqtt"},
	ReadBufferSize:  mqttBuffer,
	WriteBufferSize: mqttBuffer,
	WriteBufferPool: &sync.Pool{},
	// The token is in a packet, not in a cookie, so a page of another origin gains nothing.
	CheckOrigin: func(*http.Request) bool { return true },
}

// socket is the stream of bytes in the binary messages of a WebSocket.
type socket struct {
	*websocket.Conn
	address string        // of the client
	timeout time.Duration // of a write
	message io.Reader     // the rest of the message that is being read; nil between messages
	writing sync.Mutex    // serializes writes and their deadlines
}

var errNotBinary = errors.New("a message of MQTT must be binary")

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	for {
		if s.message == nil {
			kind, message, err := s.NextReader()
			if err != nil {
				return 0, err
			}
			if kind != websocket.BinaryMessage {
				return 0, errNotBinary
			}
			s.message = message
		}
		n, err := s.message.Read(p)
		if errors.Is(err, io.EOF) {
			s.message, err = nil, nil
			if n == 0 {
				continue
			}
		}
		return n, err
	}
}

// Write implements net.Conn. It fails if the client does not read within the timeout.
func (s *socket) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return 0, err
	}
	if err := s.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// SetDeadline sets the deadline of reads. Each write has its own.
func (s *socket) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

var _ net.Conn = (*socket)(nil)
