package page

import (
	"fmt"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// pageMessage is the type of a message with the page_fields option in the requests or responses of an operation.
type pageMessage struct {
	path     []protoreflect.FieldDescriptor // from the request or response to the message
	tokens   []protoreflect.FieldDescriptor
	position []protoreflect.FieldDescriptor
	maxToken int // in characters
}

// pageMessages returns the messages with the page_fields option below root and root itself, the outermost last. It
// does not look into lists and maps.
func pageMessages(root protoreflect.MessageDescriptor, above []protoreflect.FieldDescriptor) ([]pageMessage, error) {
	var found []pageMessage
	for i := range root.Fields().Len() {
		field := root.Fields().Get(i)
		recursive := slices.ContainsFunc(above, func(f protoreflect.FieldDescriptor) bool { return f.Message() == field.Message() })
		if field.Message() == nil || field.IsList() || field.IsMap() || recursive {
			continue
		}
		below, err := pageMessages(field.Message(), slices.Concat(above, []protoreflect.FieldDescriptor{field}))
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	option, _ := proto.GetExtension(root.Options(), plazav1.E_PageFields).(*plazav1.PageFields)
	if option == nil {
		return found, nil
	}
	tokens, err := fieldsOf(root, option.GetTokens())
	if err != nil {
		return nil, err
	}
	position, err := fieldsOf(root, option.GetPosition())
	limit := MaxWrapped
	if option.GetMaxToken() > 0 {
		limit = int(option.GetMaxToken())
	}
	return append(found, pageMessage{path: above, tokens: tokens, position: position, maxToken: limit}), err
}

func fieldsOf(message protoreflect.MessageDescriptor, names []string) ([]protoreflect.FieldDescriptor, error) {
	fields := make([]protoreflect.FieldDescriptor, len(names))
	for i, name := range names {
		if fields[i] = message.Fields().ByName(protoreflect.Name(name)); fields[i] == nil {
			return nil, fmt.Errorf("page_fields of %s: there is no field %q", message.FullName(), name)
		}
	}
	return fields, nil
}

// limit returns the field with the page size, nil without one.
func (p *pageMessage) limit() protoreflect.FieldDescriptor {
	for _, field := range p.position {
		if field.Name() == "limit" && field.Kind() == protoreflect.Int32Kind {
			return field
		}
	}
	return nil
}

// in returns the message in root, false if it is not set.
func (p *pageMessage) in(root protoreflect.Message) (protoreflect.Message, bool) {
	for _, field := range p.path {
		if !root.Has(field) {
			return nil, false
		}
		root = root.Mutable(field).Message()
	}
	return root, true
}

// mutable returns the message in root, after creating it.
func (p *pageMessage) mutable(root protoreflect.Message) protoreflect.Message {
	for _, field := range p.path {
		root = root.Mutable(field).Message()
	}
	return root
}

// clear removes the page from a request.
func (p *pageMessage) clear(request protoreflect.Message) {
	m, ok := p.in(request)
	if !ok {
		return
	}
	m.SetUnknown(nil)
	for _, field := range slices.Concat(p.tokens, p.position) {
		m.Clear(field)
	}
	if last := len(p.path) - 1; last >= 0 && isEmpty(m) {
		parent, _ := (&pageMessage{path: p.path[:last]}).in(request)
		parent.Clear(p.path[last])
	}
}

func isEmpty(m protoreflect.Message) bool {
	empty := true
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { empty = false; return false })
	return empty
}

// tokenField is a field that holds a token of a request or a response.
type tokenField struct {
	message protoreflect.Message
	field   protoreflect.FieldDescriptor
	limit   protoreflect.FieldDescriptor // of the same message, nil without one
}

// tokensIn returns the token fields of the page messages in root that are not empty. Each message occurs once, even if a response refers to
// it twice.
func tokensIn(root protoreflect.Message, types []pageMessage) iter.Seq[tokenField] {
	return func(yield func(tokenField) bool) {
		var done []protoreflect.ProtoMessage
		for i := range types {
			m, ok := types[i].in(root)
			if !ok || slices.Contains(done, m.Interface()) {
				continue
			}
			done = append(done, m.Interface())
			for _, field := range types[i].tokens {
				token := tokenField{message: m, field: field, limit: types[i].limit()}
				if token.text() != "" && !yield(token) {
					return
				}
			}
		}
	}
}

func (t tokenField) text() string { return t.message.Get(t.field).String() }

func (t tokenField) set(text string) { t.message.Set(t.field, protoreflect.ValueOfString(text)) }
