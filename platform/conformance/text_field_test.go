package conformance

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// The rules of texts that requests contain.
const (
	textRules = "block list and allow list of links" // other users read it; see TestTextRulesApply
	anID      = "names something that exists or a choice"
	aFile     = "an id of a file or an address, checked as such"
	aToken    = "a secret or a technical value that no user reads"
	reported  = "read by moderators only, and may quote what is reported"
	freeForm  = "custom fields of the app, whose meaning Plaza does not know"
	lists     = "the lists themselves, or a text to try them on"
	mediaText = "reported by the media server"
	userID    = "an id that the app chooses; see TestUserIDsAreUnambiguous"
)

// ruleOfField says by which rule a field is covered: of an operation, or of every operation.
var ruleOfField = map[string]string{
	"display_name": textRules, "profile_handle": textRules, "description": textRules, "title": textRules, "name": textRules,
	"tags": textRules, "hashtags": textRules, "location": textRules, "external_url": textRules, "text": textRules, "data": textRules,
	"question": textRules, "answers.data": textRules,
	"reaction_name": textRules, "alt_text": textRules, "items.data.custom_text": textRules, "items.data.url": textRules,
	"post_data.text": textRules, "post_data.data": textRules, "post_data.tags": textRules, "post_data.hashtags": textRules,
	"post_data.links.url": textRules, "post_data.links.title": textRules, "post_data.links.domain": textRules,
	"post_data.links.image_url":   textRules,
	"post_data.product_tags.text": textRules, "post_data.product_tags.product_id": anID,
	"avatar_custom_url": textRules, "links.url": textRules, "links.title": textRules,
	"links.domain": textRules, "links.image_url": textRules, "product_tags.text": textRules, "product_tags.product_id": anID,
	"product_name": textRules, "product_url": aToken, "ProductService.CreateProduct thumbnail_url": aToken,
	"ProductService.UpdateProduct thumbnail_url": aToken,
	"currency": anID, "thumbnail_mode": anID, "product_id": anID,
	"pinned_product_id": anID, "RoleService.CreateRole role_id": textRules,

	"reason": reported, "detail": reported, "FlagService.AddFlagNote text": reported,
	"metadata": freeForm, "post_data.metadata": freeForm, "activities.metadata": freeForm, "items.placement": freeForm,
	"regexs": lists, "ModerationListService.VerifyAllowed data": lists, "ModerationListService.VerifyNotBlocked data": lists,

	"avatar_file_id": aFile, "cover_image_file_id": aFile, "file_id": aFile, "thumbnail_file_id": aFile, "attachments.file_id": aFile,
	"answers.file_id":               aFile,
	"post_data.attachments.file_id": aFile,
	"device_id":                     aToken, "device_info.kind": aToken, "device_info.model": aToken, "device_info.sdk_version": aToken,
	"auth_token":     aToken,
	"auth_signature": aToken, "auth_signature_expires_at": aToken, "reactions.reaction_name": textRules, "live_stream_id": anID,
	"reactions.reference_public_id":  anID,
	"moderation.categories.category": anID, "rate_limit": aToken, "domain": aToken, "patterns.key": aToken, "patterns.value": aToken,
	"platform.name": aToken, "platform.version": aToken,
	"stream_key": mediaText, "labels.category": mediaText, "recordings.url": mediaText, "recordings.thumbnail_url": mediaText,
	"recordings.playback_id": mediaText, "recordings.mp4.url": mediaText,
	"recordings.m3u8.url": mediaText, "recordings.flv.url": mediaText, "event": mediaText, "participants": anID,
	"MoveService.MoveUser region":          anID,
	"SessionService.CreateSession user_id": userID, "AuthenticationService.CreateToken user_id": userID, "user_id": anID,

	"NotificationService.RegisterDevice token": aToken, "NotificationService.RegisterDevice platform": anID,
	"NotificationService.RegisterDevice provider": anID,
	"level": anID, "notifiable_events.name": anID, "notifiable_events.module_name": anID, "notifiable_events.listen_from_role_ids": anID,
	"notifiable_events.ignore_from_role_ids": anID,
	"webhook_id":                             anID, "callback_url": aToken, "default_action": anID, "events": anID, "webhooks.events": anID,
	"delivery_ids": anID, "secret_key": aToken, "secret": aToken,
	"WebhookService.CreateWebhook name": aToken, "WebhookService.CreateWebhook url": aToken, "WebhookService.UpdateWebhook url": aToken,
	"WebhookService.UpdateWebhook name": aToken, "webhooks.name": aToken, "webhooks.url": aToken, "webhooks.secret": aToken,
	"prehook.callback_url": aToken, "prehook.default_action": anID, "prehook.events": anID, "prehook.secret": aToken,
	"ReactionService.RemoveReaction reaction_name": anID, "LinkPreviewService.GetLinkPreview url": aToken,
}

