package lifecycle

import "time"

// Progress is the progress of a job that processes the rows of many tables in steps, a page at a time.
type Progress struct {
	Step     string   // the next step; empty for the first one
	Position []string // key of the last row that the step has processed; empty at its start
	Version  int64    // starts at 1 and is incremented by each change
	Attempts int64    // since the last progress
	DueAt    time.Time
}
