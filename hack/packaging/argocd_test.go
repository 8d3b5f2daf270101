package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

// healthScript returns the script of config/argocd.
func healthScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../config/argocd/argocd-cm.yaml")
	require.NoError(t, err)
	var config struct{ Data map[string]string }
	require.NoError(t, yaml.Unmarshal(text, &config))
	script := config.Data["resource.customizations.health.plaza.social_SocialNetwork"]
	require.NotEmpty(t, script)
	return script
}

// healthOf runs the script as Argo CD does, in which obj is the object.
func healthOf(t *testing.T, object string) (status, message string) {
	t.Helper()
	var content any
	require.NoError(t, yaml.Unmarshal([]byte(object), &content))
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString} {
		open(state)
	}
	state.SetGlobal("obj", luaValue(state, content))
	require.NoError(t, state.DoString(healthScript(t)))
	result, ok := state.Get(-1).(*lua.LTable)
	require.True(t, ok, "the script returns a table")
	return lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))
}

// luaValue converts JSON to Lua.
func luaValue(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		t := state.NewTable()
		for key, item := range v {
			t.RawSetString(key, luaValue(state, item))
		}
		return t
	case []any:
		t := state.NewTable()
		for _, item := range v {
			t.Append(luaValue(state, item))
		}
		return t
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	default:
		return lua.LNil
	}
}

func TestArgoCDHealth(t *testing.T) {
	const observed = "metadata: {generation: 2}\nstatus:\n  observedGeneration: 2\n  conditions:\n"
	for name, tc := range map[string]struct{ object, status, message string }{
		"new": {"metadata: {generation: 1}", "Progressing", "The operator has not seen the spec yet."},
		"no Ready": {
			observed + "  - {type: KeysReady, status: 'True', reason: KeysVerified, message: m}", "Progressing",
			"The operator has not seen the spec yet.",
		},
		"a newer spec": {
			"metadata: {generation: 3}\nstatus:\n  observedGeneration: 2\n  conditions:\n  - {type: Ready, status: 'True', reason: AllHolds, " +
				"message: m}",
			"Progressing", "The operator has not seen the spec yet.",
		},
		"ready": {
			observed + "  - {type: Ready, status: 'True', reason: AllHolds, message: Every region serves the spec.}", "Healthy",
			"AllHolds: Every region serves the spec.",
		},
		"evacuated": {observed + "  - {type: Ready, status: 'True', reason: Evacuated, message: m}", "Healthy", "Evacuated: m"},
		"progress": {
			observed +
				"  - {type: Ready, status: 'False', reason: Migrating, message: m}\n  - {type: Stalled, status: 'False', reason: Migrating, " +
				"message: m}",
			"Progressing", "Migrating: m",
		},
		"stalled": {
			observed +
				"  - {type: Stalled, status: 'True', reason: MigrationFailed, message: m}\n  - {type: Ready, status: 'False', reason: " +
				"MigrationFailed, message: m}",
			"Degraded", "MigrationFailed: m",
		},
		"paused": {
			"spec: {paused: true}\n" + observed + "  - {type: Ready, status: 'False', reason: PausedBySpec, message: m}", "Suspended",
			"PausedBySpec: m",
		},
		"deleting": {
			"metadata: {generation: 2, deletionTimestamp: '2026-11-23T15:00:00Z'}\nstatus:\n  observedGeneration: 2\n  conditions:\n  - {type: " +
				"Ready, status: 'False', reason: Deleting, message: cluster eu}",
			"Progressing", "Deleting: cluster eu",
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, message := healthOf(t, tc.object)
			require.Equal(t, tc.status, status)
			require.Equal(t, tc.message, message)
		})
	}
}
