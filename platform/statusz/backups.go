package statusz

import (
	"encoding/json"
	"strings"
	"time"
)

// Backups is the outcome that plaza migrate backups writes to its termination log: the last line, as JSON. The lines before it
// contain the error, on one line, and are empty if the schedules were applied.
//
//	{"backups":"Scheduled","lastSuccess":"2026-11-02T03:04:05Z"}
type Backups struct {
	State string `json:"backups"`
	// LastSuccess is when the newest successful backup ended; absent if the database knows none.
	LastSuccess time.Time `json:"lastSuccess,omitzero"`
	// LastError is why the newest backup failed, without secrets; empty if it succeeded.
	LastError string `json:"lastError,omitempty"`
}

// The states of Backups.
const (
	BackupsScheduled   = "Scheduled"   // the database has the schedule
	BackupsRemoved     = "Removed"     // no schedule is wanted, and the database has none
	BackupsUnsupported = "Unsupported" // the database is PostgreSQL, which is backed up by its own means
	BackupsFailed      = "Failed"      // the text before the last line says why
)

// maxBackupError bounds LastError, so that the last line of a termination log is complete.
const maxBackupError = 1000

// Log returns the termination log: the error text, "" for none, and b. It has at most limit bytes, which must be more than 2000.
func (b Backups) Log(text string, limit int) string {
	b.LastError = strings.ToValidUTF8(b.LastError[:min(len(b.LastError), maxBackupError)], "")
	return terminationLog(text, b, limit)
}

// ReadBackups parses a termination log. If the log contains no Backups, it returns one that failed, and the whole log as the error.
func ReadBackups(log string) (Backups, string) {
	text, line := splitLog(log)
	var b Backups
	if json.Unmarshal([]byte(line), &b) != nil || b.State == "" {
		return Backups{State: BackupsFailed}, strings.TrimSpace(log)
	}
	return b, text
}
