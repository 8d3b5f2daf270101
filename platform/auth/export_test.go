package auth

import (
	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// MaxExtraReads is the number of additional file reads per second that failed lookups may cause.
const MaxExtraReads = maxExtraReads

// MaxFileBytes is the size of the largest key file that is read.
const MaxFileBytes = maxFileBytes

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

// PermissionOf returns the permission that clients know by the name of p.
func PermissionOf(p plazav1.Permission) Permission { return permissionOf(p) }

// ValidAccess reports whether an access option is valid.
func ValidAccess(a Access) bool { return a.valid() }

// CachedTokens returns the number of tokens in the issuer's cache.
func CachedTokens(i *Issuer) int { return i.cache.Len() }
