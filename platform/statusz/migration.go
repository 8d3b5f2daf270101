package statusz

import (
	"encoding/json"
	"strings"
)

// Migration is the outcome that plaza migrate up writes to its termination log: the last line, as JSON. The lines
// before it contain the error, on one line, and are empty if the migration succeeded.
//
//	{"current":92,"target":92}
type Migration struct {
	Current int64 `json:"current,omitempty"` // schema version of the database; 0 if unknown
	Target  int64 `json:"target"`            // schema version required by the program
}

// Log returns the termination log of a migration: the error text, "" for none, and m. It has at most limit bytes.
func (m Migration) Log(text string, limit int) string { return terminationLog(text, m, limit) }

// OtherNetwork is the beginning of the error of a migration of a database that belongs to another network.
const OtherNetwork = "the database belongs to another network"

// ReadMigration parses a termination log. If the log contains no Migration, it returns the zero Migration and the whole
// log as the error.
func ReadMigration(log string) (Migration, string) {
	text, line := splitLog(log)
	var m Migration
	if json.Unmarshal([]byte(line), &m) != nil || m.Target <= 0 {
		return Migration{}, strings.TrimSpace(log)
	}
	return m, text
}

// terminationLog returns an error text, "" for none, and an outcome as JSON on the last line. It has at most limit bytes.
func terminationLog(text string, outcome any, limit int) string {
	line, err := json.Marshal(outcome)
	if err != nil {
		panic("statusz: " + err.Error()) // texts, numbers and times
	}
	if text == "" {
		return string(line)
	}
	if room := limit - len(line) - 1; len(text) > room {
		text = strings.ToValidUTF8(text[:max(room, 0)], "")
	}
	return text + "\n" + string(line)
}

// splitLog returns the text and the last line of a termination log.
func splitLog(log string) (text, line string) {
	line = strings.TrimSpace(log)
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		text, line = strings.TrimSpace(line[:i]), line[i+1:]
	}
	return text, line
}
