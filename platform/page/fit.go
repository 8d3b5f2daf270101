package page

import (
	"context"
	"encoding/base64"
	"math"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/budget"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
)

// MaxRowBytes limits the rows of a page, including those that it refers to, as they are in the database. A list with
// larger rows returns shorter pages.
const MaxRowBytes = 2 << 20

// MaxReadBytes limits the rows of an operation that is no list and only reads, such as one that gets several objects by their ids. It
// answers a validation error if they are larger.
const MaxReadBytes = 8 << 20

var errTooLarge = fail.Validation("the objects are larger than 8 MiB together: ask for fewer at a time")

// bounded calls an operation that only reads.
func bounded(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	response, rows, err := tryPage(ctx, request, next, MaxReadBytes)
	if rows.Exceeded() {
		return nil, errTooLarge
	}
	return response, err
}

// shorter returns the next page size to try after one whose rows did not fit, of which some were read: at most a quarter,
// and at most half of the rows read, because a page also reads what its rows refer to.
func shorter(limit int, rows *budget.Rows) int { return max(1, min(limit/4, rows.Taken()/2)) }

// allowance returns the limit for a page of limit rows. A single row has no limit: otherwise a list could not continue after it.
func allowance(limit int) int64 {
	if limit == 1 {
		return math.MaxInt64
	}
	return MaxRowBytes
}

// fit calls a list, with smaller page sizes until the rows fit. The tokens of the response keep the page size that the
// client chose, because the following rows may be smaller.
func (l *list) fit(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	response, rows, err := tryPage(ctx, request, next, MaxRowBytes)
	if !rows.Exceeded() {
		return response, err
	}
	message, _ := request.Any().(proto.Message)
	chosen := l.limit(message.ProtoReflect())
	for limit := chosen; rows.Exceeded(); {
		limit = shorter(limit, rows)
		l.setLimit(message.ProtoReflect(), limit)
		response, rows, err = tryPage(ctx, request, next, allowance(limit))
	}
	if err != nil {
		return nil, err
	}
	if message, ok := response.Any().(proto.Message); ok {
		changeTokens(l.responses, message.ProtoReflect(), func(token string) string { return withLimit(token, chosen) })
	}
	return response, nil
}

// tryPage calls a list with a budget for its rows.
func tryPage(
	ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc, bytes int64,
) (connect.AnyResponse, *budget.Rows, error) {
	limited, rows := budget.WithRows(ctx, bytes)
	response, err := next(limited, request)
	return response, rows, err
}

// limit returns the page size of a request: that of its token, its limit, or the usual default.
func (l *list) limit(request protoreflect.Message) int {
	for token := range tokensIn(request, l.requests) {
		if size := limitOf(token.text()); size > 0 {
			return size
		}
	}
	found := 0
	for i := range l.requests {
		m, ok := l.requests[i].in(request)
		if limit := l.requests[i].limit(); ok && limit != nil && m.Has(limit) {
			found = int(m.Get(limit).Int())
		}
	}
	if found > 0 {
		return found
	}
	return DefaultLimit
}

// setLimit changes the page size of a request.
func (l *list) setLimit(request protoreflect.Message, limit int) {
	changeTokens(l.requests, request, func(token string) string { return withLimit(token, limit) })
	for i := range l.requests {
		m, ok := l.requests[i].in(request)
		field := l.requests[i].limit()
		if field == nil || (!ok && len(l.requests) > 1) { // one place for the limit suffices
			continue
		}
		if !ok {
			m = l.requests[i].mutable(request)
		}
		m.Set(field, protoreflect.ValueOfInt32(narrow.To[int32](limit)))
	}
}

// changeTokens replaces the tokens in root.
func changeTokens(messages []pageMessage, root protoreflect.Message, change func(token string) string) {
	for token := range tokensIn(root, messages) {
		token.set(change(token.text()))
	}
}

// limitOf returns the page size in a token without its seal, 0 for other texts.
func limitOf(token string) int {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < 2 {
		return 0
	}
	return int(raw[1])
}

// withLimit returns a token without its seal with another page size, which every kind of token has in its second byte.
func withLimit(token string, limit int) string {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < 2 {
		return ""
	}
	raw[1] = narrow.To[byte](limit)
	return base64.RawURLEncoding.EncodeToString(raw)
}
