// Package fail defines the errors that the domain returns.
//
// An Error carries an error code of the API, a message that is safe to send to the client, and a cause that only the
// log sees. Package edge maps codes to HTTP statuses and Connect codes, in one place.
package fail

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Code is an error code of the API: the `code` field of the error body.
type Code int32

// The error codes that Plaza returns.
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
	CodeBotDenied        Code = 403998
	CodeVisitorDenied    Code = 403999
	CodeUnexpected       Code = 500000
)

// Kind distinguishes errors that share code 500000 but have different HTTP statuses.
type Kind int

// The kinds of an error of code 500000. KindPlain also applies to every other code.
const (
	KindPlain Kind = iota
	KindValidation
	KindTooLarge
	KindUnavailable
)

// Messages whose wording the contract fixes.
const (
	MessageBadRequest   = "Bad Request."
	MessageUnauthorized = "Unauthorized"
	MessageNotAllowed   = "You are not allowed to do this"
	MessageFlagLimit    = "Number of flag already exceed."
	MessageNotFound     = "Resource Not Found."
	MessageValidation   = "Parameters validation error!"
	MessageUnexpected   = "Unexpected error"
)

// Error is a failure reported by the domain. Message and Details go to the client; the cause goes to the log only.
type Error struct {
	Code    Code
	Kind    Kind
	Message string
	Details []string
	// RetryAfter is the time after which a repeated request may succeed; 0 if it is not known.
	RetryAfter time.Duration
	// Planned is whether the server refuses what it could do, for a moment: nothing is wrong that operators should hear about.
	Planned bool
	cause   error
}

// Error returns the text for the log: the client's message and the cause.
func (e *Error) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%d: %s: %v", e.Code, e.Message, e.cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target has the same code, kind and message. Causes and details may differ.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Kind == e.Kind && t.Message == e.Message
}

// Because returns a copy of e with cause, which is logged but not sent to the client.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithDetails returns a copy of e with lines appended to `data.detail[]`.
func (e *Error) WithDetails(lines ...string) *Error {
	c := *e
	c.Details = append(append([]string(nil), e.Details...), lines...)
	return &c
}

// Limits on the details of an error that a client sees. Details quote what clients send.
const (
	MaxDetails      = 20
	MaxDetailLength = 300 // characters
)

// Bounded returns e with at most MaxDetails details of at most MaxDetailLength characters each. The last one says how many
// were left out.
func (e *Error) Bounded() *Error {
	long := func(detail string) bool { return utf8.RuneCountInString(detail) > MaxDetailLength }
	if len(e.Details) <= MaxDetails && !slices.ContainsFunc(e.Details, long) {
		return e
	}
	c := *e
	c.Details = nil
	for _, detail := range e.Details[:min(len(e.Details), MaxDetails)] {
		c.Details = append(c.Details, shorten(detail))
	}
	if len(e.Details) > MaxDetails {
		c.Details[MaxDetails-1] = fmt.Sprintf("%d more errors are not listed", len(e.Details)-MaxDetails+1)
	}
	return &c
}

// shorten returns text with at most MaxDetailLength characters. It keeps the end, which says what is wrong, rather than the
// middle, which quotes the client.
func shorten(text string) string {
	runes := []rune(text)
	if len(runes) <= MaxDetailLength {
		return text
	}
	const end = MaxDetailLength / 2
	return string(runes[:MaxDetailLength-end-1]) + "…" + string(runes[len(runes)-end:])
}

// New returns an error of code with a message that is safe for the client.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// BadRequest returns 400000.
func BadRequest() *Error { return New(CodeBadRequest, MessageBadRequest) }

// Unauthorized returns 400100: credentials are missing or invalid.
func Unauthorized() *Error { return New(CodeUnauthorized, MessageUnauthorized) }

// NotAllowed returns 400300 with the contract's message.
func NotAllowed() *Error { return New(CodeForbidden, MessageNotAllowed) }

// Forbidden returns 400300 with the given message.
func Forbidden(message string) *Error { return New(CodeForbidden, message) }

// PermissionDenied returns 400301: the caller lacks a permission or is not a member.
func PermissionDenied() *Error { return New(CodePermissionDenied, "Permission denied") }

// Banned returns 400304: the caller is banned from the community.
func Banned() *Error { return New(CodeBanned, "User is banned from this community") }

