// Openapi writes the API document: OpenAPI 3.1 of every REST path, from the descriptors of proto/ with their comments, and
// from what is written by hand about the operations that are no RPC.
//
//	openapi -descriptors set.binpb -by-hand byhand.yaml -out openapi.json
//
// Why not a generator of others: the document has bracket parameters, one entry a path with deprecations of their own, keys
// per operation, the interface's errors, and answers whose fields are all there; none that we know says any of these.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "github.com/plaza-social/plaza/proto/gen/plaza/v1" // the options of ours
)

func main() {
	descriptors := flag.String("descriptors", "", "file of a FileDescriptorSet with source info")
	byHand := flag.String("by-hand", "", "YAML of what no descriptor says")
	out := flag.String("out", "", "file to write")
	flag.Parse()
	if err := run(*descriptors, *byHand, *out); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run(descriptors, byHand, out string) error {
	files, err := readDescriptors(descriptors)
	if err != nil {
		return err
	}
	hand, err := readByHand(byHand)
	if err != nil {
		return err
	}
	built, err := build(servicesOf(files), files, hand)
	if err != nil {
		return err
	}
	text, err := render(built)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}

func readDescriptors(path string) (*protoregistry.Files, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return protodesc.NewFiles(&set)
}

// servicesOf are the services of the interface, in the order of their files' names.
func servicesOf(files *protoregistry.Files) []protoreflect.ServiceDescriptor {
	byPath := map[string]protoreflect.FileDescriptor{}
	files.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		byPath[file.Path()] = file
		return true
	})
	var services []protoreflect.ServiceDescriptor
	for _, path := range sortedKeys(byPath) {
		all := byPath[path].Services()
		for i := range all.Len() {
			services = append(services, all.Get(i))
		}
	}
	return services
}

// render writes JSON that a person can read in a diff.
func render(d *document) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(d); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
