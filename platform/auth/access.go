package auth

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Access is an operation's access rule, as declared by its proto option.
type Access struct {
	Caller     plazav1.Access_Caller // the class of callers admitted; never CALLER_UNSPECIFIED
	Permission Permission            // a permission required in addition; may be empty
	Audited    bool                  // whether every success leaves an audit event
	Target     string                // the type of the target of audit events of requests that name none; may be empty
	// Guests is whether visitors and bots may call the operation. They may call those that have no side effects, are open to
	// every user and end with one response, and those whose option says so.
	Guests bool
}

// AccessOf returns the access rule of procedure ("/plaza.v1.PostService/GetPost"). It returns false if the procedure is
// unknown, has no access option, or has an invalid one; the interceptor then rejects every call.
func AccessOf(procedure string) (Access, bool) {
	access, ok := allAccess()[procedure]
	return access, ok
}

var allAccess = sync.OnceValue(func() map[string]Access {
	all := map[string]Access{}
	RangeMethods(func(procedure string, method protoreflect.MethodDescriptor) {
		if access, ok := accessOption(method); ok {
			all[procedure] = access
		}
	})
	return all
})

// RangeMethods calls visit for every method of package plaza.v1 that is linked into the program.
func RangeMethods(visit func(procedure string, method protoreflect.MethodDescriptor)) {
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				visit("/"+string(service.FullName())+"/"+string(method.Name()), method)
			}
		}
		return true
	})
}

func accessOption(method protoreflect.MethodDescriptor) (Access, bool) {
	option, ok := proto.GetExtension(method.Options(), plazav1.E_Access).(*plazav1.Access)
	if !ok || option == nil {
		return Access{}, false
	}
	access := Access{
		Caller: option.GetCaller(), Permission: permissionOf(option.GetPermission()), Audited: option.GetAudited(),
		Target: option.GetAuditTarget(),
	}
	access.Guests = access.Caller == plazav1.Access_CALLER_USER && access.Permission == "" && (option.GetGuests() || onlyReads(method))
	return access, access.valid()
}

// onlyReads reports whether a method changes nothing and ends with one response.
func onlyReads(method protoreflect.MethodDescriptor) bool {
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS && !method.IsStreamingServer()
}

// permissionOf returns the permission that clients know by the name of p.
func permissionOf(p plazav1.Permission) Permission {
	if p == plazav1.Permission_PERMISSION_UNSPECIFIED {
		return ""
	}
	return Permission(strings.TrimPrefix(p.String(), "PERMISSION_"))
}

// valid reports whether the caller class is known and its callers can hold the permission.
func (a Access) valid() bool {
	switch a.Caller {
	case plazav1.Access_CALLER_PUBLIC, plazav1.Access_CALLER_SERVER_KEY, plazav1.Access_CALLER_API_KEY,
		plazav1.Access_CALLER_MEDIA_SERVER:
		return a.Permission == ""
	case plazav1.Access_CALLER_USER, plazav1.Access_CALLER_ADMIN:
		return a.Permission == "" || a.Permission.Known()
	}
	return false
}
