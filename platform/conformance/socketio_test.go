package conformance

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestSocketIO checks the answers that end the attempts of clients of socket.io, by version of engine.io and transport.
func TestSocketIO(t *testing.T) {
	t.Parallel()
	base := apptest.Shared(t).BaseURL(region.EU)
	const refusal = `44{"message":"Events are available by MQTT at the path /mqtt"}`
	for version, path := range map[string]string{"3": "/socket.io/?EIO=3&token=x", "4": "/socket.io/?EIO=4"} {
		ws, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(base, "http")+path+"&transport=websocket",
			nil)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		read := func() string {
			_, text, err := ws.ReadMessage()
			require.NoError(t, err)
			return string(text)
		}
		require.Regexp(t, `^0\{"sid":"\w+","upgrades":\[\],`, read())
		if version == "4" {
			require.NoError(t, ws.WriteMessage(websocket.TextMessage, []byte("40")))
			require.Equal(t, refusal, read())
		} else {
			require.Equal(t, "41", read())
		}
		require.NoError(t, ws.Close())
	}
	poll := func(method, path string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader("40"))
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode)
		return string(text)
	}
	require.Regexp(t, `^\d+:0\{"sid":"\w+",.*\}2:41$`, poll(http.MethodGet, "/socket.io/?EIO=3&transport=polling"))
	require.Regexp(t, `^0\{"sid":"\w+",.*\}$`, poll(http.MethodGet, "/socket.io/?EIO=4&transport=polling"))
	require.Equal(t, "ok", poll(http.MethodPost, "/socket.io/?EIO=4&transport=polling&sid=x"))
	require.Equal(t, refusal, poll(http.MethodGet, "/socket.io/?EIO=4&transport=polling&sid=x"))
	require.Equal(t, "2:41", poll(http.MethodGet, "/socket.io/?EIO=3&transport=polling&sid=x"))
}
