// Program cockroach downloads a CockroachDB binary for the tests, like cockroach-go's testserver, and prints its path.
// It reuses an earlier download.
//
//	go run ./hack/cockroach -dir bin/tools [-version v25.4.1]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/cockroachdb/cockroach-go/v2/testserver"
)

func main() {
	dir := flag.String("dir", "bin/tools", "directory for the binary")
	version := flag.String("version", "", "version, such as v25.4.1; default: the latest stable version")
	flag.Parse()
	path, err := testserver.DownloadBinaryWithPlatform(&testserver.TestConfig{}, *version, false, runtime.GOOS, runtime.GOARCH, *dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "download CockroachDB:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}