// idFields are the names of fields that contain ids or choices wherever they are.
var idFields = []string{
	"user_id", "user_ids", "community_id", "channel_id", "post_id", "message_feed_id", "message_feed_ids", "room_id", "message_id",
	"comment_id", "type",
	"reference_id", "user_public_ids", "user_internal_ids", "story_id", "stream_id", "poll_id", "role", "roles", "role_id", "public_ids",
	"notification_mode",
	"target_type", "target_id", "reference_type", "origin_type", "origin_id", "event_id", "placement", "invitation_id", "data_type", "clear",
	"user_privacy_setting", "default_access_type", "rule_id", "rule_ids",
	"resolution", "max_resolution", "min_resolution", "permissions", "parent_id", "id", "category_id", "category_ids", "answer_ids",
	"video_stream_id", "sync_state", "status",
	"parent_stream_id", "parent_room_id", "mentioned_user_ids", "membership_acceptance", "entity_id", "creator_id", "answer_type",
	"content_type",
	"content_id", "activity_type", "outcome",
}

// ruleOf returns the rule of a field.
func ruleOf(f requestText) string {
	_, path, _ := strings.Cut(f.name, " ")
	for _, name := range []string{f.name, path} {
		if rule := ruleOfField[name]; rule != "" {
			return rule
		}
	}
	if slices.Contains(idFields, string(f.field.Name())) {
		return anID
	}
	return ""
}

// requestText is a field with text in the request of an operation that changes something.
type requestText struct {
	name  string // Service.Method path.of.field
	field protoreflect.FieldDescriptor
}

// requestTexts returns the fields with text, also in objects, of every operation that changes something.
func requestTexts() []requestText {
	var fields []requestText
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				options, _ := method.Options().(*descriptorpb.MethodOptions)
				if options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
					fields = append(fields, requestTextsIn(string(service.Name()+"."+method.Name()+" "), method.Input(), 0)...)
				}
			}
		}
		return true
	})
	return fields
}

func requestTextsIn(prefix string, message protoreflect.MessageDescriptor, depth int) []requestText {
	var fields []requestText
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		name := prefix + string(field.Name())
		nested := field.Message()
		switch {
		case field.Kind() == protoreflect.StringKind, nested != nil && nested.FullName() == "google.protobuf.Struct":
			fields = append(fields, requestText{name, field})
		case nested != nil && depth < 6:
			fields = append(fields, requestTextsIn(name+".", nested, depth+1)...)
		}
	}
	return fields
}

// TestEveryTextFieldHasARule fails for a new field until the table says which rule covers it, and for a field that users
// read until TestTextRulesApply tries it.
func TestEveryTextFieldHasARule(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, w := range writings(&written{word: "x"}) {
		for _, field := range w.fields {
			tried[w.operation+" "+field] = true
		}
	}
	known := map[string]bool{}
	for _, f := range requestTexts() {
		known[f.name] = true
		rule := ruleOf(f)
		require.NotEmpty(t, rule, "%s: say in ruleOfField which rule covers it", f.name)
		if rule == textRules {
			require.True(t, tried[f.name], "%s: try it in writings", f.name)
		}
	}
	for name := range tried {
		require.True(t, known[name], "%s is tried but does not exist", name)
	}
}

