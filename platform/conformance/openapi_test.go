package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apidoc"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/edge/transfer"
	"github.com/plaza-social/plaza/platform/region"
)

// TestEveryRegionServesTheDocument checks that every region serves the same document and the page.
func TestEveryRegionServesTheDocument(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, code := range region.All() {
		r := n.Anonymous(code).Do(t, http.MethodGet, apidoc.DocumentPath, nil).OK(t)
		require.JSONEq(t, string(apidoc.Document()), string(r.Body))
		page := n.Anonymous(code).Do(t, http.MethodGet, apidoc.PagePath, nil).OK(t)
		require.Contains(t, string(page.Body), apidoc.DocumentPath)
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "default-src 'none'")
	}
}

// TestEveryOperationIsDocumented checks that the document has every path of every RPC, every byte stream, and
// nothing else.
func TestEveryOperationIsDocumented(t *testing.T) {
	t.Parallel()
	var served []string
	for _, b := range bindings() {
		served = append(served, b.verb+" "+withoutParameterNames(b.path))
	}
	for _, s := range slices.Concat((&transfer.Files{}).Streams(), (&transfer.Exports{}).Streams(), (&transfer.Recordings{}).Streams(),
		[]edge.Stream{(&transfer.Audits{}).Stream()}) {
		served = append(served, s.Method+" "+withoutParameterNames(s.Path))
	}
	for path := range events {
		served = append(served, http.MethodGet+" "+withoutParameterNames(path))
	}
	var described []string
	for _, op := range apiDoc.operations() {
		described = append(described, op.verb+" "+withoutParameterNames(op.path))
	}
	require.ElementsMatch(t, served, described)
}

// withoutParameterNames returns a path with empty placeholders.
func withoutParameterNames(path string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(path, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString("{}")
		_, path, _ = strings.Cut(rest, "}")
	}
}

// TestDocumentedOperationsAnswer calls every documented operation at each of its paths as an authorized caller. The
// answers of this and every other test of the package are compared with the document.
func TestDocumentedOperationsAnswer(t *testing.T) {
	t.Parallel()
	g := newFixture(t, apptest.WithConfig(func(cfg *config.Config) { cfg.MediaKey = mediaSecret }))
	rows := firstRows()
	for _, op := range apiDoc.operations() {
		procedure, isRPC := op.object["x-rpc"].(string)
		if !isRPC {
			continue // a stream: TestDocumentedStreamsAnswer
		}
		t.Run(op.name(), func(t *testing.T) {
			r, known := rows[strings.TrimPrefix(procedure, "/plaza.v1.")]
			require.True(t, known)
			by, may := g.allowedCaller(t, op, r)
			answer := g.callDocumented(t, by, op, r)
			require.NoError(t, apiDoc.check(op.path, exchange{
				Method: op.verb, Path: op.path, Status: answer.Status, Body: answer.Body,
			}))
			if may {
				require.Less(t, answer.Status, 300, answer.Short())
			}
			require.NotContains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, answer.Status)
		})
	}
}

// firstRows returns for each operation its first authorization row with a caller who succeeds.
func firstRows() map[string]row {
	rows := map[string]row{}
	for _, r := range append(authorizationRows(), preparedRows()...) {
		if _, known := rows[r.procedure]; !known || !succeeds(rows[r.procedure]) && succeeds(r) {
			rows[r.procedure] = r
		}
	}
	return rows
}

func succeeds(r row) bool {
	for _, code := range r.want {
		if code == 0 {
			return true
		}
	}
	return false
}

// allowedCaller returns a caller for whom the operation succeeds, and false if there is none.
func (g *fixture) allowedCaller(t *testing.T, op documented, r row) (*apptest.Client, bool) {
	t.Helper()
	anybody := g.n.Anonymous(region.EU)
	switch security, _ := json.Marshal(op.object["security"]); string(security) {
	case `[{"apiKey":[]}]`:
		return anybody.With("X-Api-Key", g.n.APIKey), true
	case `[{"serverKey":[]}]`:
		return anybody.With("X-Server-Key", g.n.ServerKey), true
	case `[{"mediaKey":[]}]`:
		return anybody.With("X-Media-Key", mediaSecret), true
	}
	for _, w := range []principal{moderator, member, stranger, adminToken} {
		if code, asked := r.want[w]; asked && code == 0 {
			by := g.principals[w]
			if r.endsSession && by.UserID != "" {
				by = g.n.SignIn(t, by.Region, by.UserID)
			}
			return by, true
		}
	}
	return g.principals[member], false
}

