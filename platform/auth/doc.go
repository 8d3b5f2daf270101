// Package auth knows who is calling and decides what they may do.
//
// A call passes three gates. The interceptor reads the key or token of the request and puts a Caller in the context:
// what was said is genuine, but whether that user still exists is not known yet. The service's first read brings the
// caller's row, and Confirm judges it. Then Require, the one place that decides, answers whether the caller may do this
// to that. A gate that was left out is closed: the interceptor refuses operations without an access option and answers
// that no service confirmed.
//
// Secrets come from files that are re-read when they change. None of the types of this package prints one.
package auth
