package freeform

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
)

const structName protoreflect.FullName = "google.protobuf.Struct"

// eachObject calls do for every Struct in m.
func eachObject(m protoreflect.Message, do func(*structpb.Struct)) {
	if s, is := m.Interface().(*structpb.Struct); is {
		do(s)
		return
	}
	for _, field := range leading(m.Descriptor()) {
		if !m.Has(field) {
			continue
		}
		switch value := m.Get(field); {
		case field.IsMap():
			value.Map().Range(func(_ protoreflect.MapKey, element protoreflect.Value) bool {
				eachObject(element.Message(), do)
				return true
			})
		case field.IsList():
			for i := range value.List().Len() {
				eachObject(value.List().Get(i).Message(), do)
			}
		default:
			eachObject(value.Message(), do)
		}
	}
}

var leadingFields sync.Map // protoreflect.MessageDescriptor -> []protoreflect.FieldDescriptor

// leading returns the fields of a message type that are or contain a Struct.
func leading(message protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := leadingFields.Load(message); ok {
		return known.([]protoreflect.FieldDescriptor) // nothing else is stored
	}
	var fields []protoreflect.FieldDescriptor
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		if inner := messageOf(field); inner != nil && leads(inner, map[protoreflect.FullName]bool{}) {
			fields = append(fields, field)
		}
	}
	leadingFields.Store(message, fields)
	return fields
}

// messageOf returns the type of the messages in a field, nil if it has others.
func messageOf(field protoreflect.FieldDescriptor) protoreflect.MessageDescriptor {
	if field.IsMap() {
		return field.MapValue().Message()
	}
	return field.Message()
}

// leads reports whether a message type is or contains a Struct.
func leads(message protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if message.FullName() == structName {
		return true
	}
	if seen[message.FullName()] {
		return false
	}
	seen[message.FullName()] = true
	for i := range message.Fields().Len() {
		if inner := messageOf(message.Fields().Get(i)); inner != nil && leads(inner, seen) {
			return true
		}
	}
	return false
}
