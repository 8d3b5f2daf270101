package chat

import (
	"fmt"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
)

// Limits of a message.
const (
	MaxText   = 20_000    // characters of a text or caption
	MaxCustom = 100 << 10 // bytes of the JSON of a custom message, including its texts
)

// CheckContent checks the data of a message of a type.
func CheckContent(dataType string, data freeform.Object) error {
	switch dataType {
	case "custom":
		return freeform.RequireSize("data", data, MaxCustom)
	case "text":
		if data.Text("text") == "" {
			return fail.Validation("data.text: must not be empty in a text message")
		}
	}
	for _, field := range []string{"text", "caption"} {
		value := data.Member(field)
		if value != nil && !freeform.IsText(value) {
			return fail.Validation(fmt.Sprintf("data.%s: must be a string", field))
		}
		if utf8.RuneCountInString(freeform.TextOf(value)) > MaxText {
			return fail.Validation(fmt.Sprintf("data.%s: must be at most %d characters", field, MaxText))
		}
	}
	return nil
}
