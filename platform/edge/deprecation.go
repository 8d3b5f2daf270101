package edge

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// deprecation holds the headers in the responses, errors included, of a deprecated operation or of a deprecated path of
// an operation.
type deprecation struct {
	since  string // the Deprecation header: a structured date, RFC 9745
	sunset string // the Sunset header: an HTTP date, RFC 8594
	paths  []string
}

var errDeprecation = errors.New("a method must have either the option deprecated, and deprecation without paths, or deprecation with paths")

// newDeprecation reads a method's deprecation option. It returns nil if nothing of the method is deprecated.
func newDeprecation(method protoreflect.MethodDescriptor) (*deprecation, error) {
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	option, _ := proto.GetExtension(options, plazav1.E_Deprecation).(*plazav1.Deprecation)
	switch {
	case option == nil && !options.GetDeprecated():
		return nil, nil
	case option == nil, options.GetDeprecated() == (len(option.GetPaths()) > 0):
		return nil, errDeprecation
	}
	since, err := time.Parse(time.DateOnly, option.GetSince())
	if err != nil {
		return nil, fmt.Errorf("deprecation.since: %w", err)
	}
	sunset, err := time.Parse(time.DateOnly, option.GetSunset())
	if err != nil || sunset.Before(since) {
		return nil, fmt.Errorf("deprecation.sunset: %q is not a date after since", option.GetSunset())
	}
	return &deprecation{
		since: "@" + strconv.FormatInt(since.Unix(), 10), sunset: sunset.Format(http.TimeFormat), paths: option.GetPaths(),
	}, nil
}

// of returns the deprecation of one binding, nil if only other bindings are deprecated.
func (d *deprecation) of(verb, template string) *deprecation {
	if d == nil || (len(d.paths) > 0 && !slices.Contains(d.paths, verb+" "+template)) {
		return nil
	}
	return d
}

// setHeaders sets the headers. d may be nil.
func (d *deprecation) setHeaders(header http.Header) {
	if d != nil {
		header["Deprecation"], header["Sunset"] = []string{d.since}, []string{d.sunset}
	}
}
