package main

import (
	"net/http"
	"strconv"

	"github.com/plaza-social/plaza/platform/fail"
)

// failure is how operations fail with one HTTP status.
type failure struct {
	status      int
	name        string // of the component
	description string
	errors      []*fail.Error
}

// failures are the errors of the interface by their status. platform/edge decides which status goes with which code; the
// test that holds the document against the running server holds this table, too.
var failures = []failure{
	{http.StatusBadRequest, "BadRequest", "The request is no JSON, does not fit the state of what it is about, or holds a text that the moderation lists refuse.", []*fail.Error{
		fail.BadRequest(), fail.New(fail.CodeBadRequest, "The poll is closed"),
		fail.WordBlocked(), fail.LinkNotAllowed("evil.example"),
	}},
	{http.StatusUnauthorized, "Unauthorized", "No credentials, or credentials that do not hold.", []*fail.Error{fail.Unauthorized()}},
	{http.StatusForbidden, "Forbidden", "The caller may not do this, or nobody may as things are.", []*fail.Error{
		fail.NotAllowed(), fail.FlagLimit(), fail.PermissionDenied(), fail.Banned(), fail.GlobalBan(),
		fail.AlreadyExists("A community with this name already exists"),
		fail.UserMuted(), fail.ChannelMuted(), fail.TooManyMembers(),
		fail.New(fail.CodeMaxBlocked, "The maximum number of blocked users is reached"),
	}},
	{http.StatusNotFound, "NotFound", "There is no such thing, or none that the caller may know of.", []*fail.Error{fail.NotFound()}},
	{http.StatusRequestTimeout, "Timeout", "The body stopped arriving.", []*fail.Error{fail.BadRequest()}},
	{http.StatusConflict, "Conflict", "Somebody else changed the same thing meanwhile: try again.", []*fail.Error{fail.Conflict()}},
	{http.StatusRequestEntityTooLarge, "TooLarge", "The body is larger than the server takes.", []*fail.Error{fail.TooLarge(1 << 20)}},
	{http.StatusUnprocessableEntity, "Invalid", "A parameter is out of its bounds; `data.detail` has a line for each.", []*fail.Error{
		fail.Validation("options.limit: must be greater than or equal to 1 and less than or equal to 100"),
	}},
	{http.StatusTooManyRequests, "TooMany", "More at once than the network allows.", []*fail.Error{
		fail.New(fail.CodeRateLimited, "Too many streams"),
	}},
	{http.StatusInternalServerError, "Unexpected", "A fault of the server.", []*fail.Error{fail.Unexpected(nil)}},
	{http.StatusServiceUnavailable, "Unavailable", "The home region of what it is about does not answer, or not in time.", []*fail.Error{
		fail.Unavailable("home region eu did not answer in time", nil),
	}},
}

// failureOf is a reference to the component of a status.
func failureOf(status int) any {
	for _, f := range failures {
		if f.status == status {
			return map[string]string{"$ref": "#/components/responses/" + f.name}
		}
	}
	panic("no component for the status " + strconv.Itoa(status))
}

// failureComponents are the responses, each with an example a sentence.
func failureComponents() map[string]any {
	all := map[string]any{}
	for _, f := range failures {
		var codes []any
		examples := map[string]any{}
		for _, e := range f.errors {
			codes = append(codes, int(e.Code))
			examples[e.Message] = map[string]any{"value": errorExample(e)}
		}
		all[f.name] = response{Description: f.description, Content: map[string]mediaType{"application/json": {
			Schema: &schema{Ref: "#/components/schemas/Error", Properties: properties{
				{"code", &schema{Type: "integer", Enum: unique(codes)}},
			}},
			Examples: examples,
		}}}
	}
	return all
}

func errorExample(e *fail.Error) map[string]any {
	body := map[string]any{"status": "error", "code": int(e.Code), "message": e.Message}
	if len(e.Details) > 0 {
		body["data"] = map[string]any{"detail": e.Details}
	}
	return body
}

func unique(values []any) []any {
	var out []any
	seen := map[any]bool{}
	for _, v := range values {
		if !seen[v] {
			out = append(out, v)
		}
		seen[v] = true
	}
	return out
}

// errorSchema is the error body.
func errorSchema() *schema {
	return &schema{
		Type: "object", Description: "The error body of every operation.", Required: []string{"status", "code", "message"},
		Properties: properties{
			{"status", &schema{Type: "string", Enum: []any{"error"}}},
			{"code", &schema{Type: "integer", Description: "What went wrong, for programs.", Examples: []any{int(fail.CodeNotFound)}}},
			{"message", &schema{Type: "string", Description: "What went wrong, in words.", Examples: []any{fail.MessageNotFound}}},
			{"data", &schema{Type: "object", Properties: properties{
				{"detail", &schema{Type: "array", Items: &schema{Type: "string"}, Description: "One line a field."}},
			}}},
		},
	}
}
