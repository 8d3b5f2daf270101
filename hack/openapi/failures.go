package main

import (
	"fmt"
	"net/http"
	"slices"
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
	{
		http.StatusBadRequest, "BadRequest",
		"The request is malformed, conflicts with the current state, or contains text that the moderation lists reject.",
		[]*fail.Error{
			fail.BadRequest(), fail.New(fail.CodeBadRequest, "The poll is closed"),
			fail.WordBlocked(), fail.LinkNotAllowed("evil.example"),
		},
	},
	{http.StatusUnauthorized, "Unauthorized", "Credentials are missing or invalid.", []*fail.Error{fail.Unauthorized()}},
	{http.StatusForbidden, "Forbidden", "The caller is not allowed to do this, or a limit has been reached.", []*fail.Error{
		fail.NotAllowed(), fail.FlagLimit(), fail.PermissionDenied(), fail.Banned(), fail.GlobalBan(),
		fail.AlreadyExists("A community with this name already exists"),
		fail.UserMuted(), fail.ChannelMuted(), fail.TooManyMembers(),
		fail.BotDenied(),
		fail.VisitorDenied(),
		fail.New(fail.CodeMaxBlocked, "The maximum number of blocked users is reached"),
	}},
	{http.StatusNotFound, "NotFound", "The object does not exist, or the caller cannot see it.", []*fail.Error{fail.NotFound()}},
	{http.StatusRequestTimeout, "Timeout", "The request body did not arrive in time.", []*fail.Error{fail.BadRequest()}},
	{http.StatusConflict, "Conflict", "Another request changed the object concurrently. Try again.", []*fail.Error{fail.Conflict()}},
	{http.StatusRequestEntityTooLarge, "TooLarge", "The request body is too large.", []*fail.Error{fail.TooLarge(1 << 20)}},
	{http.StatusUnprocessableEntity, "Invalid", "A parameter is invalid. `data.detail` has one line for each.", []*fail.Error{
		fail.Validation("options.limit: must be greater than or equal to 1 and less than or equal to 100"),
	}},
	{
		http.StatusTooManyRequests, "TooMany",
		"A rate limit, a quota or the limit of concurrent streams is used up. Try again after `Retry-After`.",
		[]*fail.Error{
			fail.RateLimited("the limit is 100/5s requests per user", 0), fail.New(fail.CodeRateLimited, "Too many streams"),
		},
	},
	{http.StatusInternalServerError, "Unexpected", "An internal error.", []*fail.Error{fail.Unexpected(nil)}},
	{http.StatusServiceUnavailable, "Unavailable", "The home region of the object does not answer in time.", []*fail.Error{
		fail.Unavailable("home region eu did not answer in time", nil),
	}},
}

// failureOf returns a reference to the response component of a status.
func failureOf(status int) object {
	i := slices.IndexFunc(failures, func(f failure) bool { return f.status == status })
	return object{"$ref": "#/components/responses/" + failures[i].name}
}

// failureResponses returns the response components, with an example for each error.
func failureResponses() object {
	responses := object{}
	for _, f := range failures {
		var codes []int
		examples := object{}
		for _, e := range f.errors {
			if !slices.Contains(codes, int(e.Code)) {
				codes = append(codes, int(e.Code))
			}
			examples[e.Message] = object{"value": errorExample(e)}
		}
		schema := ref("Error")
		schema["properties"] = object{"code": object{"type": "integer", "enum": codes}}
		responses[f.name] = object{
			"description": f.description, "content": object{"application/json": object{"schema": schema, "examples": examples}},
		}
	}
	return responses
}

func errorExample(e *fail.Error) object {
	body := object{"status": "error", "code": int(e.Code), "message": e.Message}
	if len(e.Details) > 0 {
		body["data"] = object{"detail": e.Details}
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
func errorSchema() object {
	return object{
		"type": "object", "description": "The body of every error response.", "required": []string{"status", "code", "message"},
		"properties": properties{
			{"status", object{"type": "string", "enum": []string{"error"}}},
			{"code", object{"type": "integer", "description": "Error code, for programs.", "examples": []int{int(fail.CodeNotFound)}}},
			{"message", object{"type": "string", "description": "Error message, for people.", "examples": []string{fail.MessageNotFound}}},
			{"data", object{"type": "object", "properties": object{"detail": object{
				"type": "array", "items": object{"type": "string"}, "description": "One line for each invalid parameter.",
			}}}},
		},
	}
}
