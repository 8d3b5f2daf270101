package delivery

import (
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/auth"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// prehookEvents returns the option `prehook` of the operations that have one, by procedure.
var prehookEvents = sync.OnceValue(func() map[string]*plazav1.PrehookEvent {
	all := map[string]*plazav1.PrehookEvent{}
	auth.RangeMethods(func(procedure string, method protoreflect.MethodDescriptor) {
		if event, _ := proto.GetExtension(method.Options(), plazav1.E_Prehook).(*plazav1.PrehookEvent); event != nil {
			all[procedure] = event
		}
	})
	return all
})

// UnknownPrehookEvent returns the first name that no pre-hook is asked about, or an empty text.
func UnknownPrehookEvent(names []string) string {
	known := map[string]bool{}
	for _, event := range prehookEvents() {
		known[event.GetEvent()] = true
	}
	for _, name := range names {
		if !known[name] {
			return name
		}
	}
	return ""
}
