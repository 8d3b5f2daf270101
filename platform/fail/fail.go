// Package fail holds the errors that the domain can return.
//
// An Error carries a code of the interface, a sentence that is safe for the client, and the cause, which only the log
// ever sees. Package edge maps codes to the wire, in one place.
package fail

import (
	"errors"
	"fmt"
)

// Code is an error code of the interface, as it stands in the `code` field of the error body.
type Code int32

// The codes that Plaza answers with.
const (
	CodeBadRequest       Code = 400000
	CodeUnauthorized     Code = 400100
	CodeForbidden        Code = 400300
	CodePermissionDenied Code = 400301
	CodeUserMuted        Code = 400302
	CodeChannelMuted     Code = 400303
	CodeBanned           Code = 400304
	CodeTooManyMembers   Code = 400305
	CodeWordBlocked      Code = 400308
	CodeLinkNotAllowed   Code = 400309
	CodeGlobalBan        Code = 400312
	CodeMaxBlocked       Code = 400324
	CodeAlreadyExists    Code = 400315
	CodeRateLimited      Code = 400311
	CodeNotFound         Code = 400400
	CodeConflict         Code = 400900
	CodeUnexpected       Code = 500000
)

// Kind tells errors apart that share code 500000, because their HTTP statuses differ.
type Kind int

// The kinds of an error of code 500000; KindPlain is every other error.
const (
	KindPlain Kind = iota
	KindValidation
	KindTooLarge
	KindUnavailable
)

// Messages of the contract, to the letter.
const (
	MessageBadRequest   = "Bad Request."
	MessageUnauthorized = "Unauthorized"
	MessageNotAllowed   = "You are not allowed to do this"
	MessageFlagLimit    = "Number of flag already exceed."
	MessageNotFound     = "Resource Not Found."
	MessageValidation   = "Parameters validation error!"
	MessageUnexpected   = "Unexpected error"
)

// Error is a failure that the domain decided on. Message and Details go to the client; the cause goes to the log only.
type Error struct {
	Code    Code
	Kind    Kind
	Message string
	Details []string
	cause   error
}

// Error returns the sentence for the log: the client's message and the cause.
func (e *Error) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%d: %s: %v", e.Code, e.Message, e.cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is makes two errors equal when their code, kind and message are: causes and details may differ.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Kind == e.Kind && t.Message == e.Message
}

// Because returns a copy of e that remembers cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithDetails returns a copy of e with lines for `data.detail[]`.
func (e *Error) WithDetails(lines ...string) *Error {
	c := *e
	c.Details = append(append([]string(nil), e.Details...), lines...)
	return &c
}

// New makes an error of code with a message that is safe for the client.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// BadRequest is 400000.
func BadRequest() *Error { return New(CodeBadRequest, MessageBadRequest) }

// Unauthorized is 400100: no credentials, or credentials that do not hold.
func Unauthorized() *Error { return New(CodeUnauthorized, MessageUnauthorized) }

// NotAllowed is 400300 with the contract's sentence.
func NotAllowed() *Error { return New(CodeForbidden, MessageNotAllowed) }

// Forbidden is 400300 with a sentence of its own.
func Forbidden(message string) *Error { return New(CodeForbidden, message) }

// PermissionDenied is 400301: the caller lacks a permission or is not a member.
func PermissionDenied() *Error { return New(CodePermissionDenied, "Permission denied") }

// Banned is 400304: the caller is banned from the community.
func Banned() *Error { return New(CodeBanned, "User is banned from this community") }

// NotChannelMember is 400301: what is asked for is for the members of the channel.
func NotChannelMember() *Error {
	return New(CodePermissionDenied, "User is not a member of this channel")
}

// UserMuted is 400302: the caller may not write in the channel for a while.
func UserMuted() *Error { return New(CodeUserMuted, "User is muted in this channel") }

// ChannelMuted is 400303: only moderators write in the channel for a while.
func ChannelMuted() *Error { return New(CodeChannelMuted, "Channel is muted") }

// ChannelBanned is 400304 for a channel.
func ChannelBanned() *Error { return New(CodeBanned, "User is banned from this channel") }

// TooManyMembers is 400305: the channel would have more members than it may.
func TooManyMembers() *Error { return New(CodeTooManyMembers, "Number of members exceeded") }

// WordBlocked is 400308: a text holds a word of the block list.
func WordBlocked() *Error { return New(CodeWordBlocked, "The text holds a blocked word") }

// LinkNotAllowed is 400309: a text holds a link to a host that no rule of the allow list matches. An empty host is one that
// cannot be told.
func LinkNotAllowed(host string) *Error {
	e := New(CodeLinkNotAllowed, "The text holds a link that is not allowed")
	if host != "" {
		e = e.WithDetails("the allow list has no rule for " + host)
	}
	return e
}

// GlobalBan is 400312: the caller is banned from the whole network.
func GlobalBan() *Error { return New(CodeGlobalBan, "User has been banned globally") }

// AlreadyExists is 400315.
func AlreadyExists(message string) *Error { return New(CodeAlreadyExists, message) }

// FlagLimit is 400300 for a target that has as many flags as the network allows.
func FlagLimit() *Error { return New(CodeForbidden, MessageFlagLimit) }

// NotFound is 400400.
func NotFound() *Error { return New(CodeNotFound, MessageNotFound) }

// Conflict is 400900: somebody else changed the same thing meanwhile.
func Conflict() *Error { return New(CodeConflict, "Conflict") }

// Validation is 500000 for parameters out of bounds, one line a field.
func Validation(details ...string) *Error {
	return &Error{Code: CodeUnexpected, Kind: KindValidation, Message: MessageValidation, Details: details}
}

// TooLarge is 500000 for a body over the limit of limitBytes bytes.
func TooLarge(limitBytes int64) *Error {
	return &Error{
		Code: CodeUnexpected, Kind: KindTooLarge, Message: "Payload Too Large",
		Details: []string{fmt.Sprintf("the body may have at most %d bytes", limitBytes)},
	}
}

// FileTooLarge is TooLarge for a file in a body.
func FileTooLarge(limitBytes int64) *Error {
	e := TooLarge(limitBytes)
	e.Details = []string{fmt.Sprintf("a file may have at most %d bytes", limitBytes)}
	return e
}

// Unavailable is 500000 for data whose home region does not answer.
func Unavailable(detail string, cause error) *Error {
	return &Error{Code: CodeUnexpected, Kind: KindUnavailable, Message: MessageUnexpected, Details: []string{detail}, cause: cause}
}

// Unexpected is 500000 for everything else; only the log sees the cause.
func Unexpected(cause error) *Error {
	return &Error{Code: CodeUnexpected, Message: MessageUnexpected, cause: cause}
}

// From returns err as an *Error: as it is where it is one, as Unexpected where it is not, nil for nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Unexpected(err)
}
