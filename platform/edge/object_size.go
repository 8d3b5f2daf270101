package edge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/freeform"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// sizedField is a field of a request with the object_size option, or one that leads to such fields.
type sizedField struct {
	field  protoreflect.FieldDescriptor
	size   *plazav1.ObjectSize // nil if the field leads to others
	inside []sizedField
}

// sizedFields returns the fields with a limited size in message. It returns an error for a free-form object without one.
func sizedFields(message protoreflect.MessageDescriptor, above ...protoreflect.FullName) ([]sizedField, error) {
	var found []sizedField
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		inner := field.Message()
		if inner == nil || slices.Contains(above, inner.FullName()) {
			continue
		}
		sized, err := sizedFieldOf(field, inner, above)
		if err != nil {
			return nil, err
		}
		if sized.size != nil || len(sized.inside) > 0 {
			found = append(found, sized)
		}
	}
	return found, nil
}

func sizedFieldOf(
	field protoreflect.FieldDescriptor, inner protoreflect.MessageDescriptor, above []protoreflect.FullName,
) (sizedField, error) {
	f := sizedField{field: field}
	var err error
	switch {
	case inner.FullName() == "google.protobuf.Struct":
		f.size, _ = proto.GetExtension(field.Options(), plazav1.E_ObjectSize).(*plazav1.ObjectSize)
		if f.size.GetMaxBytes() <= 0 {
			err = fmt.Errorf("%s needs the option object_size", field.FullName())
		}
	case !strings.HasPrefix(string(inner.FullName()), "google.protobuf.") && !field.IsMap():
		f.inside, err = sizedFields(inner, append(slices.Clone(above), inner.FullName())...)
	}
	return f, err
}

// requireSizes returns a validation error for the first object in m, whose path is given, that exceeds its size.
func requireSizes(fields []sizedField, m protoreflect.Message, path string) error {
	for i := range fields {
		f := &fields[i]
		if !m.Has(f.field) {
			continue
		}
		if err := f.require(m.Get(f.field), joinPath(path, f.field.JSONName())); err != nil {
			return err
		}
	}
	return nil
}

func (f *sizedField) require(value protoreflect.Value, path string) error {
	if !f.field.IsList() {
		return f.requireOne(value.Message(), path)
	}
	for i := range value.List().Len() {
		if err := f.requireOne(value.List().Get(i).Message(), path+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	return nil
}

func (f *sizedField) requireOne(m protoreflect.Message, path string) error {
	if object, is := m.Interface().(*structpb.Struct); is {
		return freeform.RequireSize(path, freeform.Of(object), int(f.size.GetMaxBytes()), f.size.GetExcept()...)
	}
	return requireSizes(f.inside, m, path)
}
