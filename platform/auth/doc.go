// Package auth authenticates callers and authorizes operations.
//
// A call passes three checks. The interceptor verifies the key or token of the request and puts a Caller into the
// context; whether that user still exists is not known yet. The first read of the service loads the caller's row, and
// Confirm checks it. Finally Require, the only place that decides, checks whether the caller has a permission on a
// resource. A forgotten check fails closed: the interceptor rejects operations without an access option and replaces
// the answer of a handler that did not confirm its caller.
//
// Secrets come from files that are re-read when they change. No type of this package prints one.
package auth
