package main

import (
	"bytes"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// byHand contains the parts of the document that cannot be derived from descriptors.
type byHand struct {
	Info            map[string]any            `yaml:"info"`
	Servers         []any                     `yaml:"servers"`
	SecuritySchemes map[string]any            `yaml:"securitySchemes"`
	Headers         map[string]any            `yaml:"headers"`
	Tags            []tag                     `yaml:"tags"`
	Messages        []string                  `yaml:"messages"` // messages that Paths refer to and no RPC returns
	Paths           map[string]map[string]any `yaml:"paths"`
	Schemas         map[string]any            `yaml:"schemas"`
	Summaries       map[string]string         `yaml:"summaries"` // by operation, where its name does not suffice
	Examples        map[string]map[string]any `yaml:"examples"`  // request bodies by operation
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

// messages returns the descriptors of h.Messages.
func (h *byHand) messages(files *protoregistry.Files) ([]protoreflect.MessageDescriptor, error) {
	var all []protoreflect.MessageDescriptor
	for _, name := range h.Messages {
		found, _ := files.FindDescriptorByName(protoreflect.FullName("plaza.v1." + name))
		message, ok := found.(protoreflect.MessageDescriptor)
		if !ok {
			return nil, fmt.Errorf("%s is not a message", name)
		}
		all = append(all, message)
	}
	return all, nil
}
