// Package faults breaks what the running program stands on, and shows that nothing acknowledged is lost, no count drifts
// and no row strays.
package faults

import (
	"os"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

// object is a JSON object of a request.
type object = map[string]any
