package edge

import (
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

// deprecation is what the answers of a deprecated operation, or of a deprecated path of one, say beside what they are. Refusals
// say it too: a client that is told off may well be an old one.
type deprecation struct {
	since  string // the Deprecation header: a structured date, RFC 9745
	sunset string // the Sunset header: an HTTP date, RFC 8594
	paths  []string
}

// deprecationOf reads a method's options; nil where nothing of it is deprecated.
func deprecationOf(method protoreflect.MethodDescriptor) (*deprecation, error) {
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	option, _ := proto.GetExtension(options, plazav1.E_Deprecation).(*plazav1.Deprecation)
	switch {
	case option == nil && !options.GetDeprecated():
		return nil, nil
	case option == nil, options.GetDeprecated() == (len(option.GetPaths()) > 0):
		return nil, fmt.Errorf("%s: a deprecated method has the option deprecation without paths; one with deprecated paths is not", method.FullName())
	}
	since, err := time.Parse(time.DateOnly, option.GetSince())
	if err != nil {
		return nil, fmt.Errorf("%s: deprecation.since: %w", method.FullName(), err)
	}
	sunset, err := time.Parse(time.DateOnly, option.GetSunset())
	if err != nil || sunset.Before(since) {
		return nil, fmt.Errorf("%s: deprecation.sunset: want a day after since, not %q", method.FullName(), option.GetSunset())
	}
	return &deprecation{
		since: "@" + strconv.FormatInt(since.Unix(), 10), sunset: sunset.Format(http.TimeFormat), paths: option.GetPaths(),
	}, nil
}

// of is the deprecation of one binding; nil where others are meant.
func (d *deprecation) of(verb, template string) *deprecation {
	if d == nil || (len(d.paths) > 0 && !slices.Contains(d.paths, verb+" "+template)) {
		return nil
	}
	return d
}

// say adds the headers.
func (d *deprecation) say(header http.Header) {
	if d != nil {
		header["Deprecation"], header["Sunset"] = []string{d.since}, []string{d.sunset}
	}
}
