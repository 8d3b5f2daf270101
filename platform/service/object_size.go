package service

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/view"
)

// MaxCustomBytes is the size that most nouns allow for a free-form object such as metadata, as compact JSON.
const MaxCustomBytes = 10 << 10

// RequireObjectSize returns a validation error if an object of a request has more than limit bytes as the JSON that is
// stored. The texts named except do not count.
func RequireObjectSize(field string, object *structpb.Struct, limit int, except ...string) error {
	encoded, err := view.EncodeObject(without(object, except))
	if err != nil {
		return fail.Validation(field + ": must be a JSON object, without NaN and infinite numbers")
	}
	if len(encoded) > limit {
		return fail.Validation(fmt.Sprintf("%s: must be at most %d bytes of JSON", field, limit))
	}
	return nil
}

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
