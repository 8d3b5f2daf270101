package main

import (
	"regexp"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// commentOf is the comment of a declaration as Markdown: lines that the proto file only wraps are one paragraph.
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
		case line[0] == ' ' || line[0] == '-':
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

// fieldName matches what may be a field's name as proto files have it.
var fieldName = regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)

// fieldOf is the field of some message of d's file that has a name; nil where none has.
func fieldOf(d protoreflect.Descriptor, name string) protoreflect.FieldDescriptor {
	messages := d.ParentFile().Messages()
	for i := range messages.Len() {
		if field := messages.Get(i).Fields().ByName(protoreflect.Name(name)); field != nil {
			return field
		}
	}
	return nil
}

// withoutName is a comment that begins with the name of what it is about, without that: "GetPoll gets one poll." is "Gets
// one poll."
func withoutName(comment, name string) string {
	rest, found := strings.CutPrefix(comment, name+" ")
	if !found || rest == "" {
		return comment
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// inWords is a name in words: "ListPollVoters" is "List poll voters".
func inWords(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte(' ')
		}
		if i > 0 {
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}
	return out.String()
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// sentences joins paragraphs.
func sentences(paragraphs ...string) string {
	var all []string
	for _, p := range paragraphs {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}
