package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/service/importer"
)

// importProgress prints the progress of an import.
type importProgress struct {
	out     io.Writer
	began   time.Time
	printed time.Time
	last    importer.Progress
}

// progressEvery is the interval between lines of progress.
const progressEvery = 5 * time.Second

// sometimes prints the progress if it did not for a while.
func (p *importProgress) sometimes(at importer.Progress) {
	p.last = at
	if now := time.Now(); now.Sub(p.printed) >= progressEvery {
		p.printed = now
		_, _ = fmt.Fprintf(p.out, "%s:%d: %s\n", at.File, at.Line, p.counts(now))
	}
}

func (p *importProgress) counts(now time.Time) string {
	rows := p.last.Imported + p.last.Present
	perSecond := float64(rows) / max(now.Sub(p.began).Seconds(), 0.001)
	return fmt.Sprintf("%d rows imported, %d existed, %d rejected, %.0f rows/s", p.last.Imported, p.last.Present, p.last.Rejected, perSecond)
}

// finished prints the result.
func (p *importProgress) finished() {
	_, _ = fmt.Fprintf(p.out, "done: %s\n", p.counts(time.Now()))
	if p.last.Rejected > 0 {
		_, _ = fmt.Fprintln(p.out, "next: correct the rejected lines and import their file")
		return
	}
	_, _ = fmt.Fprintln(p.out, "next: run the servers of all regions, which list communities for members of other regions")
}

// stopped prints how to continue an import that failed. at is how far the first of the files is.
func (p *importProgress) stopped(at importer.Progress, files []string) {
	if at.File != "" { // it was opened
		p.last = at
	}
	_, _ = fmt.Fprintf(p.out, "stopped: %s\n", p.counts(time.Now()))
	_, _ = fmt.Fprintf(p.out, "next: plaza import --from %d %s\n", at.Line+1, strings.Join(files, " "))
}
