package page

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// SealLength is the number of characters with which a token identifies its list: 30 bits, against mistakes. The seal
// is not a secret and does not prevent forged positions, which reveal nothing that the list itself does not show.
const SealLength = 5

// Bind returns the interceptor that binds page tokens to the list that issued them: the same operation, called by the
// same caller with the same parent, filters and order. A token of another list is a validation error. It also shortens
// pages whose rows exceed MaxRowBytes, by calling the operation again, which must not change its request.
//
// The interceptor prefixes tokens with a seal, a hash of the request without its page, which is the same on every
// server, in every protocol and after a restart. Clients receive them in base64 of a JSON object with the page size and
// the parameters of the request, which they need not send again. The interceptor adds these parameters to the request, so
// that it must run before the request is checked. Operations only see positions. Which fields hold tokens is declared
// by the page_fields option of messages in the requests and responses of services. caller identifies the caller of a
// request; its result must be the same on every server.
func Bind(caller func(context.Context) string, services []protoreflect.ServiceDescriptor) (connect.Interceptor, error) {
	b := &binding{caller: caller, lists: map[string]*list{}, reads: map[string]bool{}}
	for _, service := range services {
		for i := range service.Methods().Len() {
			if err := b.add(service.Methods().Get(i)); err != nil {
				return nil, err
			}
		}
	}
	return connect.UnaryInterceptorFunc(b.wrap), nil
}

type binding struct {
	caller func(context.Context) string
	lists  map[string]*list // by procedure
	reads  map[string]bool  // procedures without side effects that are no lists
}

// list is an operation with page tokens in its request and its response.
type list struct {
	procedure string
	requests  []pageMessage
	responses []pageMessage
	inPath    map[string]bool // the names of the fields in the path
	maxToken  int             // in characters
}

// add adds a method if it is a list.
func (b *binding) add(method protoreflect.MethodDescriptor) error {
	requests, err := pageMessages(method.Input(), nil)
	if err != nil {
		return err
	}
	responses, err := pageMessages(method.Output(), nil)
	if err != nil {
		return err
	}
	procedure := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	switch {
	case len(requests) > 0 && len(responses) > 0:
		b.lists[procedure] = &list{
			procedure: procedure, requests: requests, responses: responses, inPath: pathFields(method), maxToken: maxToken(requests),
		}
	case options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS:
		b.reads[procedure] = true
	}
	return nil
}

func (b *binding) wrap(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		message, isProto := request.Any().(proto.Message)
		l := b.lists[request.Spec().Procedure]
		switch {
		case b.reads[request.Spec().Procedure]:
			return bounded(ctx, request, next)
		case l == nil || !isProto:
			return next(ctx, request)
		}
		if err := l.unwrapTokens(message.ProtoReflect()); err != nil {
			return nil, err
		}
		seal, query := l.seal(b.caller(ctx), message), l.query(message)
		if err := l.unseal(message.ProtoReflect(), seal); err != nil {
			return nil, err
		}
		response, err := l.fit(ctx, request, next)
		if err != nil {
			return nil, err
		}
		if message, ok := response.Any().(proto.Message); ok {
			l.sealTokens(message.ProtoReflect(), seal, query)
		}
		return response, nil
	}
}

// pageMessage is a message with the page_fields option, in a request or a response.
type pageMessage struct {
	path     []protoreflect.FieldDescriptor // from the request or response to the message
	tokens   []protoreflect.FieldDescriptor
	position []protoreflect.FieldDescriptor
	maxToken int // in characters
}

// maxToken returns the maximum length of the tokens of a list.
func maxToken(requests []pageMessage) int {
	limit := MaxWrapped
	for i := range requests {
		limit = min(limit, requests[i].maxToken)
	}
	return limit
}

