//go:build alerts || ui || observe

package live_test

import (
	"os"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }
