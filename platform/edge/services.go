package edge

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/auth"
)

// Service is the implementation of a service of the API.
type Service struct {
	Name           string // such as `plaza.v1.PostService`
	Implementation any
	handler        func(...connect.HandlerOption) (path string, handler http.Handler)
}

// Implement returns a function that returns the service for an implementation, with a handler of package plazav1connect.
func Implement[S any](newHandler func(S, ...connect.HandlerOption) (path string, handler http.Handler)) func(implementation S) Service {
	return func(implementation S) Service {
		path, _ := newHandler(implementation)
		return Service{strings.Trim(path, "/"), implementation, func(options ...connect.HandlerOption) (string, http.Handler) {
			return newHandler(implementation, options...)
		}}
	}
}

// Services are the implementations of the API, one of each service in the proto files.
type Services []Service

// Implementations returns the implementations by the name of their service.
func (s Services) Implementations() map[string]any {
	all := map[string]any{}
	for _, service := range s {
		all[service.Name] = service.Implementation
	}
	return all
}

// ErrServiceMissing is returned by New if a service is not implemented.
var ErrServiceMissing = errors.New("a service is missing")

func (s Services) check() error {
	var err error
	implemented := s.Implementations()
	auth.RangeMethods(func(_ string, method protoreflect.MethodDescriptor) {
		if name := method.Parent().FullName(); implemented[string(name)] == nil {
			err = fmt.Errorf("%w: %s", ErrServiceMissing, name)
		}
	})
	return err
}

// handlers returns new connect handlers of all services, by service name.
func (s Services) handlers(options ...connect.HandlerOption) map[string]http.Handler {
	handlers := map[string]http.Handler{}
	for _, service := range s {
		_, handlers[service.Name] = service.handler(options...)
	}
	return handlers
}
