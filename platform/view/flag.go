package view

import (
	"hash/fnv"
	"strconv"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Size of the filter. With the default limit of 100 flags, its rate of false positives is about 0.1 %.
const (
	filterBits   = 1536
	filterHashes = 10
	wordBits     = 32
)

// HashFlag returns a Bloom filter over the internal ids of the users who flagged an object. It is nil without flags,
// because public clients treat its presence as "flagged".
//
// Bit i of an id is (a + i·b) mod bits, where a and b are the upper and lower halves of the id's 64-bit FNV-1a hash.
// Clients that cannot compute it call isflagbyme, which is exact.
func HashFlag(userIDs []string) *plazav1.HashFlag {
	if len(userIDs) == 0 {
		return nil
	}
	var words [filterBits / wordBits]uint32
	for _, id := range userIDs {
		for _, bit := range filterPositions(id) {
			words[bit/wordBits] |= 1 << (bit % wordBits)
		}
	}
	hash := make([]string, len(words))
	for i, word := range words {
		hash[i] = strconv.FormatUint(uint64(word), 10)
	}
	return &plazav1.HashFlag{Bits: filterBits, Hashes: filterHashes, Hash: hash}
}

// MayContain reports whether the filter contains id. It can return false positives, but no false negatives.
func MayContain(f *plazav1.HashFlag, id string) bool {
	if f == nil {
		return false
	}
	for _, bit := range filterPositions(id) {
		word, err := strconv.ParseUint(f.GetHash()[bit/wordBits], 10, wordBits)
		if err != nil || word&(1<<(bit%wordBits)) == 0 {
			return false
		}
	}
	return true
}

func filterPositions(id string) [filterHashes]uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash never returns an error
	sum := h.Sum64()
	a, b := sum>>32, sum&0xffffffff|1
	var positions [filterHashes]uint64
	for i := range positions {
		positions[i] = (a + uint64(i)*b) % filterBits
	}
	return positions
}
