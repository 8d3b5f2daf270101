package main

import (
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// commentOf returns the comment of a declaration as Markdown, with the wrapped lines of a paragraph joined.
func commentOf(d protoreflect.Descriptor) string {
	text := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line = strings.TrimPrefix(line, " ")
		switch {
		case line == "":
			out.WriteString("\n\n")
		case out.Len() == 0 || strings.HasSuffix(out.String(), "\n"):
			out.WriteString(line)
		case strings.ContainsAny(line[:1], " -|"):
			out.WriteString("\n" + line)
		default:
			out.WriteString(" " + line)
		}
	}
	return fieldName.ReplaceAllStringFunc(out.String(), func(name string) string {
		if field := fieldOf(d, name); field != nil {
			return field.JSONName()
		}
		return name
	})
}

// fieldName matches identifiers that can be names of fields in proto files.
var fieldName = regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)

// fieldOf returns the first field called name in the file of d, or nil.
func fieldOf(d protoreflect.Descriptor, name string) protoreflect.FieldDescriptor {
	for message := range all(d.ParentFile().Messages()) {
		if field := message.Fields().ByName(protoreflect.Name(name)); field != nil {
			return field
		}
	}
	return nil
}

// descriptionOf returns the comment of a declaration without its name.
func descriptionOf(d protoreflect.Descriptor) string {
	return withoutName(commentOf(d), string(d.Name()))
}

// withoutName removes the name of a declaration from its comment: "GetPoll returns one poll." becomes "Returns one poll.", "Poll is a
// question." becomes "A question."
func withoutName(comment, name string) string {
	rest, found := strings.CutPrefix(comment, name+" ")
	if !found || rest == "" {
		return comment
	}
	return upperFirst(strings.TrimPrefix(rest, "is "))
}

var capital = regexp.MustCompile(`\B[A-Z]`)

// inWords splits a name into words: "ListPollVoters" becomes "List poll voters".
func inWords(name string) string {
	return capital.ReplaceAllStringFunc(name, func(letter string) string { return " " + strings.ToLower(letter) })
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// sentences joins the paragraphs that are not empty.
func sentences(paragraphs ...string) string {
	return strings.Join(slices.DeleteFunc(paragraphs, func(p string) bool { return p == "" }), "\n\n")
}
