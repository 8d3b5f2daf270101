package feed

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
)

// place is a position in a feed by time.
type place struct {
	at time.Time
	id string
}

// top returns the position before every post that was created until t.
func top(until time.Time) place { return place{until, strings.Repeat("f", region.IDLength)} }

func placeOf(e content.PostFeedEntry) place { return place{e.CreatedAt, e.ID} }

// compare orders positions as the feed does, the newest first.
func (p place) compare(other place) int {
	return cmp.Or(other.at.Compare(p.at), strings.Compare(other.id, p.id))
}

// newer reports whether p comes before other in the feed.
func (p place) newer(other place) bool { return p.compare(other) < 0 }

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

const rankVersion = 2 // tokens by time have 1

// rankToken is the form of a cursor in page tokens, which have 90 characters. Times are in microseconds; zeros stand for
// absent times and ids.
type rankToken struct {
	Version, Limit, Back byte
	AsOf                 int64
	HighAt               int64
	HighID               rawID
	LowAt                int64
	LowID                rawID
	Score                int32
	ID                   rawID
}

type rawID [region.IDLength / 2]byte

var errBadToken = errors.New("not a token of this feed")

// token encodes the cursor as a page token.
func (c rankCursor) token() string {
	t := rankToken{
		Version: rankVersion, Limit: narrow.To[byte](c.limit), AsOf: microsOf(c.asOf), HighAt: microsOf(c.high.at),
		HighID: rawIDOf(c.high.id), LowAt: microsOf(c.low.at), LowID: rawIDOf(c.low.id), Score: c.score, ID: rawIDOf(c.id),
	}
	if c.back {
		t.Back = 1
	}
	raw, err := binary.Append(nil, binary.BigEndian, t)
	if err != nil {
		panic(err) // impossible: the size is fixed
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseRank decodes a page token.
func parseRank(token string) (rankCursor, error) {
	var t rankToken
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || strings.ContainsAny(token, "\r\n") || len(raw) != binary.Size(t) {
		return rankCursor{}, errBadToken
	}
	_, err = binary.Decode(raw, binary.BigEndian, &t)
	c := rankCursor{
		limit: int(t.Limit), back: t.Back == 1, asOf: timeOf(t.AsOf), high: place{timeOf(t.HighAt), t.HighID.text()},
		low: place{timeOf(t.LowAt), t.LowID.text()}, score: t.Score, id: t.ID.text(),
	}
	sane := t.Version == rankVersion && t.Back <= 1 && c.limit >= 1 && c.limit <= 100 && c.asOf.Year() >= 1971 && c.asOf.Year() < 9999 &&
		!c.high.at.IsZero() && c.high.at.Year() < 9999 && c.low.at.Year() < 9999 && c.high.at.Year() >= 1970
	if err != nil || !sane {
		return rankCursor{}, errBadToken
	}
	return c, nil
}

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func rawIDOf(id string) (raw rawID) {
	_, _ = hex.Decode(raw[:], []byte(id)) // ids are hexadecimal
	return raw
}

func (r rawID) text() string {
	if r == (rawID{}) {
		return ""
	}
	return hex.EncodeToString(r[:])
}
