package page

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Gap is a part of a list that earlier pages lack, because homes did not answer: the rows of these homes from a position
// to that of the cursor. A page that is read with the cursor begins with them.
type Gap struct {
	Homes []region.Code // in the order of region.All; none if there is no gap
	// The position where the gap begins.
	Time time.Time
	Key  string
	ID   string // empty for the beginning of the list
}

// Missing returns the cursor for the page after the one that c selects, whose last row is at the position of next, if
// homes did not answer for that page. The gap begins where the earliest page began that lacks some of their rows. Pages
// before a position have no gap.
func (c Cursor) Missing(homes []region.Code, next Cursor) Cursor {
	gap := c.Gap
	if len(gap.Homes) == 0 {
		gap = Gap{Time: c.Time, Key: c.Key, ID: c.ID}
	}
	var all []region.Code
	for _, code := range region.All() {
		if slices.Contains(homes, code) || slices.Contains(c.Gap.Homes, code) {
			all = append(all, code)
		}
	}
	gap.Homes = all
	next.Gap = gap
	return next
}

// GapStart returns the cursor at the beginning of the gap.
func (c Cursor) GapStart() Cursor {
	return Cursor{Limit: c.Limit, Time: c.Gap.Time, Key: c.Gap.Key, ID: c.Gap.ID}
}

// GapWindow returns a page of the rows in the gap, in the order of the list, of which rows are more than the limit. The next
// page has the rest of them.
func GapWindow[T any](c Cursor, rows []T, at func(T) (t time.Time, key, id string)) ([]T, *plazav1.Paging) {
	rows = rows[:c.Limit]
	next, back := c, c
	next.Gap.Time, next.Gap.Key, next.Gap.ID = at(rows[len(rows)-1])
	back.Back, back.Gap = true, Gap{}
	return rows, &plazav1.Paging{Next: next.Token(), Previous: back.Token(), Prev: back.Token()}
}

// GapStopped is GapWindow for a page that is not full because the gap was read up to the position of stop only.
func GapStopped[T any](c Cursor, rows []T, stop Cursor) ([]T, *plazav1.Paging) {
	next, back := c, c
	next.Gap.Time, next.Gap.Key, next.Gap.ID = stop.Time, stop.Key, stop.ID
	back.Back, back.Gap = true, Gap{}
	return rows, &plazav1.Paging{Next: next.Token(), Previous: back.Token(), Prev: back.Token()}
}

const (
	gapVersion = 3                        // 2 are tokens by rank
	gapHeader  = 3 + 2*idBytes + 1        // version, limit, homes, both ids, the length of the key
	gapTimes   = 2 * 8                    // of lists by time
	gapKeys    = 8 + maxKey - idBytes - 1 // bytes of both keys of lists by name: as many as other tokens leave
)

const idBytes = region.IDLength / 2

// gapToken returns the encoded cursor with its gap. Lists are by time or by name, so that only one of them is part of the
// token. If both names do not fit, that of the gap is shortened: the page then begins with rows that were shown before.
// The third byte has a bit for each home.
func (c Cursor) gapToken() string {
	raw := []byte{gapVersion, narrow.To[byte](c.Limit), 0}
	for i, code := range region.All() {
		if slices.Contains(c.Gap.Homes, code) {
			raw[2] |= 1 << i
		}
	}
	raw = append(append(raw, idOf(c.ID)...), idOf(c.Gap.ID)...)
	key := c.Key[:min(len(c.Key), gapKeys)]
	raw = append(raw, narrow.To[byte](len(key)))
	if key == "" {
		raw = binary.BigEndian.AppendUint64(raw, uint64(c.Time.UnixMicro()))
		raw = binary.BigEndian.AppendUint64(raw, uint64(c.Gap.Time.UnixMicro()))
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	gap := c.Gap.Key
	for len(key)+len(gap) > gapKeys || !saneText(gap) {
		gap = gap[:len(gap)-1]
	}
	return base64.RawURLEncoding.EncodeToString(append(append(raw, key...), gap...))
}

// idOf returns the bytes of an id, zeros for an empty one.
func idOf(id string) []byte {
	raw := make([]byte, idBytes)
	_, _ = hex.Decode(raw, []byte(id))
	return raw
}

// parseGap decodes a token with a gap.
func parseGap(raw []byte) (Cursor, error) {
	if len(raw) < gapHeader || len(raw) > gapHeader+max(gapKeys, gapTimes) || raw[2] == 0 || raw[2] >= 1<<len(region.All()) {
		return Cursor{}, errBadToken
	}
	c := Cursor{Limit: int(raw[1]), ID: hex.EncodeToString(raw[3 : 3+idBytes])}
	for i, code := range region.All() {
		if raw[2]&(1<<i) != 0 {
			c.Gap.Homes = append(c.Gap.Homes, code)
		}
	}
	if gap := raw[3+idBytes : 3+2*idBytes]; !slices.Equal(gap, make([]byte, idBytes)) {
		c.Gap.ID = hex.EncodeToString(gap)
	}
	length, rest := int(raw[gapHeader-1]), raw[gapHeader:]
	switch {
	case length == 0 && len(rest) == gapTimes:
		c.Time, c.Gap.Time = timeOf(rest), timeOf(rest[8:])
	case length > 0 && length <= len(rest):
		c.Key, c.Gap.Key = string(rest[:length]), string(rest[length:])
	default:
		return Cursor{}, errBadToken
	}
	if !c.sane() || c.Gap.ID != "" && !region.ValidID(c.Gap.ID) || !saneText(c.Gap.Key) || !saneTime(c.Gap.Time) {
		return Cursor{}, errBadToken
	}
	return c, nil
}

func timeOf(raw []byte) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw))).UTC() //nolint:gosec // checked by saneTime
}
