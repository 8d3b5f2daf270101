package monitoring

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

// threshold is the threshold of an alert, and the bounds of those that a network may have instead. All are durations or all are numbers.
type threshold struct {
	Default string `json:"default"`
	Min     string `json:"min"`
	Max     string `json:"max"`
}

// value returns a threshold as a number, of seconds if it is a duration: that of the text, or the default one if the text is
// empty or not allowed.
func (t *threshold) value(text string) json.Number {
	if text == "" || !t.allows(text) {
		text = t.Default
	}
	number, _ := amountOf(text)
	return decimal(number)
}

// allows reports whether a text is a threshold of the right kind within the bounds.
func (t *threshold) allows(text string) bool {
	number, isDuration := amountOf(text)
	least, isTime := amountOf(t.Min)
	most, _ := amountOf(t.Max)
	return number != nil && isDuration == isTime && number.Cmp(least) >= 0 && number.Cmp(most) <= 0
}

// String returns the default threshold and the bounds for the table of alerts; nothing for an alert without threshold.
func (t *threshold) String() string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s to %s)", t.Default, t.Min, t.Max)
}

// amountOf returns the number of a text, in seconds if it is a duration; nil if it is neither.
func amountOf(text string) (amount *big.Rat, isDuration bool) {
	if number, ok := new(big.Rat).SetString(text); ok {
		return number, false
	}
	if d, err := time.ParseDuration(text); err == nil {
		return big.NewRat(int64(d), int64(time.Second)), true
	}
	return nil, false
}
