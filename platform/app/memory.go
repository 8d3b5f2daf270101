package app

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// GCPercent is how much garbage there may be, in percent of what is alive, before it is collected.
type GCPercent int

const (
	// Starting has what stays lie close together, because garbage does not stay between it for long. That costs a tenth of a
	// second of processor time, once, and saves a server at rest 8 MiB.
	Starting GCPercent = 25
	// Serving suits a server that holds little, some 10 MiB, and makes much garbage: Go's own 100 has it collect thirty times
	// a second under load. At 200 a request takes about a tenth less processor time, and a busy server some 10 MiB more memory.
	Serving GCPercent = 200
)

// TuneGC prepares the process for what comes next. It is for programs to call; the variables GOGC and GOMEMLIMIT of the Go
// runtime win over it.
func TuneGC(percent GCPercent) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(int(percent))
	}
}

// When a process rests. The workers of a region at rest make some 100 KiB of garbage a second.
const (
	restLook  = time.Second
	restQuiet = 512 << 10 // bytes allocated between two looks
	restWorth = 16 << 20  // bytes allocated since memory was last given back: less is not worth a collection
)

// ReturnMemory gives memory that is not needed back to the system whenever the process has come to rest, until ctx ends: what
// starting left, and what load left. By itself Go keeps what it once needed, for no load may come that makes it collect.
// It is for programs to call, once, beside TuneGC.
func ReturnMemory(ctx context.Context) {
	var r rest
	ticks := time.NewTicker(restLook)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if r.worth(allocated()) {
				runtime.GC()         // what pools keep is let go by the second collection
				debug.FreeOSMemory() // which is this
			}
		}
	}
}

// allocated is how many bytes the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// rest is what is known of earlier looks: how many bytes had been allocated then, and when memory was last given back.
type rest struct{ seen, returned uint64 }

// worth reports whether the process rests and has memory to give back, by how many bytes it has allocated so far.
func (r *rest) worth(allocated uint64) bool {
	made := allocated - r.seen
	r.seen = allocated
	if made > restQuiet || allocated-r.returned < restWorth {
		return false
	}
	r.returned = allocated
	return true
}
