package idempotency

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/service"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Recovery is how the answer of a request that was carried out is read again. An operation without one can be executed
// again, which changes nothing.
type Recovery struct {
	Read     func(ctx context.Context, request proto.Message, created []string) (proto.Message, error)
	NeedsIDs bool // Read needs the ids of what the request has created
}

// complete reports whether the answer can be read: whether the request was carried out.
func (r Recovery) complete(changed bool, created []string) bool {
	return r.Read != nil && changed && (len(created) > 0 || !r.NeedsIDs)
}

// recoveryOf returns the recovery that the option of an operation describes. implementation is that of its service.
func recoveryOf(
	d *service.Deps, method protoreflect.MethodDescriptor, output protoreflect.MessageType, implementation any,
) (Recovery, error) {
	option, _ := proto.GetExtension(method.Options(), plazav1.E_Recovery).(*plazav1.Recovery)
	switch {
	case option == nil:
		return Recovery{}, fmt.Errorf("%s: the option recovery is missing", method.FullName())
	case option.GetAgain():
		return Recovery{}, nil
	case option.GetRead() == "":
		return known(d, output, option.GetCreated()), nil
	}
	var read reflect.Value
	if implementation != nil {
		read = reflect.ValueOf(implementation).MethodByName(option.GetRead())
	}
	if !read.IsValid() {
		return Recovery{}, fmt.Errorf("%s: recovery: no operation %s", method.FullName(), option.GetRead())
	}
	if name := option.GetNamed(); name != "" {
		field := method.Input().Fields().ByName(protoreflect.Name(name))
		return Recovery{func(ctx context.Context, request proto.Message, _ []string) (proto.Message, error) {
			return reread(ctx, read, name, request.ProtoReflect().Get(field).String())
		}, false}, nil
	}
	return Recovery{func(ctx context.Context, _ proto.Message, created []string) (proto.Message, error) {
		return reread(ctx, read, option.GetCreated(), last(created))
	}, true}, nil
}

// reread calls an operation that reads the object with the id that a field of its request receives.
func reread(ctx context.Context, read reflect.Value, field, id string) (proto.Message, error) {
	query := reflect.New(read.Type().In(1).Elem())
	message, _ := reflect.TypeAssert[proto.Message](query)
	if err := set(message, field, id); err != nil {
		return nil, err
	}
	results := read.Call([]reflect.Value{reflect.ValueOf(ctx), query})
	answer, _ := reflect.TypeAssert[proto.Message](results[0])
	err, _ := reflect.TypeAssert[error](results[1])
	return answer, err
}

// known returns the recovery of an operation whose answer contains nothing but the id of what it has created, or nothing.
func known(d *service.Deps, output protoreflect.MessageType, field string) Recovery {
	return Recovery{func(ctx context.Context, _ proto.Message, created []string) (proto.Message, error) {
		answer := output.New().Interface()
		switch answer.(type) {
		case *plazav1.SuccessResponse:
			answer = service.Success()
		case *plazav1.StatusSuccessResponse:
			answer = service.StatusSuccess()
		default:
			if err := set(answer, field, last(created)); err != nil {
				return nil, err
			}
		}
		return answer, d.NewRequest(ctx).Run(ctx)
	}, field != ""}
}

// last returns the id of what was created. If a conflict made the operation choose several ids, the last one was stored.
func last(created []string) string { return created[len(created)-1] }

// set sets the field of a message at a path, such as `data.id`.
func set(message proto.Message, path, value string) error {
	m, names := message.ProtoReflect(), strings.Split(path, ".")
	for i, name := range names {
		field := m.Descriptor().Fields().ByName(protoreflect.Name(name))
		switch {
		case field == nil:
			return fmt.Errorf("%s has no field %s", m.Descriptor().FullName(), name)
		case i == len(names)-1:
			m.Set(field, protoreflect.ValueOfString(value))
		default:
			m = m.Mutable(field).Message()
		}
	}
	return nil
}
