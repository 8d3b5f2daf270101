// Command plaza-operator runs the controller of SocialNetwork objects in a Kubernetes cluster.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	if err := newRoot().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "plaza-operator:", err)
		os.Exit(1)
	}
}
