package edge

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
)

// maxDepth is how deep JSON may be nested.
const maxDepth = 100

// decodeJSON decodes a request; where it cannot, the request carries the flaw. Unknown fields are ignored.
func decodeJSON(data []byte, m proto.Message) {
	options := protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}
	if options.Unmarshal(data, m) == nil {
		markCleared(data, m.ProtoReflect())
		return
	}
	found := flawSyntax
	switch {
	case !json.Valid(data):
	case !utf8.Valid(data):
		found = flawNotText
	default:
		found = flaw("v" + mismatch(data, m.ProtoReflect().Descriptor()))
	}
	found.mark(m)
}

// markCleared names the empty lists of a JSON body in the field `clear` of a request that has one: what Protobuf cannot tell from
// absent lists, JSON can, and clients say by it that a list is to be emptied.
func markCleared(data []byte, m protoreflect.Message) {
	cleared := m.Descriptor().Fields().ByName("clear")
	if cleared == nil || !cleared.IsList() || cleared.Kind() != protoreflect.StringKind {
		return
	}
	var body map[string]json.RawMessage
	if json.Unmarshal(data, &body) != nil {
		return
	}
	for name, value := range body {
		var list []json.RawMessage
		field := m.Descriptor().Fields().ByJSONName(name)
		if field != nil && field.IsList() && field != cleared && json.Unmarshal(value, &list) == nil && list != nil && len(list) == 0 {
			m.Mutable(cleared).List().Append(protoreflect.ValueOfString(name))
		}
	}
}

// decodeBinary is decodeJSON for binary messages.
func decodeBinary(data []byte, m proto.Message) {
	err := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, m)
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "UTF-8"):
		flawNotText.mark(m)
	default:
		flawSyntax.mark(m)
	}
}

// flaw says why a request could not be decoded. It travels inside the message, as an unknown field: connect calls no
// interceptor for a request that its codec refuses, and would answer by itself, without our code, our words and our log
// line. So the codecs refuse nothing, and the validation interceptor refuses what carries a flaw. Codecs drop the
// unknown fields of clients, so that no client can send one.
//
// The first byte tells bad requests 'b' from validation errors 'v'; the rest is the detail.
type flaw string

const (
	flawSyntax  flaw = "b"
	flawNotText flaw = "vbody: must be valid UTF-8 throughout"
)

// flawNumber is the highest field number there is; no message of ours uses it.
const flawNumber = protowire.MaxValidNumber

func (f flaw) unknown() []byte {
	return protowire.AppendString(protowire.AppendTag(nil, flawNumber, protowire.BytesType), string(f))
}

// mark empties m and puts the flaw into it.
func (f flaw) mark(m proto.Message) {
	proto.Reset(m)
	m.ProtoReflect().SetUnknown(f.unknown())
}

// flawOf returns the failure that the flaw of m stands for, nil where there is none.
func flawOf(m proto.Message) *fail.Error {
	unknown := m.ProtoReflect().GetUnknown()
	if len(unknown) == 0 {
		return nil
	}
	number, kind, n := protowire.ConsumeTag(unknown)
	if n < 0 || number != flawNumber || kind != protowire.BytesType {
		return nil
	}
	text, n := protowire.ConsumeString(unknown[n:])
	if n < 0 || text == "" || text[0] != 'v' {
		return fail.BadRequest()
	}
	return fail.Validation(text[1:])
}
