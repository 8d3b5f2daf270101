package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/vanguard"

	"github.com/plaza-social/plaza/platform/fail"
)

// restFront takes REST requests from public clients as they come, and hands them to vanguard as vanguard wants them.
type restFront struct {
	routes      *routes
	transcoder  http.Handler
	maxBody     int64
	bodyTimeout time.Duration
	log         *slog.Logger
}

func (f *restFront) ServeHTTP(ex *exchange, request *http.Request) {
	method := request.Method
	if method == http.MethodHead {
		method = http.MethodGet // the server itself leaves out the body
	}
	path := restPath(request.URL)
	found, allowed := f.routes.match(method, path)
	switch {
	case found == nil && allowed == nil:
		ex.refuseUnread(request, refuse(fail.NotFound()))
		return
	case found == nil:
		ex.Header().Set("Allow", strings.Join(allowed, ", "))
		ex.refuseUnread(request, refusal{Error: fail.BadRequest(), status: http.StatusMethodNotAllowed})
		return
	}
	ex.procedure = found.procedure
	ex.route = found
	found.outdated.say(ex.Header())
	if found.stream != nil {
		f.serveStream(ex, request, found, path)
		return
	}
	query, bad := restQuery(request.URL.RawQuery, found)
	if bad != nil {
		ex.refuseUnread(request, refuse(bad))
		return
	}
	body, r := readBody(ex.ResponseWriter, request, f.maxBody, f.bodyTimeout)
	if r != nil {
		ex.refuseUnread(request, *r)
		return
	}
	defer releaseBody(body)
	f.transcode(ex, request, found, method, path, query, body)
}

func (f *restFront) transcode(
	ex *exchange, request *http.Request, to *route, method, path, query string, body *bytes.Buffer,
) {
	content, query, bad := contentOf(body.Bytes(), query, to, method)
	if bad != nil {
		ex.refuse(refuse(bad))
		return
	}
	request.Method = method
	request.URL = &url.URL{Path: path, RawQuery: query}
	request.Body, request.ContentLength = http.NoBody, 0
	if len(content) > 0 {
		request.Body, request.ContentLength = &contentBody{Reader: bytes.NewReader(content)}, int64(len(content))
	}
	restHeaders(request.Header)
	ex.transcoding = true
	f.transcoder.ServeHTTP(ex, request)
	ex.transcoding = false
	if ex.held != nil {
		f.answerHeld(request, ex)
	}
}

// contentOf decides what of a body goes on. An operation with a body gets an object even where there is no body at all;
// one without gets none, except that a DELETE says the same in a body as in its query.
func contentOf(body []byte, query string, to *route, method string) ([]byte, string, *fail.Error) {
	switch {
	case to.hasBody && len(body) == 0:
		return []byte("{}"), query, nil
	case len(body) > 0 && body[0] == handoffMark:
		return nil, "", fail.BadRequest()
	case to.hasBody:
		return body, query, nil
	case method == http.MethodDelete && len(body) > 0:
		query, err := queryOfBody(body, query, to)
		return nil, query, err
	}
	return nil, query, nil
}

// queryOfBody appends the fields of a JSON object to query.
func queryOfBody(body []byte, query string, to *route) (string, *fail.Error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		return "", fail.BadRequest()
	}
	object, ok := value.(map[string]any)
	if !ok {
		return "", fail.Validation("body: must be an object")
	}
	parameters := url.Values{}
	flatten(parameters, "", object)
	fromBody, err := restQuery(parameters.Encode(), &route{inPath: to.inPath})
	if err != nil || fromBody == "" {
		return query, err
	}
	if query != "" {
		fromBody += "&" + query
	}
	return fromBody, nil
}

func flatten(parameters url.Values, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			flatten(parameters, joined(path, name), inner)
		}
	case []any:
		for _, inner := range v {
			flatten(parameters, path, inner)
		}
	case string:
		parameters.Add(path, v)
	case json.Number:
		parameters.Add(path, v.String())
	case bool:
		parameters.Add(path, strconv.FormatBool(v))
	}
}

// restHeaders makes what a client says about its body irrelevant: it is JSON. Headers by which vanguard would take the
// request for another protocol, or obey a client's time limit, go.
func restHeaders(header http.Header) {
	gzipped := acceptsGzip(header.Get("Accept-Encoding"))
	for _, name := range []string{
		"Accept-Encoding", "Content-Encoding", "Content-Length",
		"Connect-Protocol-Version", "Connect-Timeout-Ms", "X-Server-Timeout",
	} {
		delete(header, name)
	}
	if gzipped {
		header["Accept-Encoding"] = []string{compressionGzip}
	}
	header["Content-Type"] = []string{"application/json"}
}

// answerHeld writes the error body for an error that came through vanguard.
func (f *restFront) answerHeld(request *http.Request, ex *exchange) {
	switch {
	case ex.Header().Get("Content-Type") == "application/json":
	case ex.status == http.StatusNotFound:
		ex.refuse(refuse(fail.NotFound()))
		return
	default: // vanguard found no way into an operation
		ex.refuse(refuse(fail.BadRequest()))
		return
	}
	r, known := refusalOfStatus(ex.held.Bytes(), ex.route.input)
	if !known {
		f.log.LogAttrs(request.Context(), slog.LevelError, "request failed",
			slog.String("procedure", ex.procedure), slog.String("error", r.Error.Error()))
	}
	ex.refuse(r)
}

// contentBody is a request body that is in memory.
type contentBody struct{ *bytes.Reader }

func (contentBody) Close() error { return nil }

// behindVanguard is what vanguard calls: a connect handler, guarded against two habits of vanguard.
//
// vanguard decodes a request while the handler reads it; where that fails it answers the client and gives the handler
// an empty body, which must not run as a request without fields: the body fails once vanguard has answered. And while a
// panic passes through it, vanguard completes the answer as a success: it gets nobody to say that to.
func behindVanguard(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		ex := exchangeFrom(request.Context())
		returned := false
		defer func() {
			if !returned && ex.held == nil {
				ex.held = new(bytes.Buffer)
			}
		}()
		request.Body = &answeredBody{ReadCloser: request.Body, ex: ex}
		handler.ServeHTTP(w, request)
		returned = true
	})
}

var errAnswered = errors.New("the request could not be decoded, and is answered")

type answeredBody struct {
	io.ReadCloser
	ex *exchange
}

func (b *answeredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.ex.held != nil {
		return 0, errAnswered
	}
	return n, err
}

// newTranscoder makes the vanguard side of REST for the handlers by service name.
func newTranscoder(handlers map[string]http.Handler, codec restCodec) (http.Handler, error) {
	services := make([]*vanguard.Service, 0, len(handlers))
	for name, handler := range handlers {
		services = append(services, vanguard.NewService(name, behindVanguard(handler)))
	}
	return vanguard.NewTranscoder(services,
		vanguard.WithCodec(func(vanguard.TypeResolver) vanguard.Codec { return codec }),
		vanguard.WithCompression(compressionGzip, newCompressor, newDecompressor),
		vanguard.WithDefaultServiceOptions(
			vanguard.WithTargetProtocols(vanguard.ProtocolConnect),
			vanguard.WithTargetCodecs(codecJSON),
			vanguard.WithRESTUnmarshalOptions(vanguard.RESTUnmarshalOptions{DiscardUnknownQueryParams: true}),
		),
	)
}
