package statusz_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/statusz"
)

func TestModerationHash(t *testing.T) {
	t.Parallel()
	m := statusz.Moderation{IsWhitelistEnabled: true, IsReportEnabled: true, FlagLimit: 100}
	want := sha256.Sum256([]byte(`{"flagLimit":100,"isReportEnabled":true,"isWhitelistEnabled":true}`))
	require.Equal(t, hex.EncodeToString(want[:]), m.Hash())
	same := m
	same.Generation, same.AsOf, same.Error, same.Digest = 7, time.Now(), "away", "x"
	require.Equal(t, m.Hash(), same.Hash(), "only the settings are hashed")
	for name, change := range map[string]func(*statusz.Moderation){
		"whitelist": func(m *statusz.Moderation) { m.IsWhitelistEnabled = false },
		"report":    func(m *statusz.Moderation) { m.IsReportEnabled = false },
		"limit":     func(m *statusz.Moderation) { m.FlagLimit = 101 },
		"hiding":    func(m *statusz.Moderation) { m.FlagHideLimit = 1 },
	} {
		other := m
		change(&other)
		require.NotEqual(t, m.Hash(), other.Hash(), name)
	}
}

// TestWire checks the JSON names, on which operators of other versions depend.
func TestWire(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	file := statusz.KeyFile{Keys: []statusz.Key{{ID: "k1", NotAfter: at, Valid: true}}, LoadedAt: at, CheckedAt: at, Error: "e"}
	text, err := json.Marshal(statusz.Status{
		Region: "eu", NetworkID: "n", Version: "v", Revision: "r", StartedAt: at, Draining: true,
		Schema:        statusz.Schema{Current: 1, Required: 2},
		Keys:          statusz.Keys{Server: file, API: statusz.KeyFile{Keys: []statusz.Key{}, LoadedAt: at}, Signing: file},
		Moderation:    statusz.Moderation{FlagLimit: 100, Generation: 7, Digest: "d", AsOf: at},
		SecureMode:    statusz.SecureMode{Warning: "w", AsOf: at},
		Configuration: statusz.Configuration{Hash: "h"},
		Placement: statusz.Placement{
			State: statusz.NotPinned, Reason: statusz.ReasonTablesNotPinned, Engine: "cockroachdb", CheckedAt: at, Tables: 2,
			Want:      statusz.PlacementWanted{Localities: map[string]string{"eu": "europe-west1"}, Primary: "us", Survive: "zone"},
			NotPinned: []statusz.TableNotPinned{{Table: "posts", Has: "GLOBAL"}},
		},
		Control: &statusz.Control{
			Certificate: statusz.Key{ID: "c", NotAfter: at, Valid: true}, Authorities: []statusz.Key{{ID: "a"}},
			LoadedAt: at, CheckedAt: at, Error: "e",
		},
	})
	require.NoError(t, err)
	const keys = `{"keys":[{"id":"k1","notAfter":"2026-11-21T20:00:00Z","valid":true}],"loadedAt":"2026-11-21T20:00:00Z",` +
		`"checkedAt":"2026-11-21T20:00:00Z","error":"e"}`
	require.JSONEq(t, `{"region":"eu","networkId":"n","version":"v","revision":"r","startedAt":"2026-11-21T20:00:00Z","draining":true,
		"schema":{"current":1,"required":2},
		"keys":{"server":`+keys+`,"api":{"keys":[],"loadedAt":"2026-11-21T20:00:00Z"},"signing":`+keys+`},
		"moderation":{"isWhitelistEnabled":false,"isReportEnabled":false,"flagLimit":100,"generation":7,"hash":"d","asOf":"2026-11-21T20:00:00Z"},
		"secureMode":{"enabled":false,"warning":"w","asOf":"2026-11-21T20:00:00Z"},
		"configuration":{"hash":"h"},
		"placement":{"state":"NotPinned","reason":"TablesNotPinned","engine":"cockroachdb","checkedAt":"2026-11-21T20:00:00Z",
			"want":{"localities":{"eu":"europe-west1"},"primary":"us","survive":"zone"},"tables":2,"notPinned":[{"table":"posts","has":"GLOBAL"}]},
		"control":{"certificate":{"id":"c","notAfter":"2026-11-21T20:00:00Z","valid":true},"authorities":[{"id":"a","valid":false}],
			"loadedAt":"2026-11-21T20:00:00Z","checkedAt":"2026-11-21T20:00:00Z","error":"e"}}`, string(text))
}

func TestFind(t *testing.T) {
	t.Parallel()
	file := statusz.KeyFile{Keys: []statusz.Key{{ID: "a"}, {ID: "b", Valid: true}}}
	key, found := file.Find("b")
	require.True(t, found)
	require.True(t, key.Valid)
	_, found = file.Find("c")
	require.False(t, found)
}

func TestTrusts(t *testing.T) {
	t.Parallel()
	c := &statusz.Control{Authorities: []statusz.Key{{ID: "old"}, {ID: "new", Valid: true}}}
	require.True(t, c.Trusts("new"))
	require.False(t, c.Trusts("old"), "it has expired")
	require.False(t, c.Trusts("other"))
	require.False(t, (*statusz.Control)(nil).Trusts("new"))
}
