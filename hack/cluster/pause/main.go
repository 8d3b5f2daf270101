// Program pause keeps the namespaces of a pod open until it receives a signal.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Without a registered signal, the Go runtime would report a deadlock and exit.
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