// NotChannelMember returns 400301: the operation is restricted to members of the channel.
func NotChannelMember() *Error {
	return New(CodePermissionDenied, "User is not a member of this channel")
}

// UserMuted returns 400302: the caller is temporarily not allowed to write in the channel.
func UserMuted() *Error { return New(CodeUserMuted, "User is muted in this channel") }

// ChannelMuted returns 400303: only moderators may write in the channel at the moment.
func ChannelMuted() *Error { return New(CodeChannelMuted, "Channel is muted") }

// ChannelBanned returns 400304: the caller is banned from the channel.
func ChannelBanned() *Error { return New(CodeBanned, "User is banned from this channel") }

// TooManyMembers returns 400305: the channel would exceed its maximum number of members.
func TooManyMembers() *Error { return New(CodeTooManyMembers, "Number of members exceeded") }

// WordBlocked returns 400308: a text contains a word of the block list.
func WordBlocked() *Error { return New(CodeWordBlocked, "The text contains a blocked word") }

// LinkNotAllowed returns 400309: a text contains a link to a host that no rule of the allow list matches. host is empty
// when the link's host could not be determined.
func LinkNotAllowed(host string) *Error {
	e := New(CodeLinkNotAllowed, "The text contains a link that is not allowed")
	if host != "" {
		e = e.WithDetails("the allow list has no rule for " + host)
	}
	return e
}

// RateLimited returns 400311: the caller has used up a limit, which detail names, for at least retryAfter.
func RateLimited(detail string, retryAfter time.Duration) *Error {
	e := New(CodeRateLimited, "Too many requests").WithDetails(detail)
	e.RetryAfter = retryAfter
	return e
}

// BotDenied returns 403998: bots only read.
func BotDenied() *Error { return New(CodeBotDenied, "Bots are not allowed to do this") }

// VisitorDenied returns 403999: visitors only read.
func VisitorDenied() *Error {
	return New(CodeVisitorDenied, "Visitors are not allowed to do this")
}

// GlobalBan returns 400312: the caller is banned from the whole network.
func GlobalBan() *Error { return New(CodeGlobalBan, "User has been banned globally") }

// AlreadyExists returns 400315 with the given message.
func AlreadyExists(message string) *Error { return New(CodeAlreadyExists, message) }

// FlagLimit returns 400300: the target already has as many flags as the network allows.
func FlagLimit() *Error { return New(CodeForbidden, MessageFlagLimit) }

// NotFound returns 400400.
func NotFound() *Error { return New(CodeNotFound, MessageNotFound) }

// Conflict returns 400900: the resource was modified concurrently.
func Conflict() *Error { return New(CodeConflict, "Conflict") }

// HandleTaken returns 400900: profile handles are unique.
func HandleTaken() *Error {
	return New(CodeConflict, "Another user has this profile handle or one that looks like it")
}

// Validation returns 500000 for invalid parameters, with one detail line per field.
func Validation(details ...string) *Error {
	return &Error{Code: CodeUnexpected, Kind: KindValidation, Message: MessageValidation, Details: details}
}

// TooLarge returns 500000 for a body of more than limitBytes bytes.
func TooLarge(limitBytes int64) *Error {
	return &Error{
		Code: CodeUnexpected, Kind: KindTooLarge, Message: "Payload Too Large",
		Details: []string{fmt.Sprintf("the body may have at most %d bytes", limitBytes)},
	}
}

// FileTooLarge returns 500000 for an uploaded file of more than limitBytes bytes.
func FileTooLarge(limitBytes int64) *Error {
	e := TooLarge(limitBytes)
	e.Details = []string{fmt.Sprintf("a file may have at most %d bytes", limitBytes)}
	return e
}

// Unavailable returns 500000 for data whose home region does not respond.
func Unavailable(detail string, cause error) *Error {
	return &Error{Code: CodeUnexpected, Kind: KindUnavailable, Message: MessageUnexpected, Details: []string{detail}, cause: cause}
}

// Unexpected returns 500000 for any other failure. Only the log sees the cause.
func Unexpected(cause error) *Error {
	return &Error{Code: CodeUnexpected, Message: MessageUnexpected, cause: cause}
}

// From returns err as an *Error: err itself if it is one, Unexpected(err) if not, and nil for nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Unexpected(err)
}
