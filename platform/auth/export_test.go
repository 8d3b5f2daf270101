package auth

import (
	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// HastyLooks is the number of extra looks at a file that failed lookups may cause a second.
const HastyLooks = hastyLooks

// NewInterceptorFor is NewInterceptor with access options of the test's choice.
func NewInterceptorFor(issuer *Issuer, server, api *KeySet, accessOf func(string) (Access, bool)) connect.Interceptor {
	return &interceptor{issuer: issuer, serverKeys: server, apiKeys: api, accessOf: accessOf}
}

// RangeMethods visits every method of package plaza.v1.
func RangeMethods(visit func(procedure string, method protoreflect.MethodDescriptor)) {
	rangeMethods(visit)
}

// PermissionOf returns the permission that clients know under the name of p.
func PermissionOf(p plazav1.Permission) Permission { return permissionOf(p) }

// Sensible reports whether an access option can be enforced.
func Sensible(a Access) bool { return a.sensible() }

// Remembered is the number of tokens that the issuer remembers.
func Remembered(i *Issuer) int { return i.known.tokens.Len() }