// written is what the writings refer to.
type written struct {
	word                                       string
	author                                     *apptest.Client
	community, channel, feed, message, post    string
	category, comment, picture, stream, room   string
	product                                    string
	role, conversationPartner, scheduled, soon string
	planned                                    string
}

// eventTexts are the fields with text of an event.
var eventTexts = []string{"title", "description", "location", "external_url", "tags"}

// event returns a body of an event with the word in one field.
func (w *written) event(base object) func(string) object {
	return func(field string) object {
		if field == "external_url" {
			return with(base, object{"externalUrl": "https://example.com/" + w.word})
		}
		return w.one(base)(field)
	}
}

// writing is a request that writes a text in one field. fields are those that the text is written to in turn.
type writing struct {
	operation    string
	method, path string
	fields       []string
	body         func(field string) object
	byRoleHolder bool // a user with the permission, because ordinary users may not
}

// one returns a body with the word in one field, by its JSON name, or in a list for names with [].
func (w *written) one(base object) func(string) object {
	return func(field string) object {
		name := jsonName(field)
		if name == "tags" || name == "hashtags" {
			return with(base, object{name: []string{"fine", w.word}})
		}
		link, isLink := strings.CutPrefix(name, "links.")
		switch {
		case link == "url" || link == "imageUrl":
			return with(base, object{"links": []object{{"url": "https://example.com", link: "https://example.com/" + w.word}}})
		case isLink:
			return with(base, object{"links": []object{{"url": "https://example.com", link: w.word}}})
		case name == "productTags.text":
			return with(base, object{"productTags": []object{{"productId": "p", "text": w.word}}})
		case name == "data":
			return with(base, object{name: object{"text": w.word}})
		}
		body := with(base, object{name: w.word})
		if name == "text" { // an older form of data
			delete(body, "data")
		}
		return body
	}
}

// jsonName returns the name of a field in JSON.
func jsonName(field string) string {
	return regexp.MustCompile("_[a-z]").ReplaceAllStringFunc(field, func(s string) string { return strings.ToUpper(s[1:]) })
}

// linkFields are the fields with text of the links of a post or comment.
var linkFields = []string{"links.url", "links.title", "links.domain", "links.image_url"}

// scheduledFields are the fields with text of a scheduled post.
var scheduledFields = []string{
	"post_data.text", "post_data.data", "post_data.tags", "post_data.hashtags", "post_data.product_tags.text", "post_data.links.url",
	"post_data.links.title", "post_data.links.domain", "post_data.links.image_url",
}

