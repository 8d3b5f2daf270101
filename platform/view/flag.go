package view

import (
	"hash/fnv"
	"strconv"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The size of the filter: with the network's default of 100 flags, one in a thousand who did not flag looks as if.
const (
	filterBits   = 1536
	filterHashes = 10
	wordBits     = 32
)

// HashFlag makes the Bloom filter over the internal ids of those who flag an object; nil when nobody does, because
// public clients take its presence for "is flagged".
//
// Bit i of an id is (a + i·b) mod bits, where a and b are the upper and lower halves of the id's 64-bit FNV-1a hash. A
// client that computes another filter asks isflagbyme, which is exact.
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

// MayContain reports whether the filter holds the id: false is certain, true may be wrong.
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
	_, _ = h.Write([]byte(id)) // a hash never fails to take bytes
	sum := h.Sum64()
	a, b := sum>>32, sum&0xffffffff|1
	var positions [filterHashes]uint64
	for i := range positions {
		positions[i] = (a + uint64(i)*b) % filterBits
	}
	return positions
}
