package erasure

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// anonymize removes a user from the JSON of columns: from mentions, whose lists userInternalIds, userIds and userPublicIds are
// parallel, and of which messages have only the latter two; from participants, whose publicId belongs to userId; and from the list
// mentioned of metadata, in which public clients keep the positions of mentions with public ids. Numbers remain as they are written.
func anonymize(raw []byte, u subject) []byte {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return raw // the columns hold valid JSON
	}
	u.anonymize(value)
	changed, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return changed
}

func (u subject) anonymize(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			u.anonymize(element)
		}
	case map[string]any:
		u.anonymizeObject(v)
		for _, field := range v {
			u.anonymize(field)
		}
	}
}

func (u subject) anonymizeObject(object map[string]any) {
	if object["userId"] == u.id {
		object["publicId"] = u.anonymousID()
	}
	if list, ok := object["mentioned"].([]any); ok {
		object["mentioned"] = slices.DeleteFunc(list, u.isMentioned)
	}
	i := max(u.index(object["userInternalIds"]), u.index(object["userIds"])) // the latter in messages
	if i < 0 {
		return
	}
	for _, name := range []string{"userInternalIds", "userIds", "userPublicIds"} {
		if list, ok := object[name].([]any); ok && i < len(list) {
			object[name] = slices.Delete(list, i, i+1)
		}
	}
}

// index returns the position of the user's internal id in a list, -1 if the list lacks it.
func (u subject) index(list any) int {
	ids, _ := list.([]any)
	return slices.Index(ids, any(u.id))
}

// isMentioned reports whether an element of mentioned is about the user.
func (u subject) isMentioned(element any) bool {
	mention, _ := element.(map[string]any)
	return mention["userId"] == u.id || mention["userId"] == u.publicID
}

// number returns the number of a position in the log of events, 0 at its start.
func number(position []string) int64 {
	if len(position) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(position[0], 10, 64) // written by position
	return n
}

func position(n int64) []string { return []string{strconv.FormatInt(n, 10)} }
