package auth

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"connectrpc.com/connect"

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

// PermissionOf returns the permission that clients know by the name of p.
func PermissionOf(p plazav1.Permission) Permission { return permissionOf(p) }

// ValidAccess reports whether an access option is valid.
func ValidAccess(a Access) bool { return a.valid() }

// CachedTokens returns the number of tokens in the issuer's cache.
func CachedTokens(i *Issuer) int { return i.cache.Len() }

// GuestSecret returns the secret with which an app's server signs the devices of visitors: the lowercase hexadecimal
// SHA-256 of a server key.
func GuestSecret(serverKey string) string {
	digest := sha256.Sum256([]byte(serverKey))
	return hex.EncodeToString(digest[:])
}

// Custom returns the custom roles, sorted by id.
func (c *Catalog) Custom() []Role {
	return slices.SortedFunc(maps.Values(c.byID()), func(a, b Role) int { return cmp.Compare(a.ID, b.ID) })
}
