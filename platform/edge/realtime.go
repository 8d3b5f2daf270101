package edge

import (
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/fail"
)

// realtimePrefix is the path prefix of event streams.
const realtimePrefix = "/realtime/"

// Realtime serves event streams (text/event-stream). They have no time limit.
type Realtime interface {
	// Label returns the name by which metrics count the stream with this name, the last part of its path; empty if there is none.
	Label(name string) string
	// Serve streams events until the client disconnects. It must not return an error after it has written anything.
	Serve(w http.ResponseWriter, r *http.Request, name string) error
	// ServeMQTT serves MQTT over WebSocket until the client disconnects, and answers other requests.
	ServeMQTT(w http.ResponseWriter, r *http.Request)
	// ServeSocketIO tells a client of socket.io to stop trying.
	ServeSocketIO(w http.ResponseWriter, r *http.Request)
}

const (
	// mqttPath is the path of MQTT over WebSocket.
	mqttPath = "/mqtt"
	// socketIOPath is the path of clients of socket.io.
	socketIOPath = "/socket.io"
)

// serveMQTT serves a connection by MQTT. It is not in flight, and its duration is not observed, because clients decide how
// long it lasts.
func (e *edge) serveMQTT(w *responseWriter, request *http.Request) {
	w.procedure = mqttPath
	w.writeTimeout, w.memory = 0, nil
	e.metrics.inFlight.Dec()
	defer e.metrics.inFlight.Inc()
	e.realtime.ServeMQTT(w, request)
}

// serveSocketIO answers a client of socket.io.
func (e *edge) serveSocketIO(w *responseWriter, request *http.Request) {
	w.procedure = socketIOPath
	w.writeTimeout, w.memory = 0, nil
	e.realtime.ServeSocketIO(w, request)
}

// MarshalJSON returns the JSON of a message as in REST responses.
func MarshalJSON(m proto.Message) ([]byte, error) { return appendMessage(nil, m) }

// isRealtime reports whether a request is for an event stream.
func (e *edge) isRealtime(request *http.Request) bool {
	return e.realtime != nil && strings.HasPrefix(request.URL.Path, realtimePrefix)
}

// serveRealtime serves an event stream. Metrics count it when it ends. It is not in flight, and its duration is not
// observed, because clients decide how long it lasts.
func (e *edge) serveRealtime(w *responseWriter, request *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(request.URL.Path, realtimePrefix), "/")
	label := e.realtime.Label(name)
	switch {
	case label == "":
		w.rejectUnread(request, newHTTPError(fail.NotFound()))
		return
	case request.Method != http.MethodGet:
		w.rejectMethod(request, http.MethodGet)
		return
	}
	w.procedure = realtimePrefix + label
	parametersToHeaders(request)
	w.writeTimeout, w.memory = 0, nil
	e.metrics.inFlight.Dec()
	defer e.metrics.inFlight.Inc()
	if err := e.openStream(w, request, name); err != nil {
		_ = e.failures.mapError(request.Context(), w.procedure, err) // which sets w.failure or w.clientGone
	}
	if w.failure != nil {
		w.writeError(newHTTPError(w.failure))
	}
}

// openStream serves a stream, which the rate limit of its user counts as one request.
func (e *edge) openStream(w *responseWriter, request *http.Request, name string) error {
	if e.limits != nil {
		if _, err := e.limits.AdmitRequest(request.Context(), request.Header); err != nil {
			return err
		}
	}
	return e.realtime.Serve(w, request, name)
}

// parametersToHeaders moves credentials and the last event id from the query to headers, because the EventSource of
// browsers cannot set headers. Of the query it leaves what names the events of the stream, which may be logged.
func parametersToHeaders(request *http.Request) {
	query := request.URL.Query()
	request.Header = request.Header.Clone()
	if token := query.Get("access_token"); token != "" && request.Header.Get("Authorization") == "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if id := query.Get("lastEventId"); id != "" && request.Header.Get("Last-Event-Id") == "" {
		request.Header.Set("Last-Event-Id", id)
	}
	address := *request.URL
	address.RawQuery = url.Values{"event": query["event"], "topic": query["topic"]}.Encode()
	request.URL, request.RequestURI = &address, address.Path
}
