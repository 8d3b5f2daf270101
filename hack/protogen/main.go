// Program protogen compiles the protos and generates Go code from them with the plugins that go.mod pins. It also writes their
// descriptors, with comments, from which hack/openapi makes the API document. buf, which checks the protos, generates the same
// code, but takes minutes to build.
//
//	protogen -import proto -import google -import validate -out gen -descriptors plaza.binpb plaza/v1/*.proto
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugin is a tool of go.mod that generates code.
type plugin struct {
	tool       string
	parameters string
}

var plugins = []plugin{
	{"google.golang.org/protobuf/cmd/protoc-gen-go", "paths=source_relative"},
	{"connectrpc.com/connect/cmd/protoc-gen-connect-go", "paths=source_relative,simple"},
}

func main() {
	var imports []string
	flag.Func("import", "`folder` with protos; repeatable", func(dir string) error {
		imports = append(imports, dir)
		return nil
	})
	out := flag.String("out", "", "`folder` for the generated code")
	descriptors := flag.String("descriptors", "", "`file` for the descriptors")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, imports, flag.Args(), *out, *descriptors)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, imports, names []string, out, descriptors string) error {
	slices.Sort(names)
	files, err := compile(ctx, imports, names)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		if err := p.generate(ctx, names, files, out); err != nil {
			return fmt.Errorf("%s: %w", p.tool, err)
		}
	}
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		return err
	}
	return os.WriteFile(descriptors, set, 0o644)
}

// compile returns the descriptors of the named files and of what they import, each after its imports.
func compile(ctx context.Context, imports, names []string) ([]*descriptorpb.FileDescriptorProto, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: imports}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	var files []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		files = append(files, descriptorOf(f))
	}
	for _, f := range compiled {
		add(f)
	}
	return files, nil
}

// descriptorOf returns the descriptor of a file with its comments, if it has been compiled and not only loaded.
func descriptorOf(f protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	if compiled, ok := f.(interface {
		FileDescriptorProto() *descriptorpb.FileDescriptorProto
	}); ok {
		return compiled.FileDescriptorProto()
	}
	return protodesc.ToFileDescriptorProto(f)
}

// generate runs the plugin for the named files and writes what it generates below out.
func (p plugin) generate(ctx context.Context, names []string, files []*descriptorpb.FileDescriptorProto, out string) error {
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: &p.parameters, ProtoFile: files})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", p.tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(request), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, f := range response.GetFile() {
		if err := write(filepath.Join(out, filepath.FromSlash(strings.TrimPrefix(f.GetName(), "/"))), f.GetContent()); err != nil {
			return err
		}
	}
	return nil
}

func write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
