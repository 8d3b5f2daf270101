package edge

import (
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/fail"
)

// realtimePrefix is where streams of events are.
const realtimePrefix = "/realtime/"

// Realtime serves answers that have no end: streams of events, text/event-stream. They pass neither vanguard nor connect, and no time limit of
// requests holds for them.
type Realtime interface {
	// Known reports whether there is a stream of a name, the last part of its path.
	Known(name string) bool
	// Serve answers until the client goes. An error, of package fail or not, is a refusal; nothing was written then.
	Serve(w http.ResponseWriter, r *http.Request, name string) error
}

// MarshalJSON writes a message as the interface does: the same text as in a REST answer, on one line.
func MarshalJSON(m proto.Message) ([]byte, error) { return appendMessage(nil, m.ProtoReflect()) }

// isRealtime reports whether a request is for the streams.
func (e *edge) isRealtime(request *http.Request) bool {
	return e.realtime != nil && strings.HasPrefix(request.URL.Path, realtimePrefix)
}

// serveRealtime answers with a stream. It is counted when it ends, among the requests but neither by its time nor among
// those that are being answered: streams are as long as clients like.
func (e *edge) serveRealtime(ex *exchange, request *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(request.URL.Path, realtimePrefix), "/")
	switch {
	case !e.realtime.Known(name):
		ex.refuseUnread(request, refuse(fail.NotFound()))
		return
	case request.Method != http.MethodGet:
		ex.Header().Set("Allow", http.MethodGet)
		ex.refuseUnread(request, refusal{Error: fail.BadRequest(), status: http.StatusMethodNotAllowed})
		return
	}
	ex.procedure = realtimePrefix + name
	parametersToHeaders(request)
	e.metrics.inFlight.Dec()
	defer e.metrics.inFlight.Inc()
	err := e.realtime.Serve(ex, request, name)
	if err == nil {
		return
	}
	f := &failures{log: e.log}
	if clientGone(request.Context(), err) {
		ex.clientGone = true
		return
	}
	failed := failureOf(request.Context(), ex.procedure, err)
	f.logOnce(request.Context(), ex.procedure, failed, err)
	ex.refuse(refuse(failed))
}

// parametersToHeaders lets a browser's EventSource, which sends no headers of its own, say as parameters what others say
// as headers. Nothing behind sees the query, and no log ever does.
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
	address.RawQuery = ""
	request.URL, request.RequestURI = &address, address.Path
}
