package fail_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
)

// TestBounded checks the limits on details, and one past them.
func TestBounded(t *testing.T) {
	t.Parallel()
	repeat := func(n int) []string { return slices.Repeat([]string{"a: b"}, n) }
	long := func(n int) string { return "x: " + strings.Repeat("é", n-5) + "zz" }
	for name, tc := range map[string]struct{ details, want []string }{
		"none":              {nil, nil},
		"as many as listed": {repeat(fail.MaxDetails), repeat(fail.MaxDetails)},
		"one more":          {repeat(fail.MaxDetails + 1), append(repeat(fail.MaxDetails-1), "2 more errors are not listed")},
		"as long as shown":  {[]string{long(fail.MaxDetailLength)}, []string{long(fail.MaxDetailLength)}},
		"longer": {
			[]string{long(fail.MaxDetailLength + 1)},
			[]string{"x: " + strings.Repeat("é", 146) + "…" + strings.Repeat("é", 148) + "zz"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := fail.Validation(tc.details...)
			require.Equal(t, tc.want, given.Bounded().Details)
			require.Equal(t, tc.details, given.Details, "the original is unchanged")
			require.ErrorIs(t, given.Bounded(), given)
		})
	}
}

var errCause = errors.New("cause")

// TestErrors checks the code, kind, message and details of every constructor, which are part of the API.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		got     *fail.Error
		code    fail.Code
		kind    fail.Kind
		message string
		details []string
	}{
		"bad request":        {fail.BadRequest(), 400000, fail.KindPlain, "Bad Request.", nil},
		"unauthorized":       {fail.Unauthorized(), 400100, fail.KindPlain, "Unauthorized", nil},
		"not allowed":        {fail.NotAllowed(), 400300, fail.KindPlain, "You are not allowed to do this", nil},
		"forbidden":          {fail.Forbidden("No"), 400300, fail.KindPlain, "No", nil},
		"flag limit":         {fail.FlagLimit(), 400300, fail.KindPlain, "Number of flag already exceed.", nil},
		"permission denied":  {fail.PermissionDenied(), 400301, fail.KindPlain, "Permission denied", nil},
		"not channel member": {fail.NotChannelMember(), 400301, fail.KindPlain, "User is not a member of this channel", nil},
		"user muted":         {fail.UserMuted(), 400302, fail.KindPlain, "User is muted in this channel", nil},
		"channel muted":      {fail.ChannelMuted(), 400303, fail.KindPlain, "Channel is muted", nil},
		"banned":             {fail.Banned(), 400304, fail.KindPlain, "User is banned from this community", nil},
		"channel banned":     {fail.ChannelBanned(), 400304, fail.KindPlain, "User is banned from this channel", nil},
		"too many members":   {fail.TooManyMembers(), 400305, fail.KindPlain, "Number of members exceeded", nil},
		"word blocked":       {fail.WordBlocked(), 400308, fail.KindPlain, "The text contains a blocked word", nil},
		"link not allowed": {
			fail.LinkNotAllowed("evil.example"), 400309, fail.KindPlain, "The text contains a link that is not allowed",
			[]string{"the allow list has no rule for evil.example"},
		},
		"link, unknown host": {fail.LinkNotAllowed(""), 400309, fail.KindPlain, "The text contains a link that is not allowed", nil},
		"rate limited":       {fail.RateLimited("no more", time.Second), 400311, fail.KindPlain, "Too many requests", []string{"no more"}},
		"bot":                {fail.BotDenied(), 403998, fail.KindPlain, "Bots are not allowed to do this", nil},
		"visitor":            {fail.VisitorDenied(), 403999, fail.KindPlain, "Visitors are not allowed to do this", nil},
		"global ban":         {fail.GlobalBan(), 400312, fail.KindPlain, "User has been banned globally", nil},
		"already exists":     {fail.AlreadyExists("Twice"), 400315, fail.KindPlain, "Twice", nil},
		"not found":          {fail.NotFound(), 400400, fail.KindPlain, "Resource Not Found.", nil},
		"conflict":           {fail.Conflict(), 400900, fail.KindPlain, "Conflict", nil},
		"validation": {
			fail.Validation("a: b", "c: d"), 500000, fail.KindValidation, "Parameters validation error!",
			[]string{"a: b", "c: d"},
		},
		"too large": {fail.TooLarge(5), 500000, fail.KindTooLarge, "Payload Too Large", []string{"the body may have at most 5 bytes"}},
		"file too large": {
			fail.FileTooLarge(5), 500000, fail.KindTooLarge, "Payload Too Large",
			[]string{"a file may have at most 5 bytes"},
		},
		"unavailable": {fail.Unavailable("eu", errCause), 500000, fail.KindUnavailable, "Unexpected error", []string{"eu"}},
		"unexpected":  {fail.Unexpected(errCause), 500000, fail.KindPlain, "Unexpected error", nil},
		"with more details": {
			fail.Validation("a").WithDetails("b", "c"), 500000, fail.KindValidation, "Parameters validation error!",
			[]string{"a", "b", "c"},
		},
		"from another error":   {fail.From(context.Canceled), 500000, fail.KindPlain, "Unexpected error", nil},
		"from a wrapped Error": {fail.From(fmt.Errorf("load: %w", fail.NotFound())), 400400, fail.KindPlain, "Resource Not Found.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.code, tc.got.Code)
			require.Equal(t, tc.kind, tc.got.Kind)
			require.Equal(t, tc.message, tc.got.Message)
			require.Equal(t, tc.details, tc.got.Details)
		})
	}
	require.Nil(t, fail.From(nil))
	require.Equal(t, 3*time.Second, fail.RateLimited("no more", 3*time.Second).RetryAfter)
	require.ErrorIs(t, fail.Unavailable("eu", errCause), errCause)
	require.ErrorIs(t, fail.Unexpected(errCause), errCause)
}

// TestIs checks that errors are compared by code, kind and message, ignoring cause and details.
func TestIs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err, target error
		want        bool
	}{
		"equal":             {fail.NotFound(), fail.NotFound(), true},
		"different cause":   {fail.NotFound().Because(errCause), fail.NotFound(), true},
		"different details": {fail.Validation("a"), fail.Validation("b"), true},
		"wrapped":           {fmt.Errorf("load: %w", fail.NotFound()), fail.NotFound(), true},
		"different code":    {fail.NotFound(), fail.Conflict(), false},
		"different message": {fail.Banned(), fail.ChannelBanned(), false},
		"different kind":    {fail.Unexpected(nil), fail.Unavailable("", nil), false},
		"another error":     {fail.NotFound(), errCause, false},
		"its cause":         {fail.NotFound().Because(errCause), errCause, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, errors.Is(tc.err, tc.target))
		})
	}
}

// TestCauseIsLogged checks that the cause is part of the text for logs but not of the message for clients.
func TestCauseIsLogged(t *testing.T) {
	t.Parallel()
	plain := fail.NotFound()
	caused := plain.Because(errCause)
	require.Equal(t, "400400: Resource Not Found.", plain.Error())
	require.Equal(t, "400400: Resource Not Found.: cause", caused.Error())
	require.NotContains(t, caused.Message, "cause")
	require.NoError(t, plain.Unwrap(), "Because returns a copy")

	base := fail.Validation("a")
	_, _ = base.WithDetails("b"), base.WithDetails("c")
	require.Equal(t, []string{"a"}, base.Details, "WithDetails returns a copy")
}
