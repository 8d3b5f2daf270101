package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/apptest"
)

// twice is a request with two values of each of its lists.
type twice struct {
	procedure string
	lists     []string // "attachments", "postData.tags"
	// send sends it, and returns a later answer, with the texts that this must have.
	send func(t *testing.T, g *fixture) (shown *apptest.Response, values []string)
}

// TestBothOfTwo sends two values of every list that changes something: each of them has an effect.
func TestBothOfTwo(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	for _, row := range twiceRows() {
		t.Run(row.procedure, func(t *testing.T) {
			shown, values := row.send(t, g)
			require.GreaterOrEqual(t, len(values), 2)
			for _, value := range values {
				require.Contains(t, string(shown.OK(t).Body), value)
			}
		})
	}
}

// TestEveryListIsSentTwice fails for a list in a request that changes something, of which no row sends two values.
func TestEveryListIsSentTwice(t *testing.T) {
	t.Parallel()
	walked := map[string]bool{}
	for _, row := range twiceRows() {
		for _, list := range row.lists {
			walked[row.procedure+" "+list] = true
		}
	}
	for name, test := range sentTwiceElsewhere {
		require.False(t, walked[name], "%s has a row and another test", name)
		walked[name] = true
		requireTest(t, test)
	}
	all := changingLists()
	require.Empty(t, slices.DeleteFunc(slices.Clone(all), func(name string) bool { return walked[name] }), "send two values")
	for name := range walked {
		require.Contains(t, all, name, "a row for an unknown list")
	}
}

// changingLists returns the lists of all requests that change something: "PostService/CreatePost tags".
func changingLists() []string {
	var all []string
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				options, ok := method.Options().(*descriptorpb.MethodOptions)
				if ok && options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
					continue
				}
				for _, list := range listsIn(method.Input(), nil) {
					all = append(all, string(service.Name())+"/"+string(method.Name())+" "+list)
				}
			}
		}
		return true
	})
	slices.Sort(all)
	return all
}

// listsIn returns the lists in a message, and in the messages that are in it once.
func listsIn(m protoreflect.MessageDescriptor, above []protoreflect.FullName) []string {
	if slices.Contains(above, m.FullName()) {
		return nil
	}
	var lists []string
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		switch {
		case field.IsMap():
		case field.IsList():
			lists = append(lists, field.JSONName())
		case field.Message() != nil && field.Message().ParentFile().Package() == "plaza.v1":
			for _, list := range listsIn(field.Message(), append(above, m.FullName())) {
				lists = append(lists, field.JSONName()+"."+list)
			}
		}
	}
	return lists
}
