package service

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/view"
)

// MaxCustomBytes is the size that most nouns allow for a free-form object such as metadata, as compact JSON.
const MaxCustomBytes = 10 << 10

// RequireObjectSize returns a validation error if an object of a request has more than limit bytes as the JSON that is
// stored. The texts named except do not count.
func RequireObjectSize(field string, object *structpb.Struct, limit int, except ...string) error {
	counted := without(object, except)
	tooLarge := fail.Validation(fmt.Sprintf("%s: must be at most %d bytes of JSON", field, limit))
	if proto.Size(counted) > maxExpansion*limit {
		return tooLarge // without the work of encoding it
	}
	encoded, err := view.EncodeObject(counted)
	if err != nil {
		return fail.Validation(field + ": must be a JSON object, without NaN and infinite numbers")
	}
	if len(encoded) > limit {
		return tooLarge
	}
	return nil
}

// maxExpansion is more than how much larger an object can be as a message than as JSON. The worst case is a list of
// digits, in which an element takes 11 bytes instead of 2.
const maxExpansion = 8

// without returns object without the texts with the given names. Their length is limited in characters.
func without(object *structpb.Struct, names []string) *structpb.Struct {
	isText := func(name string) bool {
		_, is := object.GetFields()[name].GetKind().(*structpb.Value_StringValue)
		return is
	}
	if !slices.ContainsFunc(names, isText) {
		return object
	}
	rest := maps.Clone(object.GetFields())
	maps.DeleteFunc(rest, func(name string, _ *structpb.Value) bool { return slices.Contains(names, name) && isText(name) })
	return &structpb.Struct{Fields: rest}
}
