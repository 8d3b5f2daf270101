package delivery_test

import (
	"testing"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }
