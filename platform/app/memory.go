package app

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// GCPercent is a garbage collection target as for GOGC: the growth of the heap, in percent, that triggers a collection.
type GCPercent int

const (
	// Starting keeps long-lived allocations dense during startup. It costs a tenth of a second of CPU time once and
	// saves an idle server 8 MiB.
	Starting GCPercent = 25
	// Serving suits a server with a live heap of about 10 MiB and much garbage: with Go's default of 100 it collects
	// thirty times per second under load. 400 saves about a sixth of the CPU time per request and costs a busy server
	// 30 MiB.
	Serving GCPercent = 400
)

// TuneGC sets the garbage collection target of the process. Programs call it, not libraries. The environment variables
// GOGC and GOMEMLIMIT take precedence.
func TuneGC(percent GCPercent) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(int(percent))
	}
}

// When a process counts as idle. The workers of an idle region allocate about 100 KiB per second.
const (
	idleInterval   = time.Second
	idleBytes      = 512 << 10 // maximum number of bytes allocated between two samples
	minReturnBytes = 16 << 20  // minimum number of bytes allocated since memory was last returned
)

// ReturnMemory returns unused memory to the operating system whenever the process becomes idle, until ctx ends: after
// startup, and after load. Go itself keeps that memory, because an idle process does not trigger collections. Programs
// call it once, together with TuneGC.
func ReturnMemory(ctx context.Context) {
	var r idleDetector
	ticks := time.NewTicker(idleInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if r.shouldReturn(allocated()) {
				runtime.GC()         // pools are cleared by the second collection,
				debug.FreeOSMemory() // which FreeOSMemory runs
			}
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

// shouldReturn reports whether the process is idle and has memory to return, given the number of bytes allocated so
// far.
func (r *idleDetector) shouldReturn(allocated uint64) bool {
	made := allocated - r.seen
	r.seen = allocated
	if made > idleBytes || allocated-r.returned < minReturnBytes {
		return false
	}
	r.returned = allocated
	return true
}
