package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestOperations checks that the platform answers every operation, for the data of the benchmark.
func TestOperations(t *testing.T) {
	network := apptest.Start(t)
	require.Equal(t, networkID, network.NetworkID)
	data := seedFor(t, network)
	data.apiKey = network.APIKey
	c := dialTest(t, network.Region(home).APIAddr())
	for _, op := range operations(data) {
		t.Run(op.name, func(t *testing.T) {
			_, err := c.json(op.request(0))
			require.NoError(t, err)
		})
	}
}

func seedFor(t *testing.T, network *apptest.Network) *data {
	t.Helper()
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": network.DatabaseURL}})
	require.NoError(t, err)
	defer st.Close()
	ring, err := auth.OpenKeyring(network.Keys.Signing)
	require.NoError(t, err)
	made, err := seed(t.Context(), st, auth.NewIssuer(networkID, ring), amounts{
		users: 8, authors: 4, feedPosts: 25, feedComments: 4, flagPosts: 2, flagComments: 2, circles: 1, reactions: 3, channels: 2,
	})
	require.NoError(t, err)
	return made
}

func dialTest(t *testing.T, address string) *client {
	t.Helper()
	c, err := dial(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(c.close)
	return c
}

func TestHTTPRequest(t *testing.T) {
	require.Equal(t, "GET /a HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer t\r\n\r\n", string(httpRequest("GET", "/a", "t", "")))
	require.True(t, strings.HasSuffix(string(httpRequest("POST", "/a", "t", "{}")), "Content-Length: 2\r\n\r\n{}"))
}