// callDocumented builds the request of a row according to the document.
func (g *fixture) callDocumented(t *testing.T, by *apptest.Client, op documented, r row) *apptest.Response {
	t.Helper()
	fields := object{}
	if r.request != nil {
		text, err := json.Marshal(r.request(t, g))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &fields))
	}
	path, query := op.path, url.Values{}
	parameters, _ := op.object["parameters"].([]any)
	for _, each := range parameters {
		p := each.(object)
		name := p["name"].(string)
		switch p["in"] {
		case "path":
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(fields[name])))
			require.Contains(t, fields, name, "the row names none")
			delete(fields, name)
		case "query":
			addParameter(query, name, fields)
		}
	}
	var body any
	if op.object["requestBody"] != nil {
		body = fields
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return by.Do(t, op.verb, path, body)
}

// addParameter adds the value of a parameter such as options[limit], if fields have one.
func addParameter(query url.Values, name string, fields object) {
	var value any = fields
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' }) {
		inner, _ := value.(object)
		value = inner[part]
	}
	switch v := value.(type) {
	case nil:
	case []any:
		for _, each := range v {
			query.Add(name, fmt.Sprint(each))
		}
	case float64:
		query.Add(name, strconv.FormatFloat(v, 'f', -1, 64))
	default:
		query.Add(name, fmt.Sprint(v))
	}
}

// TestDocumentedStreamsAnswer calls the operations that are not RPCs.
func TestDocumentedStreamsAnswer(t *testing.T) {
	t.Parallel()
	caller := newUser(t, region.EU, "caller")
	samples := map[string][]byte{
		"/api/v4/images": pngOf(t, 3, 2), "/api/v4/audios": []byte(tinySound),
		"/api/v4/videos": []byte(tinyVideo), "/api/v4/clips": []byte(tinyVideo), "/api/v4/files": []byte("text"), "/api/v3/files": []byte("text"),
	}
	var fileID string
	for _, op := range apiDoc.operations() {
		switch {
		case op.object["x-rpc"] != nil:
		case op.verb == http.MethodPost:
			require.Contains(t, samples, op.path)
			r := caller.UploadTo(t, op.path, "name", samples[op.path]).OK(t)
			if op.path == "/api/v4/images" {
				fileID = r.String(t, "0.fileId")
			}
		case strings.HasPrefix(op.path, "/realtime/"):
			caller.Listen(t, strings.Replace(op.path, "{event}", "post.created", 1), "").Close()
		}
	}
	apptest.Shared(t).Admin(region.US).Do(t, http.MethodGet, auditPath+"/export?targetType=user&targetId="+caller.UserID, nil).OK(t)
	caller.Do(t, http.MethodGet, "/api/v3/files/"+fileID+"/download?size=small", nil).OK(t)
	part := caller.With("Range", "bytes=0-3").Do(t, http.MethodGet, "/api/v3/files/"+fileID+"/download", nil)
	require.Equal(t, http.StatusPartialContent, part.Status)
	message := sendImage(t, caller, newChatOf(t, caller, nil).id, fileID)
	caller.Do(t, http.MethodGet, addressIn(t, caller, messagesPath+"/"+message, fileID), nil).OK(t)
	require.Empty(t, slices.DeleteFunc(apiDoc.operations(), func(op documented) bool {
		// By TestUserExport.
		return op.object["x-rpc"] != nil || apiDoc.successes(op.name()) > 0 || strings.HasSuffix(op.path, "/export/archive") ||
			strings.Contains(op.path, "/recorded/{playbackId}/") // by TestRoomRecordings
	}), "an operation that no test called")
}

func (d *apiDocument) successes(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answered[name]
}

func (d *apiDocument) refusals(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused[name]
}

// TestDocumentIsStrict checks that the comparison finds undocumented answers.
func TestDocumentIsStrict(t *testing.T) {
	t.Parallel()
	const path = "/api/v3/users/{userId}"
	answer := func(status int, body string) error {
		return apiDoc.check(path, exchange{Method: http.MethodGet, Path: path, Status: status, Body: []byte(body)})
	}
	require.NoError(t, answer(404, `{"status": "error", "code": 400400, "message": "Resource Not Found."}`))
	require.ErrorContains(t, answer(404, `{"status": "error", "code": 400300, "message": "x"}`), "code")
	require.ErrorContains(t, answer(418, `{}`), "not documented")
	require.ErrorContains(t, answer(200, `{"users": [], "files": [], "more": []}`), "more")
	require.ErrorContains(t, answer(200, `{"users": [{}], "files": []}`), "userId")
	require.ErrorContains(t, answer(200, `"text"`), "object")
}
