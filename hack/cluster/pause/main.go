// Program pause holds the namespaces of a pod until it is told to end.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Without a signal to wait for, Go's runtime takes a blocked program for a deadlock and ends it.
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
