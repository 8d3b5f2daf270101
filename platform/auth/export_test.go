package auth

import (
	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MaxExtraReads is the number of additional file reads per second that failed lookups may cause.
const MaxExtraReads = maxExtraReads

// NewInterceptorFor is NewInterceptor with access options chosen by the test.
func NewInterceptorFor(
	issuer *Issuer, server, api *KeySet, accessOf func(string) (Access, bool), options ...InterceptorOption,
) connect.Interceptor {
	i := &interceptor{issuer: issuer, serverKeys: server, apiKeys: api, accessOf: accessOf}
	for _, option := range options {
		option(i)
	}
	return i
}

// RangeMethods calls visit for every method of package plaza.v1.
func RangeMethods(visit func(procedure string, method protoreflect.MethodDescriptor)) {
	rangeMethods(visit)
}

// ValidAccess reports whether an access option is valid.
func ValidAccess(a Access) bool { return a.valid() }

// CachedTokens returns the number of tokens in the issuer's cache.
func CachedTokens(i *Issuer) int { return i.cache.tokens.Len() }