func writings(w *written) []writing {
	post := object{"targetType": "user", "data": object{"text": "fine"}}
	scheduled := func(field string) object {
		_, name, _ := strings.Cut(field, ".")
		return object{"postData": with(w.one(post)(name), object{"targetId": w.userID()}), "scheduledAt": w.soon}
	}
	story := func(field string) object {
		item := object{"type": "hyperlink", "data": object{"url": "https://example.com"}, "placement": object{}}
		b := object{
			"targetType": "user", "targetId": w.userID(), "dataType": "image", "data": object{"fileId": w.picture},
			"items": []object{item},
		}
		switch field {
		case "data":
			b["data"] = object{"fileId": w.picture, "caption": w.word}
		case "items.data.custom_text":
			item["data"] = object{"url": "https://example.com", "customText": w.word}
		case "items.data.url":
			item["data"] = object{"url": "https://example.com/" + w.word}
		}
		return b
	}
	poll := func(field string) object {
		b := object{
			"question": "fine", "answerType": "single",
			"answers": []object{{"dataType": "text", "data": "a"}, {"dataType": "text", "data": "b"}},
		}
		if field == "answers.data" {
			b["answers"] = []object{{"dataType": "text", "data": "a"}, {"dataType": "text", "data": w.word}}
			return b
		}
		return w.one(b)(field)
	}
	titles, names := []string{"title", "description"}, []string{"display_name", "description", "tags"}
	url := func(field string) object {
		if field == "avatar_custom_url" {
			return object{"avatarCustomUrl": "https://example.com/" + w.word}
		}
		return w.one(object{})(field)
	}
	return []writing{
		{
			operation: "UserService.UpdateUser", method: http.MethodPut, path: "/api/v3/users",
			fields: []string{"display_name", "profile_handle", "description", "avatar_custom_url"}, body: url,
		},
		{
			operation: "CommunityService.CreateCommunity", method: http.MethodPost, path: "/api/v3/communities", fields: names,
			body: w.one(object{"displayName": "fine"}),
		},
		{
			operation: "CommunityService.UpdateCommunity", method: http.MethodPut, path: "/api/v3/communities/" + w.community, fields: names,
			body: w.one(object{}),
		},
		{
			operation: "EventService.CreateEvent", method: http.MethodPost, path: eventsPath, fields: eventTexts,
			body: w.event(with(eventIn(w.community), object{"title": "fine"})),
		},
		{
			operation: "EventService.UpdateEvent", method: http.MethodPut, path: eventsPath + "/" + w.planned, fields: eventTexts,
			body: w.event(object{}),
		},
		{
			operation: "CategoryService.CreateCategory", method: http.MethodPost, path: "/api/v3/community-categories", fields: []string{"name"},
			body: w.one(object{}), byRoleHolder: true,
		},
		{
			operation: "CategoryService.UpdateCategory", method: http.MethodPut, path: "/api/v3/community-categories/" + w.category,
			fields: []string{"name"}, body: w.one(object{}), byRoleHolder: true,
		},
		{
			operation: "ProductService.CreateProduct", method: http.MethodPost, path: productsPath, fields: []string{"product_name"},
			body: w.one(newProduct("fine")), byRoleHolder: true,
		},
		{
			operation: "ProductService.UpdateProduct", method: http.MethodPut, path: productsPath + "/" + w.product,
			fields: []string{"product_name"}, body: w.one(object{}), byRoleHolder: true,
		},
		{
			operation: "RoleService.CreateRole", method: http.MethodPost, path: "/api/v3/roles", fields: []string{"role_id", "display_name"},
			body: w.one(object{"roleId": "fine", "permissions": []string{"EDIT_ROLE"}}), byRoleHolder: true,
		},
		{
			operation: "RoleService.UpdateRole", method: http.MethodPut, path: "/api/v3/roles/" + w.role, fields: []string{"display_name"},
			body: w.one(object{"permissions": []string{"EDIT_ROLE"}}), byRoleHolder: true,
		},
		{
			operation: "ChannelService.CreateChannel", method: http.MethodPost, path: "/api/v3/channels", fields: []string{"display_name", "tags"},
			body: w.one(object{"type": "community"}),
		},
		{
			operation: "ChannelService.CreateConversation", method: http.MethodPost, path: "/api/v3/channels/conversation",
			fields: []string{"display_name", "tags"}, body: w.one(object{"userIds": []string{w.conversationPartner}}),
		},
		{
			operation: "ChannelService.UpdateChannel", method: http.MethodPut, path: "/api/v3/channels/" + w.channel,
			fields: []string{"display_name", "tags"}, body: w.one(object{}),
		},
		{
			operation: "MessageFeedService.CreateMessageFeed", method: http.MethodPost, path: "/api/v5/message-feeds", fields: []string{"name"},
			body: w.one(object{"channelId": w.channel}),
		},
		{
			operation: "MessageFeedService.UpdateMessageFeed", method: http.MethodPut, path: "/api/v5/message-feeds/" + w.feed,
			fields: []string{"name"}, body: w.one(object{}),
		},
		{
			operation: "MessageService.CreateMessage", method: http.MethodPost, path: "/api/v5/messages", fields: []string{"data", "tags"},
			body: w.one(object{"subChannelId": w.channel, "messageFeedId": w.channel, "data": object{"text": "fine"}}),
		},
		{
			operation: "MessageService.CreateChannelMessage", method: http.MethodPost, path: "/api/v3/messages", fields: []string{"data", "tags"},
			body: w.one(object{"channelId": w.channel, "data": object{"text": "fine"}}),
		},
		{
			operation: "MessageService.UpdateMessage", method: http.MethodPut, path: "/api/v5/messages/" + w.message,
			fields: []string{"data", "tags"}, body: w.one(object{}),
		},
		{
			operation: "PostService.CreatePost", method: http.MethodPost, path: "/api/v4/posts",
			fields: slices.Concat([]string{"text", "data", "tags", "hashtags", "product_tags.text"}, linkFields),
			body:   w.one(with(post, object{"targetId": w.userID()})),
		},
		{
			operation: "PostService.UpdatePost", method: http.MethodPut, path: "/api/v4/posts/" + w.post,
			fields: slices.Concat([]string{"text", "data", "tags", "hashtags", "product_tags.text"}, linkFields), body: w.one(object{}),
		},
		{operation: "ScheduledPostService.SchedulePost", method: http.MethodPost, path: schedulePath, fields: scheduledFields, body: scheduled},
		{
			operation: "ScheduledPostService.UpdateScheduledPost", method: http.MethodPut, path: schedulePath + "/" + w.scheduled,
			fields: scheduledFields, body: scheduled,
		},
		{
			operation: "CommentService.CreateComment", method: http.MethodPost, path: "/api/v3/comments",
			fields: append([]string{"data"}, linkFields...),
			body:   w.one(object{"referenceType": "post", "referenceId": w.post, "data": object{"text": "fine"}}),
		},
		{
			operation: "CommentService.UpdateComment", method: http.MethodPut, path: "/api/v3/comments/" + w.comment,
			fields: append([]string{"data"}, linkFields...), body: w.one(object{}),
		},
		{
			operation: "ReactionService.CreateLiveReactions", method: http.MethodPost, path: "/api/v1/reactions/live",
			fields: []string{"reactions.reaction_name"}, body: func(string) object {
				return object{"reactions": []object{{"referencePublicId": w.post, "reactionName": w.word}}}
			},
		},
		{
			operation: "ReactionService.AddReaction", method: http.MethodPost, path: "/api/v2/reactions", fields: []string{"reaction_name"},
			body: w.one(object{"referenceType": "post", "referenceId": w.post}),
		},
		{
			operation: "StoryService.CreateStory", method: http.MethodPost, path: "/api/v4/stories",
			fields: []string{"data", "items.data.custom_text", "items.data.url"}, body: story,
		},
		{
			operation: "PollService.CreatePoll", method: http.MethodPost, path: "/api/v3/polls",
			fields: []string{"title", "question", "answers.data"}, body: poll,
		},
		{
			operation: "RoomService.CreateRoom", method: http.MethodPost, path: "/api/v1/rooms", fields: titles,
			body: w.one(object{"title": "fine", "type": "directStreaming"}),
		},
		{operation: "RoomService.UpdateRoom", method: http.MethodPut, path: "/api/v1/rooms/" + w.room, fields: titles, body: w.one(object{})},
		{
			operation: "VideoStreamingService.CreateVideoStreaming", method: http.MethodPost, path: "/api/v3/video-streaming", fields: titles,
			body: w.one(object{"title": "fine"}),
		},
		{
			operation: "VideoStreamingService.UpdateVideoStreaming", method: http.MethodPut, path: "/api/v3/video-streaming/" + w.stream,
			fields: titles, body: w.one(object{}),
		},
		{
			operation: "FileService.UpdateFile", method: http.MethodPut, path: filesPath + "/" + w.picture, fields: []string{"alt_text"},
			body: w.one(object{}),
		},
		{
			operation: "SessionService.CreateSession", method: http.MethodPost, path: "/api/v5/sessions",
			fields: []string{"display_name", "profile_handle"}, body: w.one(object{"userId": apptest.UserID("newcomer"), "deviceId": "d"}),
		},
	}
}

