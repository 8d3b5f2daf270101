package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/plaza-social/plaza/platform/fail"
)

// failure describes the errors of one HTTP status.
type failure struct {
	status      int
	name        string // name of the component
	description string
	errors      []*fail.Error
}

// failures lists the errors by status. platform/edge maps codes to statuses; a conformance test compares this table with a running server.
var failures = []failure{
	{http.StatusBadRequest, "BadRequest", "The request is malformed, conflicts with the current state, or contains text that the moderation lists reject.", []*fail.Error{
		fail.BadRequest(), fail.New(fail.CodeBadRequest, "The poll is closed"),
		fail.WordBlocked(), fail.LinkNotAllowed("evil.example"),
	}},
	{http.StatusUnauthorized, "Unauthorized", "Credentials are missing or invalid.", []*fail.Error{fail.Unauthorized()}},
	{http.StatusForbidden, "Forbidden", "The caller is not allowed to do this, or a limit has been reached.", []*fail.Error{
		fail.NotAllowed(), fail.FlagLimit(), fail.PermissionDenied(), fail.Banned(), fail.GlobalBan(),
		fail.AlreadyExists("A community with this name already exists"),
		fail.UserMuted(), fail.ChannelMuted(), fail.TooManyMembers(),
		fail.New(fail.CodeMaxBlocked, "The maximum number of blocked users is reached"),
	}},
	{http.StatusNotFound, "NotFound", "The object does not exist, or the caller cannot see it.", []*fail.Error{fail.NotFound()}},
	{http.StatusRequestTimeout, "Timeout", "The request body did not arrive in time.", []*fail.Error{fail.BadRequest()}},
	{http.StatusConflict, "Conflict", "Another request changed the object concurrently. Try again.", []*fail.Error{fail.Conflict()}},
	{http.StatusRequestEntityTooLarge, "TooLarge", "The request body is too large.", []*fail.Error{fail.TooLarge(1 << 20)}},
	{http.StatusUnprocessableEntity, "Invalid", "A parameter is invalid. `data.detail` has one line for each.", []*fail.Error{
		fail.Validation("options.limit: must be greater than or equal to 1 and less than or equal to 100"),
	}},
	{http.StatusTooManyRequests, "TooMany", "The rate or concurrency limit of the network has been exceeded.", []*fail.Error{
		fail.New(fail.CodeRateLimited, "Too many streams"),
	}},
	{http.StatusInternalServerError, "Unexpected", "An internal error.", []*fail.Error{fail.Unexpected(nil)}},
	{http.StatusServiceUnavailable, "Unavailable", "The home region of the object does not answer in time.", []*fail.Error{
		fail.Unavailable("home region eu did not answer in time", nil),
	}},
}

// failureOf returns a reference to the response component of a status.
func failureOf(status int) any {
	for _, f := range failures {
		if f.status == status {
			return map[string]string{"$ref": "#/components/responses/" + f.name}
		}
	}
	panic("no response component for status " + strconv.Itoa(status))
}

// failureComponents returns the responses with an example for each error.
func failureComponents() map[string]any {
	all := map[string]any{}
	for _, f := range failures {
		var codes []any
		examples := map[string]any{}
		for _, e := range f.errors {
			if !slices.Contains(codes, any(int(e.Code))) {
				codes = append(codes, int(e.Code))
			}
			examples[e.Message] = map[string]any{"value": errorExample(e)}
		}
		all[f.name] = response{Description: f.description, Content: map[string]mediaType{"application/json": {
			Schema: &schema{Ref: "#/components/schemas/Error", Properties: properties{
				{"code", &schema{Type: "integer", Enum: codes}},
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

// errorTable returns a Markdown table of the error codes.
func errorTable() string {
	var table strings.Builder
	table.WriteString("| Code | HTTP status | Message |\n|---|---|---|\n")
	for _, f := range failures {
		for _, e := range f.errors {
			fmt.Fprintf(&table, "| %d | %d | %s |\n", e.Code, f.status, e.Message)
		}
	}
	return table.String()
}

// errorSchema returns the schema of the error body.
func errorSchema() *schema {
	return &schema{
		Type: "object", Description: "The body of every error response.", Required: []string{"status", "code", "message"},
		Properties: properties{
			{"status", &schema{Type: "string", Enum: []any{"error"}}},
			{"code", &schema{Type: "integer", Description: "Error code, for programs.", Examples: []any{int(fail.CodeNotFound)}}},
			{"message", &schema{Type: "string", Description: "Error message, for people.", Examples: []any{fail.MessageNotFound}}},
			{"data", &schema{Type: "object", Properties: properties{
				{"detail", &schema{Type: "array", Items: &schema{Type: "string"}, Description: "One line for each invalid parameter."}},
			}}},
		},
	}
}
