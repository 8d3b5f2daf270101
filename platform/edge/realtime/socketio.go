package realtime

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// Packets of socket.io, which are messages (4) of engine.io.
const (
	socketIODisconnect   = "41"
	socketIOConnectError = `44{"message":"Events are available by MQTT at the path /mqtt"}`
)

// socketIO answers a client of socket.io. Older builds of the public clients try socket.io in addition to MQTT, without end. The end of
// the session that each version of the protocol provides ends the attempts, and the clients work without it.
type socketIO struct {
	w         http.ResponseWriter
	r         *http.Request
	admission time.Duration // see limits.Limits.Admission
}

// ServeSocketIO answers a request of a client of socket.io, by WebSocket or polling, so that the client does not try again.
func (h *Hub) ServeSocketIO(w http.ResponseWriter, r *http.Request) {
	s := socketIO{w, r, h.limits().Admission}
	switch {
	case websocket.IsWebSocketUpgrade(r):
		s.serveWebSocket()
	case r.Method == http.MethodGet:
		s.poll()
	default:
		s.answer("ok")
	}
}

// current reports whether the client uses version 4 of engine.io, in which the client asks for a session before the server may end it.
func (s socketIO) current() bool { return s.r.URL.Query().Get("EIO") == "4" }

// open returns the first packet of a connection.
func (s socketIO) open() string {
	return fmt.Sprintf(`0{"sid":%q,"upgrades":[],"pingInterval":25000,"pingTimeout":5000,"maxPayload":%d}`, rand.Text(), maxMQTTPacket)
}

func (s socketIO) serveWebSocket() {
	ws, err := upgrader.Upgrade(s.w, s.r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer func() { _ = ws.Close() }()
	ws.SetReadLimit(maxMQTTPacket)
	_ = ws.SetReadDeadline(time.Now().Add(s.admission))
	_ = ws.SetWriteDeadline(time.Now().Add(s.admission))
	send := func(packet string) { _ = ws.WriteMessage(websocket.TextMessage, []byte(packet)) }
	send(s.open())
	if s.current() {
		_, _, _ = ws.ReadMessage()
		send(socketIOConnectError)
	} else {
		send(socketIODisconnect)
	}
	_, _, _ = ws.ReadMessage() // until the client closes the connection
}

// poll answers a request for packets.
func (s socketIO) poll() {
	begins := s.r.URL.Query().Get("sid") == ""
	switch {
	case s.current() && begins:
		s.answer(s.open())
	case s.current():
		s.answer(socketIOConnectError)
	case begins:
		s.answer(framed(s.open(), socketIODisconnect))
	default:
		s.answer(framed(socketIODisconnect))
	}
}

// framed returns packets, which are ASCII, in the encoding of versions before 4.
func framed(packets ...string) string {
	var b strings.Builder
	for _, p := range packets {
		b.WriteString(strconv.Itoa(len(p)) + ":" + p)
	}
	return b.String()
}

func (s socketIO) answer(text string) {
	s.w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	s.w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(s.w, text)
}
