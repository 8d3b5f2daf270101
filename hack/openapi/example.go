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
	if field.IsMap() {
		return nil
	}
	example := singleExample(field, comment)
	if field.IsList() && example != nil {
		return []any{example}
	}
	return example
}

func singleExample(field protoreflect.FieldDescriptor, comment string) any {
	if message := field.Message(); message != nil {
		if message.FullName() == "google.protobuf.Timestamp" {
			return exampleTime
		}
		return nil
	}
	if field.Kind() != protoreflect.StringKind {
		return nil
	}
	if found := quoted.FindStringSubmatch(comment); found != nil {
		return found[1]
	}
	name := field.JSONName()
	if example := named[name]; example != nil {
		return example
	}
	switch {
	case isUserID(name):
		return "alice"
	case name == "path":
		return nil
	case strings.HasSuffix(name, "Id"), strings.HasSuffix(name, "Ids"), name == "id", name == "_id":
		return exampleID
	}
	return nil
}

// isUserID reports whether a field contains public ids of users.
func isUserID(name string) bool {
	for _, end := range []string{"userId", "UserId", "userIds", "PublicId", "PublicIds", "creatorId", "publisherId"} {
		if strings.HasSuffix(name, end) {
			return !strings.HasPrefix(name, "target")
		}
	}
	return false
}
