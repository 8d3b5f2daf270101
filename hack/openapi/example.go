package main

import (
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	exampleID   = "02a4f19c7d3be5608142c97d"
	exampleTime = "2026-11-20T09:30:00.000Z"
)

// named maps JSON names of fields to examples.
var named = map[string]any{
	"displayName": "Rock climbing", "description": "A place for climbers of all levels", "title": "Sunday at the crag",
	"question": "Who is in on Sunday?", "deviceId": "phone-1", "text": "Who is in on Sunday?", "altText": "A rope on a rock face",
	"reason": "Spam or scams", "profileHandle": "alice.climbs", "name": "crag.jpg", "extension": "jpg", "mimeType": "image/jpeg",
	"eventType": "community.userAdded", "message": "Resource Not Found.", "reactionName": "like", "referenceType": "post",
	"targetType": "community", "role": "community-moderator", "roleId": "moderator", "keyword": "climb",
	"fileUrl":    "https://eu.api.example.com/api/v3/files/" + exampleID + "/download",
	"permission": "EDIT_COMMUNITY",
}

// quoted matches the first value that a comment lists: "Always `post`.", "State of the poll: `open` or `closed`."
var quoted = regexp.MustCompile("^(?:Always |[^`:.]+: )`([^`]+)`")

// exampleOf returns a value for a field, or nil if its type suffices.
func exampleOf(field protoreflect.FieldDescriptor, comment string) any {
	var example any
	switch {
	case field.IsMap():
		return nil
	case field.Kind() == protoreflect.StringKind:
		example = exampleText(field.JSONName(), comment)
	case field.Message() != nil && field.Message().FullName() == "google.protobuf.Timestamp":
		example = exampleTime
	}
	if field.IsList() && example != nil {
		return []any{example}
	}
	return example
}

func exampleText(name, comment string) any {
	found := quoted.FindStringSubmatch(comment)
	switch {
	case found != nil:
		return found[1]
	case named[name] != nil:
		return named[name]
	case userID.MatchString(name) && !strings.HasPrefix(name, "target"):
		return "alice"
	case objectID.MatchString(name):
		return exampleID
	}
	return nil
}

var (
	userID   = regexp.MustCompile(`(userIds?|UserId|PublicIds?|creatorId|publisherId)$`)
	objectID = regexp.MustCompile(`^_?id$|Ids?$`)
)
