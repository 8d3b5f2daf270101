package app

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
)

// manyConnections is a listener at which connections arrive all the time. None of them can be used.
type manyConnections struct{ net.Listener }

func (manyConnections) Accept() (net.Conn, error) { return new(net.TCPConn), nil }

// TestLimitConnections accepts as many connections as allowed. One more waits until another one is closed, as all have requests.
func TestLimitConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maximum = 2
		l, err := limitConnections(manyConnections{}, connectionLimits{total: maximum, perAddress: maximum}, nil)
		require.NoError(t, err)
		accepted := make(chan net.Conn, maximum+1)
		accept := func() {
			conn, err := l.Accept()
			if err != nil {
				t.Error(err)
			}
			l.observe(conn, http.StateActive)
			accepted <- conn
		}
		for range maximum {
			accept()
		}
		go accept()
		synctest.Wait()
		require.Len(t, accepted, maximum)
		_ = (<-accepted).Close()
		synctest.Wait()
		require.Len(t, accepted, maximum)
		require.Len(t, l.addresses, 1)
		for range maximum {
			_ = (<-accepted).Close()
		}
		require.Empty(t, l.addresses)
		require.Empty(t, l.open)
	})
}

// TestWhichConnectionMakesWay checks which connection is closed when there are too many: the oldest one without a request, of the address
// with the most connections among those that have such a one.
func TestWhichConnectionMakesWay(t *testing.T) {
	t.Parallel()
	type address struct {
		count int
		idle  []string // the oldest first
	}
	for name, test := range map[string]struct {
		addresses map[string]address
		want      []string // any of them; empty if none makes way
	}{
		"no connections":    {nil, nil},
		"all have requests": {map[string]address{"a": {3, nil}, "b": {1, nil}}, nil},
		"one address":       {map[string]address{"a": {3, []string{"a1", "a2"}}}, []string{"a1"}},
		"the address with the most": {
			map[string]address{"a": {2, []string{"a1"}}, "b": {3, []string{"b1", "b2"}}, "c": {1, []string{"c1"}}},
			[]string{"b1"},
		},
		"the most, not the most idle": {map[string]address{"a": {2, []string{"a1", "a2"}}, "b": {3, []string{"b1"}}}, []string{"b1"}},
		"the most, all with requests": {map[string]address{"a": {2, []string{"a1"}}, "b": {9, nil}, "c": {1, []string{"c1"}}}, []string{"a1"}},
		"two addresses with the most": {map[string]address{
			"a": {2, []string{"a1", "a2"}}, "b": {2, []string{"b1", "b2"}},
			"c": {1, []string{"c1"}},
		}, []string{"a1", "b1"}},
		"the address of all proxies": {map[string]address{"": {4, []string{"p1"}}, "b": {3, []string{"b1"}}}, []string{"p1"}},
	} {
		for range 20 { // the addresses have no order
			l, err := limitConnections(nil, connectionLimits{total: 1, perAddress: 1}, nil)
			require.NoError(t, err)
			names := map[*limitedConn]string{}
			for key, a := range test.addresses {
				l.addresses[key] = &addressConnections{count: a.count}
				for _, id := range a.idle {
					c := &limitedConn{address: key}
					c.idle = l.addresses[key].idle.PushBack(c)
					names[c] = id
				}
			}
			c := l.takeIdleOfAll()
			if test.want == nil {
				require.Nil(t, c, name)
				continue
			}
			require.Contains(t, test.want, names[c], name)
			require.Nil(t, c.idle, "%s: it is not taken twice", name)
			require.Equal(t, len(test.addresses[c.address].idle)-1, l.addresses[c.address].idle.Len(), name)
		}
	}
}

// TestRoomIsMadeForThoseThatWait checks that a connection without a request is closed only for one that waits.
func TestRoomIsMadeForThoseThatWait(t *testing.T) {
	t.Parallel()
	l, err := limitConnections(manyConnections{}, connectionLimits{total: 2, perAddress: 2}, nil)
	require.NoError(t, err)
	idle := func() float64 { return testutil.ToFloat64(l.ended.WithLabelValues(connectionIdle)) }
	for range 2 {
		conn, err := l.Accept()
		require.NoError(t, err)
		l.observe(conn, http.StateIdle)
	}
	require.Zero(t, idle())
	require.Len(t, l.open, 2)
	_, err = l.Accept()
	require.NoError(t, err)
	require.InDelta(t, 1, idle(), 0)
	require.Len(t, l.open, 2)
	require.Equal(t, 2, l.addresses[""].count)
	require.Equal(t, 2, l.addresses[""].idle.Len())
}
