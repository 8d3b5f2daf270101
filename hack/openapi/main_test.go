package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// generate builds the document from the linked descriptors, which have no comments.
func generate(t *testing.T) map[string]any {
	t.Helper()
	hand, err := readByHand("../../platform/apidoc/byhand.yaml")
	require.NoError(t, err)
	texts := [2]string{}
	for i := range texts {
		d, err := build(servicesOf(protoregistry.GlobalFiles), protoregistry.GlobalFiles, hand)
		require.NoError(t, err)
		text, err := render(d)
		require.NoError(t, err)
		texts[i] = string(text)
	}
	require.Equal(t, texts[0], texts[1], "the output must be reproducible")
	var root map[string]any
	require.NoError(t, json.Unmarshal([]byte(texts[0]), &root))
	return root
}

// at returns the value at path. Items of lists are addressed by their name.
func at(t *testing.T, value any, path ...string) any {
	t.Helper()
	for _, name := range path {
		switch v := value.(type) {
		case map[string]any:
			require.Contains(t, v, name)
			value = v[name]
		case []any:
			value = byName(v, name)
			require.NotNil(t, value, name)
		}
	}
	return value
}

func byName(list []any, name string) any {
	for _, each := range list {
		if object, ok := each.(map[string]any); ok && object["name"] == name {
			return object
		}
	}
	return nil
}

func TestSpecialCases(t *testing.T) {
	root := generate(t)
	token := at(t, root, "paths", "/api/v4/authentication/token", "post")
	require.Equal(t, "string", at(t, token, "responses", "200", "content", "application/json", "schema", "type"), "a bare string")
	require.Equal(t, "Unauthorized", at(t, token, "responses", "401", "content", "application/json", "example"))
	require.Equal(t, []any{map[string]any{"serverKey": []any{}}}, at(t, token, "security"))

	limit := at(t, root, "paths", "/api/v3/polls/{pollId}/answers/{answerId}", "get", "parameters", "options[limit]")
	require.InDelta(t, 1, at(t, limit, "schema", "minimum"), 0)
	require.InDelta(t, 100, at(t, limit, "schema", "maximum"), 0)
	require.Equal(t, []any{"lastCreated", "firstCreated"},
		at(t, root, "paths", "/api/v3/polls/{pollId}/answers/{answerId}", "get", "parameters", "sortBy", "schema", "enum"),
		"the list has no empty value")

	require.Equal(t, true, at(t, root, "paths", "/api/v3/posts", "post", "deprecated"), "one path of an operation is deprecated")
	require.NotContains(t, at(t, root, "paths", "/api/v4/posts", "post"), "deprecated")

	post := at(t, root, "components", "schemas", "Post")
	require.Contains(t, at(t, post, "required"), "_id")
	require.Equal(t, "null", at(t, post, "properties", "editedAt", "anyOf").([]any)[1].(map[string]any)["type"], "an unset timestamp")

	moderation := at(t, root, "paths", "/api/v3/network-settings/moderation", "put", "responses")
	require.NotContains(t, moderation, "422")
	question := at(t, root, "components", "schemas", "CreatePollRequest", "properties", "question")
	require.InDelta(t, 500, at(t, question, "maxLength"), 0)
	require.Equal(t, []any{"question", "answers"}, at(t, root, "components", "schemas", "CreatePollRequest", "required"))
}

func TestWords(t *testing.T) {
	require.Equal(t, "List poll voters", inWords("ListPollVoters"))
	require.Equal(t, "Returns one poll.", withoutName("GetPoll returns one poll.", "GetPoll"))
	require.Equal(t, "A question.", withoutName("Poll is a question.", "Poll"))
	require.Equal(t, "Another comment.", withoutName("Another comment.", "GetPoll"))
	require.Equal(t, "a\n\nb", sentences("a", "", "b"))
}

func TestExamplesMatchOperations(t *testing.T) {
	hand, err := readByHand("../../platform/apidoc/byhand.yaml")
	require.NoError(t, err)
	hand.Examples["NoSuchOperation"] = map[string]any{}
	_, err = build(servicesOf(protoregistry.GlobalFiles), protoregistry.GlobalFiles, hand)
	require.ErrorContains(t, err, "NoSuchOperation")

	delete(hand.Examples, "NoSuchOperation")
	delete(hand.Examples, "CreatePoll")
	_, err = build(servicesOf(protoregistry.GlobalFiles), protoregistry.GlobalFiles, hand)
	require.ErrorContains(t, err, "CreatePoll.answers")
}

func TestAddRejectsDuplicates(t *testing.T) {
	g := newGenerator(&byHand{})
	g.add("/a/{x}", "get", 1)
	g.add("/a/{x}", "put", 1)
	require.Empty(t, g.problems)
	g.add("/a/{y}", "post", 1)
	g.add("/a/{x}", "get", 1)
	require.Len(t, g.problems, 2)
	require.ErrorContains(t, g.problems[0], "placeholder names")
	require.ErrorContains(t, g.problems[1], "twice")
	require.True(t, strings.HasPrefix(openAPIVersion, "3.1"))
}
