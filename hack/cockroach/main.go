// Program cockroach downloads a CockroachDB binary for the tests, the way that cockroach-go's testserver does, and prints
// its path. A binary that was downloaded before is used again.
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
	dir := flag.String("dir", "bin/tools", "folder for the binary")
	version := flag.String("version", "", "version, as in v25.4.1; the latest stable one when empty")
	flag.Parse()
	path, err := testserver.DownloadBinaryWithPlatform(&testserver.TestConfig{}, *version, false, runtime.GOOS, runtime.GOARCH, *dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "download CockroachDB:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}
