//go:build hostile

package defence

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/metrics"
	"slices"
	"time"
)

// Variables of the environment of a program that is built with the tag hostile.
const (
	offVariable     = "HOSTILE_OFF"     // the defence that is switched off; may be empty
	measureVariable = "HOSTILE_MEASURE" // the file for the address at which the allocated bytes are served; may be empty
)

var off = Name(os.Getenv(offVariable))

func init() {
	if off != "" && !slices.Contains(All(), off) {
		panic(fmt.Sprintf("%s: no defence has the name %q", offVariable, off))
	}
	if file := os.Getenv(measureVariable); file != "" {
		serve(file)
	}
}

// Off reports whether a defence is switched off.
func Off(n Name) bool { return n == off }

// serve serves the allocated bytes at a free port, and writes the address into a file.
func serve(file string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, []byte(l.Addr().String()), 0o600); err != nil {
		panic(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(serveAllocated), ReadHeaderTimeout: time.Second}
	go func() { panic(server.Serve(l)) }()
}

// serveAllocated serves the bytes that the program has allocated since it started.
func serveAllocated(w http.ResponseWriter, _ *http.Request) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	_, _ = fmt.Fprint(w, sample[0].Value.Uint64())
}
