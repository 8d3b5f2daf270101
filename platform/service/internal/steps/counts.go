package steps

import "encoding/json"

// Counts returns the numbers of rows in a JSON object that AddCount has made.
func Counts(stored []byte) map[string]int32 {
	all := map[string]int32{}
	_ = json.Unmarshal(stored, &all) // written by AddCount
	return all
}

// AddCount adds n to the number of rows of a kind.
func AddCount(stored []byte, kind string, n int32) []byte {
	if n == 0 {
		return stored
	}
	all := Counts(stored)
	all[kind] += n
	raw, err := json.Marshal(all)
	if err != nil {
		panic("steps: counts: " + err.Error()) // a map of numbers
	}
	return raw
}
