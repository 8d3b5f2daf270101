package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

// databaseError is a failure of the database. Its text is on one line and without the passwords of the configuration.
// The program exits with exitTransient if a retry may fix it.
type databaseError struct {
	text  string
	cause error
}

func (e *databaseError) Error() string { return e.text }
func (e *databaseError) Unwrap() error { return e.cause }

func databaseFailure(err error, cfg config.Config) error {
	return &databaseError{text: scrub(oneLine(err), cfg), cause: err}
}

// isTransient reports whether err is a failure of the database that a retry may fix.
func isTransient(err error) bool {
	failure, ok := errors.AsType[*databaseError](err)
	return ok && db.Transient(failure.cause)
}

// scrub removes the passwords of the database URLs from text. Errors of drivers and servers may contain them.
func scrub(text string, cfg config.Config) string {
	for _, u := range []dburl.URL{cfg.DatabaseOwnerURL, cfg.DatabaseURL, cfg.DatabaseURLUS, cfg.DatabaseURLEU, cfg.DatabaseURLSG} {
		text = u.Redact(text)
	}
	return text
}

// migrateProgress reports the progress of a migration in lines of text or JSON.
type migrateProgress struct {
	out     io.Writer
	json    bool
	current int64 // schema version at the end; 0 until it is known
}

// progressLine is a line of plaza migrate up --json.
type progressLine struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`          // step, running, waiting, done or failed
	Done      int       `json:"done,omitempty"` // the step, also if it is still running
	Total     int       `json:"total,omitempty"`
	Name      string    `json:"name,omitempty"`
	Seconds   int64     `json:"seconds,omitempty"` // since the start
	Current   int64     `json:"current,omitempty"`
	Target    int64     `json:"target,omitempty"`
	Error     string    `json:"error,omitempty"`
	Transient *bool     `json:"transient,omitempty"` // of a failure
}

func (p *migrateProgress) line(l progressLine) error {
	l.Time = time.Now().UTC().Truncate(time.Millisecond)
	return json.NewEncoder(p.out).Encode(l)
}

// step reports a step that is done or takes long, or that the migration waits.
func (p *migrateProgress) step(at db.Progress) {
	if p.json {
		_ = p.line(progressLine{Event: string(at.State), Done: at.Step, Total: at.Total, Name: at.Name, Seconds: int64(at.Elapsed.Seconds())})
		return
	}
	elapsed := at.Elapsed.Truncate(time.Second)
	switch at.State {
	case db.StepDone:
		_, _ = fmt.Fprintf(p.out, "step %d of %d, %s: %s\n", at.Step, at.Total, elapsed, at.Name)
	case db.StepRunning:
		_, _ = fmt.Fprintf(p.out, "step %d of %d, %s: %s is still running\n", at.Step, at.Total, elapsed, at.Name)
	case db.StepWaiting:
		_, _ = fmt.Fprintf(p.out, "step %d of %d, %s: waiting for %s\n", at.Step, at.Total, elapsed, at.Name)
	}
}

func (p *migrateProgress) done(status schemaStatus) error {
	p.current = status.Current
	if !p.json {
		return status.print(p.out, false)
	}
	return p.line(progressLine{Event: "done", Current: status.Current, Target: status.Target})
}

// finish reports a failure to machines and returns it for standard error.
func (p *migrateProgress) finish(err error, cfg config.Config, terminationLog string) error {
	text := ""
	if err != nil {
		text = scrub(oneLine(err), cfg)
	}
	if err != nil && p.json {
		transient := isTransient(err)
		_ = p.line(progressLine{Event: "failed", Error: text, Transient: &transient})
	}
	if terminationLog == "" {
		return err
	}
	schema := statusz.Migration{Current: p.current, Target: db.TargetVersion()}
	return errors.Join(err, writeTerminationLog(terminationLog, schema.Log(text, maxTerminationLog)))
}

// maxTerminationLog is the size to which Kubernetes limits the file.
const maxTerminationLog = 4096

// writeTerminationLog overwrites the file. In a container the kubelet has created it; elsewhere it may have to be
// created.
func writeTerminationLog(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // it must be readable by others
		return fmt.Errorf("termination log: %w", err)
	}
	return nil
}