// pageMessages returns the messages with the page_fields option below root and root itself, the outermost last. It
// does not look into lists and maps.
func pageMessages(root protoreflect.MessageDescriptor, above []protoreflect.FieldDescriptor) ([]pageMessage, error) {
	var found []pageMessage
	for i := range root.Fields().Len() {
		field := root.Fields().Get(i)
		recursive := slices.ContainsFunc(above, func(f protoreflect.FieldDescriptor) bool { return f.Message() == field.Message() })
		if field.Message() == nil || field.IsList() || field.IsMap() || recursive {
			continue
		}
		below, err := pageMessages(field.Message(), slices.Concat(above, []protoreflect.FieldDescriptor{field}))
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	option, _ := proto.GetExtension(root.Options(), plazav1.E_PageFields).(*plazav1.PageFields)
	if option == nil {
		return found, nil
	}
	tokens, err := fieldsOf(root, option.GetTokens())
	if err != nil {
		return nil, err
	}
	position, err := fieldsOf(root, option.GetPosition())
	limit := MaxWrapped
	if option.GetMaxToken() > 0 {
		limit = int(option.GetMaxToken())
	}
	return append(found, pageMessage{path: above, tokens: tokens, position: position, maxToken: limit}), err
}

func fieldsOf(message protoreflect.MessageDescriptor, names []string) ([]protoreflect.FieldDescriptor, error) {
	fields := make([]protoreflect.FieldDescriptor, len(names))
	for i, name := range names {
		if fields[i] = message.Fields().ByName(protoreflect.Name(name)); fields[i] == nil {
			return nil, fmt.Errorf("page_fields of %s: there is no field %q", message.FullName(), name)
		}
	}
	return fields, nil
}

// in returns the message in root, false if it is not set.
func (p *pageMessage) in(root protoreflect.Message) (protoreflect.Message, bool) {
	for _, field := range p.path {
		if !root.Has(field) {
			return nil, false
		}
		root = root.Mutable(field).Message()
	}
	return root, true
}

// clear removes the page from a request.
func (p *pageMessage) clear(request protoreflect.Message) {
	m, ok := p.in(request)
	if !ok {
		return
	}
	m.SetUnknown(nil)
	for _, field := range slices.Concat(p.tokens, p.position) {
		m.Clear(field)
	}
	if last := len(p.path) - 1; last >= 0 && isEmpty(m) {
		parent, _ := (&pageMessage{path: p.path[:last]}).in(request)
		parent.Clear(p.path[last])
	}
}

func isEmpty(m protoreflect.Message) bool {
	empty := true
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { empty = false; return false })
	return empty
}

// seal returns the prefix of the tokens of a list.
func (l *list) seal(caller string, request proto.Message) string {
	rest := proto.Clone(request)
	l.withoutPage(rest.ProtoReflect())
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(rest)
	if err != nil {
		raw = nil // requests contain valid text only
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", l.procedure, caller, raw))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:SealLength]
}

// unseal removes the seal from the tokens of a request.
func (l *list) unseal(request protoreflect.Message, seal string) error {
	for i := range l.requests {
		m, ok := l.requests[i].in(request)
		if !ok {
			continue
		}
		for _, token := range l.requests[i].tokens {
			text := m.Get(token).String()
			if text == "" {
				continue
			}
			position, sealed := strings.CutPrefix(text, seal)
			if !sealed || position == "" {
				return l.notOurs()
			}
			m.Set(token, protoreflect.ValueOfString(position))
		}
	}
	return nil
}

// sealTokens adds the seal to the tokens of a response, and wraps them together with the parameters of the request.
func (l *list) sealTokens(response protoreflect.Message, seal string, query json.RawMessage) {
	var done []protoreflect.ProtoMessage // a response may contain the same paging twice
	for i := range l.responses {
		m, ok := l.responses[i].in(response)
		if !ok || slices.Contains(done, m.Interface()) {
			continue
		}
		done = append(done, m.Interface())
		for _, token := range l.responses[i].tokens {
			if m.Has(token) {
				m.Set(token, protoreflect.ValueOfString(wrap(seal+m.Get(token).String(), query, l.maxToken)))
			}
		}
	}
}

// tokenName returns the path of the first token of a request in JSON names.
func (l *list) tokenName() string {
	first := l.requests[0]
	var names []string
	for _, field := range append(slices.Clone(first.path), first.tokens[0]) {
		names = append(names, field.JSONName())
	}
	return strings.Join(names, ".")
}
