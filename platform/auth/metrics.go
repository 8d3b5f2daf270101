package auth

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// cacheUses counts the uses of the cache of tokens.
type cacheUses struct{ hits, misses atomic.Int64 }

// Register registers the metrics of the issuer.
func (i *Issuer) Register(registerer prometheus.Registerer) error {
	var errs []error
	for result, uses := range map[string]*atomic.Int64{"hit": &i.uses.hits, "miss": &i.uses.misses} {
		errs = append(errs, registerer.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "plaza_token_cache_requests_total",
			Help:        "Tokens looked up in the cache of verified tokens, by result: hit, or miss, after which the signature was verified.",
			ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 { return float64(uses.Load()) })))
	}
	return errors.Join(errs...)
}

// Reasons are the values of ReasonOf.
func Reasons() []string {
	all := make([]string, 0, len(reasons)+1)
	for _, r := range reasons {
		all = append(all, r.name)
	}
	return append(all, reasonOther)
}

// reasonOther is the reason of other errors.
const reasonOther = "other"

var reasons = []struct {
	err  error
	name string
}{
	{ErrNoCredentials, "no_credentials"},
	{ErrWrongKey, "wrong_key"},
	{ErrTokenMalformed, "token_malformed"},
	{ErrTokenUnsigned, "token_unsigned"},
	{ErrTokenExpired, "token_expired"},
	{ErrTokenFromFuture, "token_from_future"},
	{ErrTokenForeign, "token_foreign"},
	{ErrTokenClaims, "token_claims"},
	{errAuthTokenMismatch, "auth_token_mismatch"},
	{ErrUnknownUser, "unknown_user"},
	{ErrDeletedUser, "deleted_user"},
	{ErrSessionRevoked, "session_revoked"},
	{ErrUnauthenticatedSession, "unauthenticated_session"},
}

// ReasonOf returns the reason of an Unauthorized error for metrics: one of Reasons.
func ReasonOf(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.name
		}
	}
	return reasonOther
}
