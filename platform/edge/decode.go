package edge

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
)

// decodeJSON decodes a request, ignoring unknown fields. If it cannot, it marks m with a decodeError.
func (p *inputPlan) decodeJSON(data []byte, m proto.Message) {
	err := freeform.UnmarshalJSON(data, m)
	invalid, isInvalid := errors.AsType[*freeform.InvalidError](err)
	switch {
	case err == nil:
		p.recordEmptyLists(data, m.ProtoReflect())
	case !json.Valid(data):
		decodeErrorSyntax.mark(m)
	case !utf8.Valid(data):
		decodeErrorText.mark(m)
	case isInvalid:
		decodeError("v" + invalid.Error()).mark(m)
	default:
		decodeError("v" + mismatch(data, m.ProtoReflect().Descriptor())).mark(m)
	}
}

// recordEmptyLists stores the names of the lists that data sets to [] in the field that the message's empty_lists
// option names.
func (p *inputPlan) recordEmptyLists(data []byte, m protoreflect.Message) {
	var body map[string]json.RawMessage
	if p == nil || p.emptyLists == nil || json.Unmarshal(data, &body) != nil {
		return
	}
	for name, value := range body {
		var list []json.RawMessage
		field := p.message.Fields().ByJSONName(name)
		if field == nil || !field.IsList() || field == p.emptyLists || json.Unmarshal(value, &list) != nil {
			continue
		}
		if list != nil && len(list) == 0 {
			m.Mutable(p.emptyLists).List().Append(protoreflect.ValueOfString(name))
		}
	}
}

// decodeBinary is decodeJSON for binary messages.
func decodeBinary(data []byte, m proto.Message) {
	err := freeform.UnmarshalBinary(data, m)
	invalid, isInvalid := errors.AsType[*freeform.InvalidError](err)
	switch {
	case err == nil:
	case isInvalid:
		decodeError("v" + invalid.Error()).mark(m)
	case strings.Contains(err.Error(), "UTF-8"):
		decodeErrorText.mark(m)
	default:
		decodeErrorSyntax.mark(m)
	}
}

// decodeError says why a request could not be decoded. It travels inside the message, as an unknown field, to the
// validation interceptor, which rejects the request. Codecs cannot return it: connect would answer by itself, before
// any interceptor, so without authentication, without our error codes and without a log line. Clients cannot send
// one, because codecs drop unknown fields.
//
// Its first byte is 'b' for a bad request and 'v' for a validation error; the rest is the detail.
type decodeError string

const (
	decodeErrorSyntax decodeError = "b"
	decodeErrorText   decodeError = "vbody: must be valid UTF-8 throughout"
)

// decodeErrorNumber is the largest field number; no message of the interface uses it.
const decodeErrorNumber = protowire.MaxValidNumber

// mark clears m and stores the error in it.
func (e decodeError) mark(m proto.Message) {
	proto.Reset(m)
	tag := protowire.AppendTag(nil, decodeErrorNumber, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(tag, string(e)))
}

// decodeErrorOf returns the decodeError that m is marked with, nil if there is none.
func decodeErrorOf(m proto.Message) *fail.Error {
	unknown := m.ProtoReflect().GetUnknown()
	if len(unknown) == 0 {
		return nil
	}
	number, kind, n := protowire.ConsumeTag(unknown)
	if n < 0 || number != decodeErrorNumber || kind != protowire.BytesType {
		return nil
	}
	text, n := protowire.ConsumeString(unknown[n:])
	if n < 0 || text == "" || text[0] != 'v' {
		return fail.BadRequest()
	}
	return fail.Validation(text[1:])
}
