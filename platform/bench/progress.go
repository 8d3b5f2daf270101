package main

import (
	"fmt"
	"io"
	"time"
)

// progress reports the progress to the user.
type progress struct {
	out   io.Writer
	began time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, began: time.Now()} }

func (p *progress) sayf(format string, args ...any) {
	fmt.Fprintf(p.out, "%5.1f s  %s\n", time.Since(p.began).Seconds(), fmt.Sprintf(format, args...))
}
