package apptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
)

// processTB is a testing.TB whose lifetime is that of the process, for resources shared by the tests of a package. It
// implements what Start uses; any other call panics.
type processTB struct {
	testing.TB

	ctx      context.Context
	cancel   context.CancelFunc
	cleanups []func()
	errs     []error
}

func newProcessTB() *processTB {
	ctx, cancel := context.WithCancel(context.Background())
	return &processTB{ctx: ctx, cancel: cancel}
}

func (p *processTB) Helper()                  {}
func (p *processTB) Context() context.Context { return p.ctx }
func (p *processTB) Cleanup(f func())         { p.cleanups = append(p.cleanups, f) }
func (p *processTB) Name() string             { return "shared network" }

func (p *processTB) Errorf(format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf(format, args...))
}

// FailNow exits the goroutine, like that of a test.
func (p *processTB) FailNow() { runtime.Goexit() }

func (p *processTB) TempDir() string {
	dir, err := os.MkdirTemp("", "plaza-apptest-")
	if err != nil {
		p.Errorf("creating a directory: %w", err)
		p.FailNow()
	}
	p.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			p.Errorf("removing a directory: %w", err)
		}
	})
	return dir
}

// failure returns the errors so far.
func (p *processTB) failure() error { return errors.Join(p.errs...) }

// end cancels the context and runs the cleanups in reverse order, like a test.
func (p *processTB) end() error {
	p.cancel()
	for _, cleanup := range slices.Backward(p.cleanups) {
		done := make(chan struct{})
		go func() { // a cleanup may call FailNow
			defer close(done)
			cleanup()
		}()
		<-done
	}
	return p.failure()
}
