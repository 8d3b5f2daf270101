// Package page encodes and decodes the opaque page tokens of lists: keyset cursors of at most 100 characters.
//
// A token is a seal followed by a position. Operations encode the position of a row as a Cursor. The seal identifies
// the list that the position belongs to; Bind adds and checks it for every operation, and wraps the token in JSON.
package page

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// DefaultLimit is the page size if the client does not specify one.
const DefaultLimit = 10

// MaxToken is the maximum length of a token in characters, including its seal, before it is wrapped.
const MaxToken = 100

const maxKey = 48 // bytes that remain of MaxToken in base64; enough for twelve letters of any script

// Cursor is a position in a list: immediately before or after the row with this key and id.
type Cursor struct {
	// Limit is the page size, 1 to 100. It is part of the token because clients send a limit with the first page only.
	Limit int
	// Back is true for the page before the position.
	Back bool
	// Time is the key of lists ordered by time, in microseconds.
	Time time.Time
	// Key is the key of lists ordered by name, at most 48 bytes.
	Key string
	// ID distinguishes rows with equal keys; empty for the first page.
	ID string
	// Gap is what earlier pages lack. Cursors with Back have none.
	Gap Gap
}

// First reports whether the cursor is at the beginning of the list.
func (c Cursor) First() bool { return c.ID == "" }

const tokenVersion = 1

// Token returns the encoded cursor, without the seal.
func (c Cursor) Token() string {
	if len(c.Gap.Homes) > 0 {
		return c.gapToken()
	}
	raw := []byte{tokenVersion, narrow.To[byte](c.Limit), flag(c.Back)}
	raw = binary.BigEndian.AppendUint64(raw, uint64(c.Time.UnixMicro()))
	id, _ := hex.DecodeString(c.ID)
	raw = append(raw, id...)
	raw = append(raw, c.Key[:min(len(c.Key), maxKey)]...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

var errBadToken = errors.New("not a page token")

// ParseToken decodes a token without its seal.
func ParseToken(token string) (Cursor, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	const fixed = 3 + 8 + idBytes
	brokenLines := strings.ContainsAny(token, "\r\n") // which the decoder ignores
	if err == nil && !brokenLines && len(raw) > 0 && raw[0] == gapVersion {
		return parseGap(raw)
	}
	if err != nil || brokenLines || len(raw) < fixed || len(raw) > fixed+maxKey || raw[0] != tokenVersion || raw[2] > 1 {
		return Cursor{}, errBadToken
	}
	c := Cursor{
		Limit: int(raw[1]),
		Back:  raw[2] == 1,
		Time:  timeOf(raw[3:]),
		ID:    hex.EncodeToString(raw[11:fixed]),
		Key:   string(raw[fixed:]),
	}
	if !c.sane() {
		return Cursor{}, errBadToken
	}
	return c, nil
}

// sane reports whether a list can contain the position.
func (c Cursor) sane() bool {
	return c.Limit >= 1 && c.Limit <= 100 && region.ValidID(c.ID) && saneText(c.Key) && saneTime(c.Time)
}

// saneTime reports whether the databases can store t.
func saneTime(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// saneText reports whether the databases can store s.
func saneText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Parse returns the cursor of a request. defaultLimit applies if the request has no limit. An invalid token is a
// validation error.
func Parse(o *plazav1.PageOptions, defaultLimit int) (Cursor, error) {
	if token := o.GetToken(); token != "" {
		c, err := ParseToken(token)
		if err != nil {
			return Cursor{}, fail.Validation("options.token: is not a token of this list")
		}
		return c, nil
	}
	limit := defaultLimit
	if o != nil && o.Limit != nil {
		limit = int(o.GetLimit())
	}
	return Cursor{Limit: limit}, nil
}

// Options returns the page of the options of a list that has its own.
func Options(o interface {
	GetLimit() int32
	GetToken() string
},
) *plazav1.PageOptions {
	options := &plazav1.PageOptions{Token: o.GetToken()}
	if limit := o.GetLimit(); limit > 0 {
		options.Limit = &limit
	}
	return options
}

// Merge returns o with absent fields taken from the flat `limit` and `token` parameters.
func Merge(o *plazav1.PageOptions, limit *int32, token string) *plazav1.PageOptions {
	merged := &plazav1.PageOptions{Limit: limit, Token: token}
	if o == nil {
		return merged
	}
	if o.Limit != nil {
		merged.Limit = o.Limit
	}
	if o.Token != "" {
		merged.Token = o.Token
	}
	return merged
}

// Window returns the page that the cursor selects, in the order of the list, and the tokens of its neighbours. rows
// were read in the direction of the cursor, with one more than the limit. at returns a row's position.
func Window[T any](c Cursor, rows []T, at func(T) (t time.Time, key, id string)) ([]T, *plazav1.Paging) {
	more := len(rows) > c.Limit
	if more {
		rows = rows[:c.Limit]
	}
	if c.Back {
		reverse(rows)
	}
	paging := &plazav1.Paging{}
	if len(rows) == 0 {
		return rows, paging
	}
	token := func(row T, back bool) string {
		t, key, id := at(row)
		return Cursor{Limit: c.Limit, Back: back, Time: t, Key: key, ID: id}.Token()
	}
	if (more && !c.Back) || c.Back {
		paging.Next = token(rows[len(rows)-1], false)
	}
	if !c.First() && (!c.Back || more) {
		paging.Previous = token(rows[0], true)
		paging.Prev = paging.Previous
	}
	return rows, paging
}

// Stopped is Window for a page that is not full because the list stopped at the position of stop, after which it may have
// further rows.
func Stopped[T any](c Cursor, rows []T, at func(T) (t time.Time, key, id string), stop Cursor) ([]T, *plazav1.Paging) {
	if c.Back {
		reverse(rows)
	}
	back, next := stop, stop
	back.Back = true
	if len(rows) > 0 && c.Back {
		next.Time, next.Key, next.ID = at(rows[len(rows)-1])
	} else if len(rows) > 0 {
		back.Time, back.Key, back.ID = at(rows[0])
	}
	paging := &plazav1.Paging{Next: next.Token()}
	if !c.First() {
		paging.Previous = back.Token()
		paging.Prev = paging.Previous
	}
	return rows, paging
}

func reverse[T any](rows []T) {
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// Beginning returns a cursor before every row of a list in direction desc. It leads on from a page without rows that was read
// backward, unlike a cursor without an id.
func Beginning(limit int, desc bool) Cursor {
	c := Cursor{Limit: limit}
	c.Time, c.Key, _ = c.Start(desc)
	c.ID = region.FixedID(region.US)
	return c
}

// Start returns the position from which to read in direction desc (already reversed for Back): the cursor's position,
// or the end of the list that precedes every row.
func (c Cursor) Start(desc bool) (t time.Time, key, id string) {
	if !c.First() {
		return c.Time, c.Key, c.ID
	}
	if desc {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "\U0010FFFF\U0010FFFF", "g"
	}
	return time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "", ""
}
