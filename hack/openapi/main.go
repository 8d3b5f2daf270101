// Openapi generates the API document, an OpenAPI 3.1 description of every REST path. It combines the descriptors of proto/ and their
// comments with a handwritten part for operations that are not RPCs.
//
//	openapi -descriptors set.binpb -by-hand byhand.yaml -out openapi.json
//
// Existing generators support neither bracket parameters, per-path deprecation, per-operation credentials, our error codes, nor responses in
// which every field is present.
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

	_ "github.com/plaza-social/plaza/proto/gen/plaza/v1" // registers our options
)

func main() {
	descriptors := flag.String("descriptors", "", "file with a FileDescriptorSet that includes source info")
	byHand := flag.String("by-hand", "", "YAML file with the handwritten part")
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

// servicesOf returns the services ordered by file name.
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

// render encodes d as indented JSON, for readable diffs.
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
