package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
)

// MaxWrapped is the maximum length of a token as clients receive it, unless the page_fields option of a list says less.
const MaxWrapped = 1000

// wrapped is a token as clients receive it: base64 of this object in JSON. Some clients decode tokens, keep skip and limit, or
// rename skip to after, and encode them again. They make the token of the first page themselves, with a skip of 0.
type wrapped struct {
	Skip   any             `json:"skip,omitempty"` // the sealed position
	After  any             `json:"after,omitempty"`
	Before any             `json:"before,omitempty"`
	Limit  *int32          `json:"limit,omitempty"`
	Query  json.RawMessage `json:"query,omitempty"` // parameters that clients may leave out with a token
}

// sealed returns the sealed position. It is empty for the first page; a number other than 0 is no position.
func (w *wrapped) sealed() (position string, ok bool) {
	for _, value := range []any{w.Skip, w.After, w.Before} {
		switch value := value.(type) {
		case nil:
		case string:
			return value, value != ""
		case float64:
			if value != 0 {
				return "", false
			}
		default:
			return "", false
		}
	}
	return "", true
}

// unwrap decodes a token as clients send it. A text that is not a JSON object in base64 is a sealed position.
func unwrap(token string) *wrapped {
	token = strings.NewReplacer(" ", "+", "-", "+", "_", "/").Replace(strings.TrimRight(token, "="))
	raw, err := base64.RawStdEncoding.DecodeString(token)
	if err != nil || !bytes.HasPrefix(raw, []byte("{")) {
		return nil
	}
	w := &wrapped{}
	if json.Unmarshal(raw, w) != nil {
		return nil
	}
	return w
}

// Position returns the position of a token as clients receive it, empty for the first page and other texts.
func Position(token string) string {
	if w := unwrap(token); w != nil {
		token, _ = w.sealed()
	}
	return token[min(len(token), SealLength):]
}

// wrap encodes a sealed position in at most limit characters. If all does not fit, it leaves out the parameters, then the
// page size, which the position contains too, and at last returns the sealed position itself.
func wrap(sealed string, query json.RawMessage, limit int) string {
	size := narrow.To[int32](limitOf(sealed[SealLength:]))
	for _, w := range []wrapped{{Skip: sealed, Limit: &size, Query: query}, {Skip: sealed, Limit: &size}, {Skip: sealed}} {
		raw, err := json.Marshal(w)
		if text := base64.StdEncoding.EncodeToString(raw); err == nil && len(text) <= limit {
			return text
		}
	}
	return sealed
}

// unwrapTokens replaces the tokens of a request by sealed positions, and adds the parameters that they contain and the
// request lacks.
func (l *list) unwrapTokens(request protoreflect.Message) error {
	for token := range tokensIn(request, l.requests) {
		if len(token.text()) > l.maxToken {
			return fail.Validation(fmt.Sprintf("%s: must be at most %d characters", l.tokenName(), l.maxToken))
		}
		w := unwrap(token.text())
		if w == nil {
			continue
		}
		position, ok := w.sealed()
		if !ok || l.fill(request, w.Query) != nil {
			return l.notOurs()
		}
		token.set(position)
		if position == "" && token.limit != nil && w.Limit != nil {
			token.message.Set(token.limit, protoreflect.ValueOfInt32(*w.Limit))
		}
	}
	return nil
}

// notOurs returns the error for a token that another list has returned.
func (l *list) notOurs() error {
	return fail.Validation(l.tokenName() + ": is not a token of this list")
}

// fill sets the fields of request that it lacks to those of a query.
func (l *list) fill(request protoreflect.Message, query json.RawMessage) error {
	if len(query) == 0 {
		return nil
	}
	found := request.New()
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(query, found.Interface()); err != nil {
		return err
	}
	l.withoutPage(found)
	fillAbsent(request, found)
	return nil
}

func fillAbsent(into, from protoreflect.Message) {
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case !into.Has(field):
			into.Set(field, value)
		case field.Message() != nil && !field.IsList() && !field.IsMap():
			fillAbsent(into.Mutable(field).Message(), value.Message())
		}
		return true
	})
}

// query returns the parameters that a token of the request contains: all but the page, those in the path, and those that
// cannot be absent.
func (l *list) query(request proto.Message) json.RawMessage {
	rest := proto.Clone(request).ProtoReflect()
	l.withoutPage(rest)
	rest.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		plain := !field.HasPresence() && !field.IsList() && !field.IsMap() && field.Kind() != protoreflect.StringKind
		if plain || l.inPath[string(field.Name())] {
			rest.Clear(field)
		}
		return true
	})
	if isEmpty(rest) {
		return nil
	}
	raw, err := protojson.Marshal(rest.Interface())
	if err != nil {
		return nil
	}
	return raw
}

// withoutPage removes the page from a request.
func (l *list) withoutPage(request protoreflect.Message) {
	for i := range l.requests {
		l.requests[i].clear(request)
	}
}

var pathVariable = regexp.MustCompile(`\{(\w+)`)

// pathFields returns the names of the fields in the paths of a method.
func pathFields(method protoreflect.MethodDescriptor) map[string]bool {
	names := map[string]bool{}
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	for _, binding := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		for _, found := range pathVariable.FindAllStringSubmatch(fmt.Sprint(binding.GetPattern()), -1) {
			names[found[1]] = true
		}
	}
	return names
}