func (w *written) userID() string {
	if w.author == nil {
		return ""
	}
	return w.author.UserID
}

// newWritten creates what the writings refer to.
func newWritten(t *testing.T, n *apptest.Network) *written {
	t.Helper()
	author, partner := n.NewUser(t, region.EU, "author"), n.NewUser(t, region.EU, "partner")
	w := &written{author: author, conversationPartner: partner.UserID, soon: timeIn(time.Hour), role: "named"}
	admin := n.Admin(region.EU)
	w.category = admin.Do(t, http.MethodPost, categoriesPath, object{"name": "c"}).OK(t).String(t, "categories.0.categoryId")
	w.product = addProduct(t, admin, newProduct("c"))
	admin.Do(t, http.MethodPost, rolesPath, object{"roleId": w.role, "permissions": []string{"EDIT_ROLE"}}).OK(t)
	w.community, w.post = author.NewCommunity(t),
		author.Do(t, http.MethodPost, postsPath,
			object{"targetType": "user", "targetId": author.UserID, "data": object{"text": "x"}}).OK(t).String(t, "posts.0.postId")
	chat := newChat(t, author)
	w.channel = chat.id
	w.feed = chat.subchannel(t, author, "feed")
	w.message = chat.newMessage(t, author, "x")
	w.comment = newComment(t, author, w.post)
	w.picture = text(upload(t, author, "image", "p.png", pngOf(t, 2, 2)), "fileId")
	w.stream = author.Do(t, http.MethodPost, streamsPath, object{"title": "x"}).OK(t).String(t, "videoStreamings.0.streamId")
	w.planned = newEvent(t, author, eventIn(w.community))
	w.room = author.Do(t, http.MethodPost, roomsPath, object{"title": "x"}).OK(t).String(t, "rooms.0.roomId")
	w.scheduled = newScheduled(t, author, object{
		"scheduledAt": w.soon, "postData": object{"targetType": "user", "targetId": author.UserID, "data": object{"text": "x"}},
	})
	return w
}

