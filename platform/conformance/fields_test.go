package conformance

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// resource is the fields of a resource of the contract and their JSON types:
//
//	s    string            id   string of 24 lowercase hexadecimal characters
//	i    whole number      n    number
//	b    boolean           ts   date-time with milliseconds, UTC
//	o    object            counts  object of whole numbers
//	s[]  array of strings  []   array
//
// and the names of the types in nested. A question mark allows null.
type resource map[string]string

var userFields = resource{
	"userId": "s", "createdAt": "ts", "updatedAt": "ts", "_id": "id", "path": "s", "userInternalId": "id",
	"userPublicId": "s", "roles": "s[]", "permissions": "s[]", "displayName": "s", "profileHandle": "s", "description": "s",
	"avatarFileId": "s", "avatarCustomUrl": "s", "flagCount": "i", "hashFlag": "hashFlag?", "metadata": "o",
	"isGlobalBan": "b", "isBrand": "b", "isDeleted": "b",
	"isGlobalBanned": "b", // read by older public clients
}

var communityUserFields = resource{
	"userId": "s", "userPublicId": "s", "userInternalId": "id", "channelId": "s", "communityId": "id",
	"communityMembership": "s", "notMemberReason": "s", "isBanned": "b", "lastActivity": "ts", "roles": "s[]",
	"permissions": "s[]", "lastJoin": "ts", "createdAt": "ts", "updatedAt": "ts",
}

// neverMemberFields are the fields of a CommunityUser without a membership, which has no times.
var neverMemberFields = resource{
	"userId": "s", "userPublicId": "s", "userInternalId": "id", "channelId": "s", "communityId": "id",
	"communityMembership": "s", "notMemberReason": "s", "isBanned": "b", "lastActivity": "ts?", "roles": "s[]",
	"permissions": "s[]", "lastJoin": "ts?", "createdAt": "ts?", "updatedAt": "ts?",
}

var communityFields = resource{
	"communityId": "id", "channelId": "s", "displayName": "s", "_id": "id", "path": "s", "userId": "s",
	"userPublicId": "s", "userInternalId": "id", "avatarFileId": "s", "description": "s", "isOfficial": "b",
	"isPublic": "b", "onlyAdminCanPost": "b", "tags": "s[]", "metadata": "o", "postsCount": "i", "membersCount": "i",
	"isJoined": "b", "categoryIds": "s[]", "isDeleted": "b", "createdAt": "ts", "updatedAt": "ts",
	"hasFlaggedComment": "b", "hasFlaggedPost": "b", "needApprovalOnPostCreation": "b",
	"needApprovalOnCommentCreation": "b", "moderatorMemberCount": "i", "allowCommentInStory": "b",
	"isDiscoverable": "b", "requiresJoinApproval": "b", "notificationMode": "s", "type": "s",
}

var categoryFields = resource{
	"categoryId": "id", "name": "s", "metadata": "o", "avatarFileId": "s", "isDeleted": "b", "createdAt": "ts",
	"updatedAt": "ts",
}

var roleFields = resource{
	"roleId": "s", "updatedAt": "ts", "permissions": "s[]", "isDeleted": "b", "displayName": "s", "createdAt": "ts",
}

var feedFields = resource{
	"targetId": "s", "targetType": "s", "postCount": "i", "feedType": "s", "feedId": "s", "createdAt": "ts",
	"updatedAt": "ts",
}

var postFields = resource{
	"postId": "id", "data": "o", "_id": "id", "path": "s", "parentPostId": "s", "postedUserId": "s",
	"postedUserPublicId": "s", "postedUserInternalId": "id", "sharedUserId": "s", "sharedCount": "i", "targetId": "s",
	"targetPublicId": "s", "targetInternalId": "id", "targetType": "s", "dataType": "s", "metadata": "o",
	"flagCount": "i", "hashFlag": "hashFlag?", "editedAt": "ts", "createdAt": "ts", "updatedAt": "ts",
	"reactions": "counts", "reactionsCount": "i", "myReactions": "s[]", "commentsCount": "i", "comments": "s[]",
	"children": "s[]", "childrenNumber": "i", "isDeleted": "b", "hasFlaggedComment": "b", "hasFlaggedChildren": "b",
	"feedId": "s", "tags": "s[]", "hashtags": "s[]", "mentionees": "mentionees", "impression": "i", "reach": "i",
	"structureType": "s",
}

