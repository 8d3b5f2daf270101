package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/page"
)

// differenceError says where the answers of two servers differ.
type differenceError string

// Error returns the message.
func (e differenceError) Error() string { return "the answers differ at " + string(e) }

// compareAnswers sends one request of the operation to both servers and compares the responses as JSON. Except for
// posts, lists of objects are unordered, because the database does not order them.
func compareAnswers(op *operation, plaza, bare *client) error {
	request := op.request(0)
	a, err := answerOf(op, plaza, request)
	if err != nil {
		return fmt.Errorf("%s: plaza: %w", op.name, err)
	}
	b, err := answerOf(op, bare, request)
	if err != nil {
		return fmt.Errorf("%s: bare: %w", op.name, err)
	}
	if where := difference(op.name, a, b); where != "" {
		return differenceError(where)
	}
	return nil
}

func answerOf(op *operation, c *client, request []byte) (map[string]any, error) {
	answer, err := c.json(request)
	if err != nil {
		return nil, err
	}
	if op.normalise != nil {
		op.normalise(answer)
	}
	return answer, nil
}

// withoutNewFields removes what differs for each new post from the response: its id, its times and the number of posts.
func withoutNewFields(answer map[string]any) {
	for _, p := range objects(answer["posts"]) {
		id, _ := p["postId"].(string)
		path, _ := p["path"].(string)
		p["path"] = strings.ReplaceAll(path, id, "id")
		for _, name := range []string{"postId", "_id", "createdAt", "updatedAt", "editedAt"} {
			delete(p, name)
		}
	}
	for _, c := range objects(answer["communities"]) {
		delete(c, "postsCount")
	}
	for _, f := range objects(answer["feeds"]) {
		delete(f, "postCount")
	}
}

// withoutSeals removes the seals from the page tokens of a list, which the servers compute differently.
func withoutSeals(answer map[string]any) {
	data, _ := answer["data"].(map[string]any)
	for _, holder := range []map[string]any{answer, data} {
		paging, _ := holder["paging"].(map[string]any)
		if token, ok := paging["next"].(string); ok && token != "" {
			paging["next"] = page.Position(token)
		}
	}
}

func objects(list any) []map[string]any {
	elements, _ := list.([]any)
	var found []map[string]any
	for _, element := range elements {
		if object, ok := element.(map[string]any); ok {
			found = append(found, object)
		}
	}
	return found
}

// difference returns the path and values of the first difference; empty if a and b are equal.
func difference(path string, a, b any) string {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return differenceOfObjects(path, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return differenceOfLists(path, x, y)
		}
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return fmt.Sprintf("%s: %s and %s", path, shortJSON(a), shortJSON(b))
}

func differenceOfObjects(path string, a, b map[string]any) string {
	for name, value := range a {
		other, ok := b[name]
		if !ok {
			return path + "." + name + ": present on one side only"
		}
		if where := difference(path+"."+name, value, other); where != "" {
			return where
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			return path + "." + name + ": present on one side only"
		}
	}
	return ""
}

func differenceOfLists(path string, a, b []any) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%s: %d elements and %d", path, len(a), len(b))
	}
	if len(objects(a)) > 0 && !strings.HasSuffix(path, ".posts") {
		a, b = sorted(a), sorted(b)
	}
	for i := range a {
		if where := difference(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); where != "" {
			return where
		}
	}
	return ""
}

func sorted(list []any) []any {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b any) int { return strings.Compare(sortKey(a), sortKey(b)) })
	return out
}

func sortKey(element any) string {
	object, _ := element.(map[string]any)
	for _, name := range []string{"_id", "userInternalId", "categoryId", "feedId", "roleId"} {
		if id, ok := object[name].(string); ok {
			return id
		}
	}
	return ""
}

func shortJSON(value any) string {
	const most = 200
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text[:min(len(text), most)])
}
