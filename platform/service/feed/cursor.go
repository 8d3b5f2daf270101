package feed

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
)

// place is a position in a feed by time.
type place struct {
	at time.Time
	id string
}

// top returns the position before every post that was created until t.
func top(until time.Time) place { return place{until, strings.Repeat("f", region.IDLength)} }

// newer reports whether p comes before other in the feed.
func (p place) newer(other place) bool {
	return p.at.After(other.at) || (p.at.Equal(other.at) && p.id > other.id)
}

// rankCursor is a position in a ranked feed.
type rankCursor struct {
	limit int
	back  bool
	// asOf is the time at which the first page was read.
	asOf time.Time
	// high is the position before the window, and low its last post; low is zero if the window has not been read yet.
	// With back and without low, the window is the one that ends at high.
	high, low place
	// score and id are the position in the window; id is empty at its start, or with back at its end.
	score int32
	id    string
}

const (
	rankVersion = 2 // tokens by time have 1
	noID        = "000000000000000000000000"
	// rankTokenSize is the number of bytes of a token: 90 characters.
	rankTokenSize = 3 + 8 + 2*(8+region.IDLength/2) + 4 + region.IDLength/2
)

var errBadToken = errors.New("not a token of this feed")

// token encodes the cursor as a page token.
func (c rankCursor) token() string {
	raw := make([]byte, 0, rankTokenSize)
	raw = append(raw, rankVersion, narrow.To[byte](c.limit), 0)
	if c.back {
		raw[2] = 1
	}
	raw = appendTime(raw, c.asOf)
	for _, p := range []place{c.high, c.low} {
		raw = appendID(appendTime(raw, p.at), p.id)
	}
	raw = binary.BigEndian.AppendUint32(raw, uint32(c.score)) //nolint:gosec // the inverse of the decoding
	return base64.RawURLEncoding.EncodeToString(appendID(raw, c.id))
}

func appendTime(raw []byte, t time.Time) []byte {
	if t.IsZero() {
		return binary.BigEndian.AppendUint64(raw, 0)
	}
	return binary.BigEndian.AppendUint64(raw, uint64(t.UnixMicro()))
}

func appendID(raw []byte, id string) []byte {
	if id == "" {
		id = noID
	}
	bytes, _ := hex.DecodeString(id)
	return append(raw, bytes...)
}

// parseRank decodes a page token.
func parseRank(token string) (rankCursor, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || strings.ContainsAny(token, "\r\n") || len(raw) != rankTokenSize || raw[0] != rankVersion || raw[2] > 1 {
		return rankCursor{}, errBadToken
	}
	c := rankCursor{limit: int(raw[1]), back: raw[2] == 1}
	raw = raw[3:]
	c.asOf, raw = takeTime(raw)
	c.high.at, raw = takeTime(raw)
	c.high.id, raw = takeID(raw)
	c.low.at, raw = takeTime(raw)
	c.low.id, raw = takeID(raw)
	c.score, raw = int32(binary.BigEndian.Uint32(raw)), raw[4:] //nolint:gosec // the inverse of the encoding
	c.id, _ = takeID(raw)
	sane := c.limit >= 1 && c.limit <= 100 && c.asOf.Year() >= 1971 && c.asOf.Year() < 9999 && !c.high.at.IsZero() &&
		c.high.at.Year() < 9999 && c.low.at.Year() < 9999 && c.high.at.Year() >= 1970
	if !sane {
		return rankCursor{}, errBadToken
	}
	return c, nil
}

func takeTime(raw []byte) (time.Time, []byte) {
	micros := int64(binary.BigEndian.Uint64(raw)) //nolint:gosec // checked by sane
	if micros == 0 {
		return time.Time{}, raw[8:]
	}
	return time.UnixMicro(micros).UTC(), raw[8:]
}

func takeID(raw []byte) (string, []byte) {
	id := hex.EncodeToString(raw[:region.IDLength/2])
	if id == noID {
		id = ""
	}
	return id, raw[region.IDLength/2:]
}