var commentFields = resource{
	"commentId": "id", "_id": "id", "path": "s", "userId": "s", "userPublicId": "s", "userInternalId": "id",
	"parentId": "s", "rootId": "s", "referenceId": "s", "referenceType": "s", "dataType": "s", "dataTypes": "s[]",
	"data": "o", "metadata": "o", "childrenNumber": "n", "flagCount": "i", "hashFlag": "hashFlag?",
	"reactions": "counts", "reactionsCount": "i", "myReactions": "s[]", "isDeleted": "b", "approvalStatus": "s",
	"editedAt": "ts", "createdAt": "ts", "updatedAt": "ts", "children": "s[]", "segmentNumber": "i",
	"mentionees": "mentionees", "attachments": "attachments", "targetId": "s", "targetType": "s",
}

var joinRequestFields = resource{
	"_id": "id", "joinRequestId": "id", "networkId": "id", "requestorId": "s", "requestorInternalId": "id",
	"requestorPublicId": "s", "responderId": "s", "responderInternalId": "s", "responderPublicId": "s",
	"respondedAt": "ts?", "status": "s", "targetId": "id", "targetType": "s", "type": "s", "userId": "s",
	"createdAt": "ts", "updatedAt": "ts",
}

var invitationFields = resource{
	"_id": "id", "invitationId": "id", "networkId": "id", "type": "s", "targetId": "id", "targetType": "s", "communityId": "s", "status": "s",
	"invitedUserId": "s", "invitedUserInternalId": "id", "invitedUserPublicId": "s", "inviterUserId": "s", "inviterUserInternalId": "s",
	"inviterUserPublicId": "s", "createdBy": "s", "userId": "s", "respondedAt": "ts?", "createdAt": "ts", "updatedAt": "ts",
}

// nested are the types of object fields of resources.
var nested = map[string]resource{
	"hashFlag":    {"bits": "i", "hashes": "i", "hash": "s[]"},
	"mentionees":  {"type": "s", "userIds": "s[]", "userPublicIds": "s[]", "userInternalIds": "s[]"},
	"attachments": {"type": "s", "fileId": "s"},
}

var (
	idPattern   = regexp.MustCompile(`^0[123][0-9a-f]{22}$|^[0-9a-f]{24}$`)
	timePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
)

// requireResource fails for a missing field or a field of another type.
func requireResource(t *testing.T, where string, fields resource, value any) {
	t.Helper()
	o, ok := value.(map[string]any)
	require.True(t, ok, "%s is not an object: %v", where, value)
	for name, kind := range fields {
		field, ok := o[name]
		require.True(t, ok, "%s has no %s", where, name)
		requireKind(t, where+"."+name, kind, field)
	}
}

func requireKind(t *testing.T, where, kind string, value any) {
	t.Helper()
	if optional, ok := strings.CutSuffix(kind, "?"); ok {
		if value == nil {
			return
		}
		kind = optional
	}
	switch kind {
	case "hashFlag":
		requireResource(t, where, nested[kind], value)
	case "mentionees", "attachments":
		list, ok := value.([]any)
		require.True(t, ok, "%s is no array: %v", where, value)
		for _, item := range list {
			requireResource(t, where+"[]", nested[kind], item)
		}
	default:
		require.True(t, isKind(kind, value), "%s is not of type %s: %v", where, kind, value)
	}
}

// isKind reports whether a value has one of the simple types.
func isKind(kind string, value any) bool {
	switch v := value.(type) {
	case string:
		return kind == "s" || (kind == "id" && idPattern.MatchString(v)) || (kind == "ts" && timePattern.MatchString(v))
	case float64:
		return kind == "n" || (kind == "i" && v == math.Trunc(v))
	case bool:
		return kind == "b"
	case []any:
		return kind == "[]" || (kind == "s[]" && all(v, "s"))
	case map[string]any:
		values := make([]any, 0, len(v))
		for _, inner := range v {
			values = append(values, inner)
		}
		return kind == "o" || (kind == "counts" && all(values, "i"))
	}
	return false
}

func all(values []any, kind string) bool {
	for _, v := range values {
		if !isKind(kind, v) {
			return false
		}
	}
	return true
}

func TestIsKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		value any
		want  bool
	}{
		{"s", "", true},
		{"s", nil, false},
		{"s", 1.0, false},
		{"i", 1.0, true},
		{"i", 1.5, false},
		{"n", 1.5, true},
		{"i", "1", false},
		{"b", false, true},
		{"b", "false", false},
		{"ts", "2026-11-20T10:00:00.000Z", true},
		{"ts", "2026-11-20T10:00:00Z", false},
		{"id", unknownID, true},
		{"id", "x", false},
		{"s[]", []any{}, true},
		{"s[]", []any{1.0}, false},
		{"s[]", nil, false},
		{"[]", []any{1.0}, true},
		{"o", map[string]any{}, true},
		{"o", nil, false},
		{"counts", map[string]any{"like": 1.0}, true},
		{"counts", map[string]any{"like": "1"}, false},
	} {
		require.Equal(t, c.want, isKind(c.kind, c.value), "%s %v", c.kind, c.value)
	}
}