// TestTextRulesApply writes a blocked word to every field that other users read.
func TestTextRulesApply(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	w := newWritten(t, n)
	helper := n.NewUser(t, region.EU, "helper")
	n.Admin(region.EU).Do(t, http.MethodPost, "/api/v3/roles", object{"roleId": "helper", "permissions": []string{
		"CREATE_COMMUNITY_CATEGORY", "EDIT_COMMUNITY_CATEGORY", "CREATE_ROLE", "EDIT_ROLE", "MANAGE_SETTING",
	}}).OK(t)
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/users", object{"userId": helper.UserID, "roles": []string{"helper"}}).OK(t)
	for _, word := range []string{"fine", "frobnitz"} {
		w.word = word
		for _, request := range writings(w) {
			for _, field := range request.fields {
				c := w.author
				switch {
				case request.byRoleHolder:
					c = helper
				case request.operation == "SessionService.CreateSession":
					c = device(n, region.EU)
				}
				r := c.Do(t, request.method, request.path, request.body(field))
				if word == "fine" { // the request is right but for the word
					if request.operation != "RoleService.CreateRole" && field != "profile_handle" {
						require.Contains(t, []int{http.StatusOK, http.StatusCreated}, r.Status, "%s %s: %s", request.operation, field, r.Body)
					}
					continue
				}
				require.Equal(t, http.StatusBadRequest, r.Status, "%s %s: %s", request.operation, field, r.Body)
				code, _ := r.Error(t)
				require.Equal(t, 400308, code, "%s %s", request.operation, field)
			}
		}
		if word == "fine" {
			addRules(t, n, blockPath, nil, "frobnitz")
		}
	}
}
