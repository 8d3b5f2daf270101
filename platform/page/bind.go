package page

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
)

// SealLength is the number of characters of a token that identify its list: 30 bits, which guard against mistakes. A
// seal is not secret and does not prevent forged positions; a position gives access only to what its list shows anyway.
const SealLength = 5

// Bind returns the interceptor that binds page tokens to the list that issued them: the same operation with the same
// parent, filters and order, requested by the same caller. Any other token is a validation error.
//
// It applies to every operation, and operations only see positions. The seal in front of a position is a hash of the
// request without its page options; it is the same on every server, in every protocol and after a restart. caller
// returns a stable identifier of the caller in the context.
func Bind(caller func(context.Context) string) connect.Interceptor {
	b := &binding{caller: caller}
	return connect.UnaryInterceptorFunc(b.wrap)
}

type binding struct {
	caller func(context.Context) string
	lists  sync.Map // *list by procedure
}

func (b *binding) wrap(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		asked, isProto := request.Any().(proto.Message)
		l := b.listOf(request.Spec())
		if l == nil || !isProto || request.Spec().IsClient {
			return next(ctx, request)
		}
		seal := l.seal(b.caller(ctx), asked)
		if err := l.open(asked.ProtoReflect(), seal); err != nil {
			return nil, err
		}
		response, err := next(ctx, request)
		if err != nil {
			return nil, err
		}
		if answer, ok := response.Any().(proto.Message); ok {
			l.close(answer.ProtoReflect(), seal)
		}
		return response, nil
	}
}

// list is an operation that returns page tokens. Its paths lead through singular message fields.
type list struct {
	procedure string
	tokens    []path // of requests
	pagings   []path // of answers
}

type path []protoreflect.FieldDescriptor

// listOf returns the list that spec describes, or nil if its answer has no page tokens.
func (b *binding) listOf(spec connect.Spec) *list {
	if known, ok := b.lists.Load(spec.Procedure); ok {
		l, _ := known.(*list)
		return l
	}
	var l *list
	if method, ok := spec.Schema.(protoreflect.MethodDescriptor); ok {
		found := &list{procedure: spec.Procedure, tokens: tokensOf(method.Input()), pagings: pagingsOf(method.Output(), nil)}
		if len(found.tokens) > 0 && len(found.pagings) > 0 {
			l = found
		}
	}
	b.lists.Store(spec.Procedure, l)
	return l
}

// tokensOf returns the paths of the tokens in a request: in its page options, and at the top level.
func tokensOf(request protoreflect.MessageDescriptor) []path {
	var tokens []path
	if options := request.Fields().ByName("options"); options != nil && options.Message() != nil && !options.IsList() {
		if token := options.Message().Fields().ByName("token"); token != nil {
			tokens = append(tokens, path{options, token})
		}
	}
	if token := request.Fields().ByName("token"); token != nil && token.Kind() == protoreflect.StringKind {
		tokens = append(tokens, path{token})
	}
	return tokens
}

// pagingsOf returns the paths of the pagings in an answer, including those in a message that wraps its collections.
func pagingsOf(answer protoreflect.MessageDescriptor, above path) []path {
	const deepest = 2
	var pagings []path
	for i := range answer.Fields().Len() {
		field := answer.Fields().Get(i)
		if field.Message() == nil || field.IsList() || field.IsMap() {
			continue
		}
		at := slices.Concat(above, path{field})
		switch {
		case strings.HasSuffix(string(field.Message().Name()), "Paging"):
			pagings = append(pagings, at)
		case len(at) < deepest:
			pagings = append(pagings, pagingsOf(field.Message(), at)...)
		}
	}
	return pagings
}

// seal returns the prefix of the tokens of a list as requested by a caller.
func (l *list) seal(caller string, asked proto.Message) string {
	rest := proto.Clone(asked).ProtoReflect()
	clearPage(rest)
	if options := rest.Descriptor().Fields().ByName("options"); options != nil && options.Message() != nil && rest.Has(options) {
		inner := rest.Mutable(options).Message()
		clearPage(inner, "type", "around")
		if empty(inner) {
			rest.Clear(options)
		}
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(rest.Interface())
	if err != nil {
		raw = nil // a decoded message can always be encoded
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", l.procedure, caller, raw))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:SealLength]
}

// clearPage clears the fields that select a page.
func clearPage(m protoreflect.Message, more ...protoreflect.Name) {
	m.SetUnknown(nil)
	for _, name := range append(more, "limit", "token") {
		if field := m.Descriptor().Fields().ByName(name); field != nil {
			m.Clear(field)
		}
	}
}

func empty(m protoreflect.Message) bool {
	none := true
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { none = false; return false })
	return none
}

// open removes the seal from the tokens of a request.
func (l *list) open(asked protoreflect.Message, seal string) error {
	for _, at := range l.tokens {
		m, ok := at.holder(asked)
		if !ok {
			continue
		}
		token := at.last()
		text := m.Get(token).String()
		if text == "" || madeByClient(text) {
			continue
		}
		position, ours := strings.CutPrefix(text, seal)
		if !ours || position == "" {
			return fail.Validation(l.tokens[0].name() + ": is not a token of this list")
		}
		m.Set(token, protoreflect.ValueOfString(position))
	}
	return nil
}

// close adds the seal to the tokens of an answer.
func (l *list) close(answer protoreflect.Message, seal string) {
	var done []protoreflect.ProtoMessage // an answer may contain the same paging twice
	for _, at := range l.pagings {
		m, ok := at.holder(answer)
		if !ok || !m.Has(at.last()) {
			continue
		}
		paging := m.Mutable(at.last()).Message()
		if slices.Contains(done, paging.Interface()) {
			continue
		}
		done = append(done, paging.Interface())
		for _, name := range []protoreflect.Name{"next", "previous", "prev"} {
			field := paging.Descriptor().Fields().ByName(name)
			if field != nil && paging.Has(field) {
				paging.Set(field, protoreflect.ValueOfString(seal+paging.Get(field).String()))
			}
		}
	}
}

// holder returns the message that has the last field of the path; false if it is not set.
func (p path) holder(m protoreflect.Message) (protoreflect.Message, bool) {
	for _, field := range p[:len(p)-1] {
		if !m.Has(field) {
			return nil, false
		}
		m = m.Mutable(field).Message()
	}
	return m, true
}

func (p path) last() protoreflect.FieldDescriptor { return p[len(p)-1] }

// name returns the path as it appears in errors.
func (p path) name() string {
	names := make([]string, len(p))
	for i, field := range p {
		names[i] = field.JSONName()
	}
	return strings.Join(names, ".")
}

// madeByClient reports whether a client composed the token itself, a JSON object as base64, as clients of some lists do
// for the first page. Operations of those lists interpret such tokens; all others reject them.
func madeByClient(token string) bool {
	raw, err := base64.StdEncoding.DecodeString(token)
	return err == nil && len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}
