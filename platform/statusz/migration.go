package statusz

import (
	"encoding/json"
	"strings"
)

// Migration is what plaza migrate up leaves of the schema in its termination log: the last line of it, as JSON. What is before
// that line is the error, in one line; nothing where the migration went well.
//
//	{"current":92,"target":92}
type Migration struct {
	Current int64 `json:"current,omitempty"` // what the database has now; 0 where that is not known
	Target  int64 `json:"target"`            // what the program needs
}

// Log returns the termination log of a migration that ended with an error, of one line and at most limit bytes; "" for none.
func (m Migration) Log(text string, limit int) string {
	line, err := json.Marshal(m)
	if err != nil {
		panic("statusz: " + err.Error()) // two numbers
	}
	if text == "" {
		return string(line)
	}
	if room := limit - len(line) - 1; len(text) > room {
		text = strings.ToValidUTF8(text[:room], "")
	}
	return text + "\n" + string(line)
}

// ReadMigration takes a termination log apart. A program that says nothing of its schema gives the zero Migration, and all of
// the log as its error.
func ReadMigration(log string) (Migration, string) {
	text, line := "", strings.TrimSpace(log)
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		text, line = strings.TrimSpace(line[:i]), line[i+1:]
	}
	var m Migration
	if json.Unmarshal([]byte(line), &m) != nil || m.Target <= 0 {
		return Migration{}, strings.TrimSpace(log)
	}
	return m, text
}
