// Openapi generates the API document, an OpenAPI 3.1 description of every REST path. It combines the descriptors of proto/ and their
// comments with a handwritten part for operations that are not RPCs.
//
//	openapi -descriptors set.binpb -by-hand byhand.yaml -out openapi.json
//
// Existing generators support neither bracket parameters, per-path deprecation, per-operation credentials, our error codes, nor responses
// in which every field is present.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"gopkg.in/yaml.v3"

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
	document, err := build(servicesOf(files), files, hand)
	if err != nil {
		return err
	}
	text, err := render(document)
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
	var services []protoreflect.ServiceDescriptor
	files.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		services = slices.AppendSeq(services, all(file.Services()))
		return true
	})
	slices.SortStableFunc(services, func(a, b protoreflect.ServiceDescriptor) int {
		return strings.Compare(a.ParentFile().Path(), b.ParentFile().Path())
	})
	return services
}

// byHand contains the parts of the document that cannot be derived from descriptors.
type byHand struct {
	Info            object            `yaml:"info"`
	Servers         []any             `yaml:"servers"`
	SecuritySchemes object            `yaml:"securitySchemes"`
	Headers         object            `yaml:"headers"`
	Tags            []any             `yaml:"tags"`
	Messages        []string          `yaml:"messages"` // messages that Paths refer to and no RPC returns
	Paths           map[string]object `yaml:"paths"`
	Schemas         object            `yaml:"schemas"`
	Summaries       map[string]string `yaml:"summaries"` // by operation, where its name does not suffice
	Examples        map[string]object `yaml:"examples"`  // request bodies by operation
}

func readByHand(path string) (*byHand, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	var hand byHand
	if err := decoder.Decode(&hand); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &hand, nil
}

// render encodes a value as indented JSON, for readable diffs.
func render(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(value)
	return buffer.Bytes(), err
}
