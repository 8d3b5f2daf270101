package webhook

import (
	"testing"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
)

// TestPrehookBreaker checks that failures stop the questions to the address that failed, and not those to a new one.
func TestPrehookBreaker(t *testing.T) {
	t.Parallel()
	p := &Prehook{}
	use := func(url string) {
		t.Helper()
		require.NoError(t, p.Use(store.PrehookSettings{URL: url}))
	}
	ask := func(err error) error {
		_, err = p.breaker.Execute(func() (answer, error) { return answer{}, err })
		return err
	}
	use("https://old.example.com")
	for range breakAfter {
		require.ErrorAs(t, ask(failure{"status"}), new(failure))
	}
	require.ErrorIs(t, ask(nil), gobreaker.ErrOpenState)
	use("https://old.example.com")
	require.ErrorIs(t, ask(nil), gobreaker.ErrOpenState, "the settings are read every few seconds")
	use("https://new.example.com")
	require.NoError(t, ask(nil))
}
