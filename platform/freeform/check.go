package freeform

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// Limits of an object in a request.
const (
	// MaxDepth is how deeply the JSON of a request may be nested.
	MaxDepth = 100
	// MaxDigits is the maximum length of a number, in characters and without an exponent. Those of the largest and the smallest
	// number with double precision fit.
	MaxDigits = 400
)

// InvalidError is the error of an object that cannot be stored. It says what is wrong, without the value itself.
type InvalidError struct {
	Path string // of the value in the JSON, such as "a[0].b"
	What string // such as "must not occur twice"
}

func (e *InvalidError) Error() string { return cmp.Or(e.Path, "body") + ": " + e.What }

// inside returns the error for a value of an object or list.
func (e *InvalidError) inside(name string) *InvalidError {
	if e == nil {
		return nil
	}
	return &InvalidError{Path: join(name, e.Path), What: e.What}
}

// join appends a path to the name of what contains it.
func join(name, path string) string {
	if path == "" || strings.HasPrefix(path, "[") {
		return name + path
	}
	return name + "." + path
}

const (
	unclean = "must be valid UTF-8 without NUL characters"
	aName   = "(a name)" // in place of a name that cannot be printed
)

// checked returns an object of a request as it is stored and answered: without spaces, and with the digits of numbers in place of
// exponents, because databases write numbers so.
func checked(raw []byte) (Object, *InvalidError) {
	object, err := jsontext.AppendFormat(nil, raw, withoutNames)
	if err != nil { // valid JSON is only refused for what its texts contain
		return nil, &InvalidError{Path: pathOf(err), What: "must be valid UTF-8, without halves of surrogate pairs"}
	}
	rewrite := false
	if invalid := check(gjson.ParseBytes(object), &rewrite); invalid != nil {
		return nil, invalid
	}
	if rewrite {
		object = withPlainNumbers(make([]byte, 0, len(object)), gjson.ParseBytes(object))
	}
	return object, nil
}

// withoutNames leaves out the comparison of names, which takes 50 bytes for each. checkObject compares them.
var withoutNames = jsontext.AllowDuplicateNames(true)

// pathOf returns the path of the value that package jsontext refuses.
func pathOf(err error) string {
	syntactic, _ := errors.AsType[*jsontext.SyntacticError](err)
	if syntactic == nil {
		return ""
	}
	path := ""
	for _, token := range slices.Backward(slices.Collect(syntactic.JSONPointer.Tokens())) {
		if _, err := strconv.Atoi(token); err == nil {
			token = "[" + token + "]"
		}
		path = join(token, path)
	}
	return path
}

// check finds what a database would refuse or change. It sets rewrite if a number is not written as databases write it.
func check(value gjson.Result, rewrite *bool) *InvalidError {
	switch {
	case value.Type == gjson.String && hasNUL(value.Raw):
		return &InvalidError{What: unclean}
	case value.Type == gjson.Number && !isPlain(value.Raw):
		*rewrite = true
		if _, ok := plainNumber(value.Raw); !ok {
			return &InvalidError{What: fmt.Sprintf("must have at most %d digits", MaxDigits)}
		}
	case value.IsObject():
		return checkObject(value, rewrite)
	case value.IsArray():
		return checkList(value, rewrite)
	}
	return nil
}

func checkList(list gjson.Result, rewrite *bool) (invalid *InvalidError) {
	i := 0
	list.ForEach(func(_, element gjson.Result) bool {
		invalid = check(element, rewrite)
		i++
		return invalid == nil
	})
	return invalid.inside("[" + strconv.Itoa(i-1) + "]")
}

func checkObject(object gjson.Result, rewrite *bool) (invalid *InvalidError) {
	var names []string
	object.ForEach(func(key, value gjson.Result) bool {
		names = append(names, key.Raw)
		if hasNUL(key.Raw) {
			invalid = &InvalidError{Path: aName, What: unclean}
		} else if found := check(value, rewrite); found != nil {
			invalid = found.inside(key.String())
		}
		return invalid == nil
	})
	if invalid != nil {
		return invalid
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i-1] == names[i] {
			return &InvalidError{Path: gjson.Parse(names[i]).String(), What: "must not occur twice"}
		}
	}
	return nil
}

// hasNUL reports whether a JSON string contains the character U+0000, which is always escaped.
func hasNUL(quoted string) bool {
	return strings.Contains(quoted, `\u0000`) && strings.ContainsRune(gjson.Parse(quoted).String(), 0)
}

// isPlain reports whether a number is written as databases write it, and is short.
func isPlain(raw string) bool {
	const nonZero = "123456789"
	return len(raw) <= MaxDigits && !strings.ContainsAny(raw, "eE") && (raw[0] != '-' || strings.ContainsAny(raw, nonZero))
}

// plainNumber returns a number without an exponent, and without the sign of a zero. It reports false if it is too long.
func plainNumber(raw string) (string, bool) {
	digits := strings.TrimPrefix(raw, "-")
	mantissa, exponent := digits, 0
	if at := strings.IndexAny(digits, "eE"); at >= 0 {
		mantissa = digits[:at]
		var err error
		if exponent, err = strconv.Atoi(digits[at+1:]); err != nil || exponent > MaxDigits || exponent < -MaxDigits {
			return zeroOr(mantissa)
		}
	}
	plain := shift(mantissa, exponent)
	if digits != raw && strings.ContainsAny(plain, "123456789") {
		plain = "-" + plain
	}
	return plain, len(plain) <= MaxDigits
}

// zeroOr returns zero for a mantissa of zeros, whose exponent does not matter, and false for others.
func zeroOr(mantissa string) (string, bool) { return "0", !strings.ContainsAny(mantissa, "123456789") }

// shift moves the point of a number by a number of digits to the right.
func shift(mantissa string, by int) string {
	whole, fraction, _ := strings.Cut(mantissa, ".")
	switch {
	case by > 0:
		fraction += strings.Repeat("0", max(by-len(fraction), 0))
		whole, fraction = whole+fraction[:by], fraction[by:]
	case by < 0:
		whole = strings.Repeat("0", max(-by-len(whole)+1, 0)) + whole
		whole, fraction = whole[:len(whole)+by], whole[len(whole)+by:]+fraction
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// withPlainNumbers appends JSON with its numbers in plain form.
func withPlainNumbers(b []byte, value gjson.Result) []byte {
	switch {
	case value.Type == gjson.Number:
		plain, _ := plainNumber(value.Raw)
		return append(b, plain...)
	case value.IsObject():
		b = append(b, '{')
		value.ForEach(func(key, inner gjson.Result) bool {
			b = append(withPlainNumbers(append(append(b, key.Raw...), ':'), inner), ',')
			return true
		})
		return append(bytes.TrimSuffix(b, []byte(",")), '}')
	case value.IsArray():
		b = append(b, '[')
		value.ForEach(func(_, inner gjson.Result) bool {
			b = append(withPlainNumbers(b, inner), ',')
			return true
		})
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	}
	return append(b, value.Raw...)
}
