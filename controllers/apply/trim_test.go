package apply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestTrimConfigMap(t *testing.T) {
	long := strings.Repeat("x", longValue)
	slim, err := TrimConfigMap(&corev1.ConfigMap{Data: map[string]string{"long": long, "short": "y"}})
	require.NoError(t, err)
	m, ok := slim.(*corev1.ConfigMap)
	require.True(t, ok)
	require.Equal(t, "y", m.Data["short"])
	require.Less(t, len(m.Data["long"]), 100)
	require.True(t, same(m.Data["long"], long), "the digest replaces the value")
	require.False(t, same(m.Data["long"], long+"x"), "and for no other")
	require.False(t, same(m.Data["long"], nil))
	require.True(t, same(digestPrefix+"typed by hand", digestPrefix+"typed by hand"))

	again, err := TrimConfigMap(slim)
	require.NoError(t, err)
	require.Equal(t, slim, again)
	other, err := TrimConfigMap("something else")
	require.NoError(t, err)
	require.Equal(t, "something else", other)
}
