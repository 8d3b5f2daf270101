package app

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The targets of the garbage collector as for GOGC: the growth of the heap, in percent, that triggers a collection.
const (
	// idleGC keeps long-lived allocations dense during startup, and an idle server small: it saves it 20 MiB. An idle
	// server allocates so little that it still collects less than once in ten seconds.
	idleGC = 25
	// servingGC suits a server with a live heap of about 10 MiB and much garbage: with Go's default of 100 it collects
	// thirty times per second under load. 400 saves about a sixth of the CPU time per request and costs a busy server
	// 30 MiB.
	servingGC = 400
)

// tuneGC sets the target of the garbage collector. The environment variable GOGC takes precedence.
func tuneGC(busy bool) {
	percent := idleGC
	if busy {
		percent = servingGC
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// When a process counts as idle, and when as busy. The workers of an idle region allocate about 100 KiB per second.
const (
	idleInterval   = time.Second
	idleBytes      = 512 << 10 // maximum number of bytes allocated between two samples of an idle process
	busyBytes      = 8 << 20   // minimum number for which the collector works for a busy server
	minReturnBytes = 16 << 20  // minimum number of bytes allocated since memory was last returned
	quietSamples   = 10        // samples without load in succession after which the collector works for an idle server
)

// ManageMemory tunes the garbage collector to the load of the process until ctx ends. Whenever the process becomes idle,
// after startup and after load, it also returns unused memory to the operating system: Go itself keeps that memory,
// because an idle process does not trigger collections. Startup is not load, however long it takes: what it leaves between
// its long-lived allocations could not be returned. Programs call it, not libraries, and once.
func ManageMemory(ctx context.Context) {
	tuneGC(false)
	var d idleDetector
	ticks := time.NewTicker(idleInterval)
	defer ticks.Stop()
	for busy, quiet := false, quietSamples; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		load, shouldReturn := d.observe(allocated())
		quiet++
		if load {
			quiet = 0
		}
		if busy != (quiet < quietSamples) {
			busy = !busy
			tuneGC(busy)
		}
		if shouldReturn {
			runtime.GC()         // pools are cleared by the second collection,
			debug.FreeOSMemory() // which FreeOSMemory runs
		}
	}
}

// allocated returns the number of bytes that the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// idleDetector holds the number of bytes allocated at the last sample and when memory was last returned.
type idleDetector struct{ seen, returned uint64 }

// observe reports whether the process serves much load, and whether it is idle and has memory to return, given the number of
// bytes allocated so far. Until the process has been idle once, it is starting.
func (d *idleDetector) observe(allocated uint64) (load, shouldReturn bool) {
	since := allocated - d.seen
	d.seen = allocated
	shouldReturn = since <= idleBytes && allocated-d.returned >= minReturnBytes
	load = since >= busyBytes && d.returned > 0
	if shouldReturn {
		d.returned = allocated
	}
	return load, shouldReturn
}
