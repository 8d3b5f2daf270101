package auth

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Access is who may call an operation, as its proto option says.
type Access struct {
	Caller     plazav1.Access_Caller // the least that a caller has to be; never CALLER_UNSPECIFIED
	Permission Permission            // what the operation asks for beyond that; may be empty
}

// AccessOf returns who may call procedure ("/plaza.v1.PostService/GetPost"), and false for a procedure that is not
// ours, has no access option, or has one that makes no sense: such a procedure is refused to everybody.
func AccessOf(procedure string) (Access, bool) {
	access, ok := allAccess()[procedure]
	return access, ok
}

var allAccess = sync.OnceValue(func() map[string]Access {
	all := map[string]Access{}
	rangeMethods(func(procedure string, method protoreflect.MethodDescriptor) {
		if access, ok := accessOption(method); ok {
			all[procedure] = access
		}
	})
	return all
})

// rangeMethods visits every method of package plaza.v1 that is linked into the program.
func rangeMethods(visit func(procedure string, method protoreflect.MethodDescriptor)) {
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
	access := Access{Caller: option.GetCaller(), Permission: permissionOf(option.GetPermission())}
	return access, access.sensible()
}

// permissionOf returns the permission that clients know under the name of p.
func permissionOf(p plazav1.Permission) Permission {
	if p == plazav1.Permission_PERMISSION_UNSPECIFIED {
		return ""
	}
	return Permission(strings.TrimPrefix(p.String(), "PERMISSION_"))
}

// sensible reports whether the class is one we know, and the permission one that its callers can hold.
func (a Access) sensible() bool {
	switch a.Caller {
	case plazav1.Access_CALLER_PUBLIC, plazav1.Access_CALLER_SERVER_KEY, plazav1.Access_CALLER_API_KEY,
		plazav1.Access_CALLER_MEDIA_SERVER:
		return a.Permission == ""
	case plazav1.Access_CALLER_USER, plazav1.Access_CALLER_ADMIN:
		return a.Permission == "" || a.Permission.Known()
	}
	return false
}
