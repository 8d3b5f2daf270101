package main

import (
	"regexp"
	"strings"
	"unicode"

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
	messages := d.ParentFile().Messages()
	for i := range messages.Len() {
		if field := messages.Get(i).Fields().ByName(protoreflect.Name(name)); field != nil {
			return field
		}
	}
	return nil
}

// withoutName removes the name of a declaration from its comment: "GetPoll returns one poll." becomes "Returns one poll.", "Poll is a question."
// becomes "A question."
func withoutName(comment, name string) string {
	rest, found := strings.CutPrefix(comment, name+" ")
	if !found || rest == "" {
		return comment
	}
	return upperFirst(strings.TrimPrefix(rest, "is "))
}

// inWords splits a name into words: "ListPollVoters" becomes "List poll voters".
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

// sentences joins the paragraphs that are not empty.
func sentences(paragraphs ...string) string {
	var all []string
	for _, p := range paragraphs {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}
