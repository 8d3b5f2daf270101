// Package narrow converts integers to smaller types without wrapping around.
package narrow

import "unsafe"

// integer is any type of integer.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// To returns v as a T, or the value of T that is nearest to v. Limits elsewhere make sure that v fits; To keeps a mistake in
// them from turning a large number into a negative one.
func To[T, V integer](v V) T {
	low, high := limits[T]()
	switch n := T(v); {
	case v < 0 && low == 0:
		return 0
	case V(n) == v && (n < 0) == (v < 0):
		return n
	case v < 0:
		return low
	default:
		return high
	}
}

// limits returns the smallest and the largest value of T.
func limits[T integer]() (low, high T) {
	ones := ^T(0)
	if ones > 0 {
		return 0, ones
	}
	low = T(1) << (8*unsafe.Sizeof(ones) - 1)
	return low, ^low
}
