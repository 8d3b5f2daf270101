package audit

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxTargets bounds the targets of an event.
const maxTargets = 100

// targetTypes are the types of targets by the name of the field that contains their ids, which may end in an s.
var targetTypes = map[string]string{
	"user_id": "user", "community_id": "community", "channel_id": "channel", "message_feed_id": "messageFeed", "message_id": "message",
	"post_id": "post", "comment_id": "comment", "story_id": "story", "stream_id": "stream", "room_id": "room", "event_id": "event",
	"poll_id":     "poll",
	"category_id": "category", "product_id": "product", "role_id": "role", "rule_id": "rule", "file_id": "file",
	"invitation_id": "invitation", "flag_id": "flag",
	"webhook_id": "webhook",
}

// targetsOf returns the objects that a request names, in the order of its fields.
func (r *Recorder) targetsOf(request protoreflect.Message) []network.AuditTarget {
	var targets []network.AuditTarget
	fields := request.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if kind := targetTypeOf(field, request); kind != "" {
			targets = append(targets, r.targets(kind, textsOf(request, field.Name()))...)
		}
	}
	return targets
}

// targetTypeOf returns the type of the objects whose ids a field of a request contains: the one of its option or of its name. Fields such
// as reference_id and target_id come with one that contains the type. It returns an empty text for other fields.
func targetTypeOf(field protoreflect.FieldDescriptor, request protoreflect.Message) string {
	if kind, _ := proto.GetExtension(field.Options(), plazav1.E_AuditTarget).(string); kind != "" {
		return kind
	}
	name := string(field.Name())
	if name == "reference_id" || name == "target_id" {
		return first(textsOf(request, protoreflect.Name(strings.TrimSuffix(name, "id")+"type")))
	}
	return targetTypes[strings.TrimSuffix(name, "s")]
}

// targets returns targets of one type with the internal ids of users and channels.
func (r *Recorder) targets(kind string, ids []string) []network.AuditTarget {
	var targets []network.AuditTarget
	for _, id := range ids[:min(len(ids), maxTargets)] {
		switch {
		case id == "":
			continue
		case kind == "user":
			id = r.userID(id)
		case kind == "channel":
			id = chat.ChannelID(r.deps, id)
		}
		targets = append(targets, network.AuditTarget{Type: kind, ID: id})
	}
	return targets
}

// userID returns the internal id of a user whom the operation has looked up, and a pseudonym for an unknown user: events
// must not contain public ids.
func (r *Recorder) userID(id string) string {
	switch known := r.deps.Directory.Known(id); {
	case known != "":
		return known
	case region.ValidID(id):
		return id
	}
	return r.deps.Directory.Pseudonym(id)
}

// textsOf returns the values of a field of one or more strings; nil if there is no such field.
func textsOf(m protoreflect.Message, name protoreflect.Name) []string {
	field := m.Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind || field.IsMap() {
		return nil
	}
	if !field.IsList() {
		return []string{m.Get(field).String()}
	}
	list := m.Get(field).List()
	texts := make([]string, list.Len())
	for i := range texts {
		texts[i] = list.Get(i).String()
	}
	return texts
}

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}
