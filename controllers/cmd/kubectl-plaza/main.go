// Command kubectl-plaza is a plugin of kubectl for SocialNetwork objects: kubectl plaza status, evacuate, rotate and others.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/plaza-social/plaza/controllers/plugin"
)

func main() {
	if err := plugin.New().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
