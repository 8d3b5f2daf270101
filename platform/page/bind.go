package page

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
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
		issue, err := l.open(message, b.caller(ctx))
		if err != nil {
			return nil, err
		}
		response, err := l.fit(ctx, request, next)
		if err != nil {
			return nil, err
		}
		if message, ok := response.Any().(proto.Message); ok {
			changeTokens(l.responses, message.ProtoReflect(), issue)
		}
		return response, nil
	}
}

// open replaces the tokens of a request by positions, and adds the parameters in them that the request lacks. It returns the function
// that makes a token for clients of a position in the response.
func (l *list) open(request proto.Message, caller string) (issue func(position string) string, err error) {
	if err := l.unwrapTokens(request.ProtoReflect()); err != nil {
		return nil, err
	}
	seal, query := l.seal(caller, request), l.query(request) // both depend on the parameters that were added
	if err := l.unseal(request.ProtoReflect(), seal); err != nil {
		return nil, err
	}
	return func(position string) string { return wrap(seal+position, query, l.maxToken) }, nil
}

// maxToken returns the maximum length of the tokens of a list.
func maxToken(requests []pageMessage) int {
	limit := MaxWrapped
	for i := range requests {
		limit = min(limit, requests[i].maxToken)
	}
	return limit
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
	for token := range tokensIn(request, l.requests) {
		position, sealed := strings.CutPrefix(token.text(), seal)
		if !sealed || position == "" {
			return l.notOurs()
		}
		token.set(position)
	}
	return nil
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
