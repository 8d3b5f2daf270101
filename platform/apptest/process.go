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

// processTB is a testing.TB that lasts as long as the process, for resources that the tests of a package share. It
// implements what Start uses; other methods panic.
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

func (p *processTB) Failed() bool { return len(p.errs) > 0 }

// FailNow ends the goroutine, as that of a test does.
func (p *processTB) FailNow() { runtime.Goexit() }

func (p *processTB) TempDir() string {
	dir, err := os.MkdirTemp("", "plaza-apptest-")
	if err != nil {
		p.Errorf("making a folder: %w", err)
		p.FailNow()
	}
	p.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			p.Errorf("removing a folder: %w", err)
		}
	})
	return dir
}

// failure returns the errors so far.
func (p *processTB) failure() error { return errors.Join(p.errs...) }

// end runs the cleanups in reverse order, as a test does, after its context has ended.
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
