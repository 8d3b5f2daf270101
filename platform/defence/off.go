//go:build hostile

package defence

import (
	"fmt"
	"net/http"
	"os"
	"runtime/metrics"
	"slices"
	"time"
)

// Variables of the environment of a program that is built with the tag hostile.
const (
	offVariable     = "HOSTILE_OFF"     // the defence that is switched off; may be empty
	measureVariable = "HOSTILE_MEASURE" // the address at which the allocated bytes are served; may be empty
)

var off = Name(os.Getenv(offVariable))

func init() {
	if off != "" && !slices.Contains(All(), off) {
		panic(fmt.Sprintf("%s: no defence has the name %q", offVariable, off))
	}
	address := os.Getenv(measureVariable)
	if address == "" {
		return
	}
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(serveAllocated), ReadHeaderTimeout: time.Second}
	go func() { panic(fmt.Sprintf("%s: %v", measureVariable, server.ListenAndServe())) }()
}

// Off reports whether a defence is switched off.
func Off(n Name) bool { return n == off }

// serveAllocated serves the bytes that the program has allocated since it started.
func serveAllocated(w http.ResponseWriter, _ *http.Request) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	_, _ = fmt.Fprint(w, sample[0].Value.Uint64())
}
