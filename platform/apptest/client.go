package apptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// Client calls one region's API as one caller.
type Client struct {
	// Network is the called network.
	Network *Network
	// Region is the region whose address is called.
	Region region.Code
	// UserID is the caller's public id, InternalID the id that contains its home; both are empty for an administrator.
	UserID     string
	InternalID string
	// Token is the access token; empty for an anonymous caller.
	Token string

	header http.Header
}

// lastUser numbers the user ids of a process.
var lastUser atomic.Int64

// UserID returns a user id that no other test uses: name and a number.
func UserID(name string) string { return fmt.Sprint(name, "-", lastUser.Add(1)) }

// SignIn creates a session of userID in a region with an authToken, and the user if it does not exist.
func (n *Network) SignIn(t testing.TB, code region.Code, userID string) *Client {
	t.Helper()
	c := n.Anonymous(code)
	answer := c.With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions", map[string]any{
		"userId": userID, "deviceId": "apptest of " + userID, "deviceInfo": map[string]any{"kind": "node"},
		"authToken": n.AuthToken(t, userID),
	}).OK(t)
	c.Token, c.UserID = answer.String(t, "accessToken"), userID
	c.InternalID = answer.String(t, "users.0._id")
	return c
}

// NewUser signs in a user that no other test uses. The id begins with name.
func (n *Network) NewUser(t testing.TB, code region.Code, name string) *Client {
	t.Helper()
	return n.SignIn(t, code, UserID(name))
}

// Admin returns a client with an admin token.
func (n *Network) Admin(code region.Code) *Client { return n.Bearer(code, n.AdminToken) }

// Anonymous returns a client without credentials.
func (n *Network) Anonymous(code region.Code) *Client { return n.Bearer(code, "") }

// Bearer returns a client with some token.
func (n *Network) Bearer(code region.Code, token string) *Client {
	return &Client{Network: n, Region: code, Token: token, header: http.Header{}}
}

// At returns the same caller at another region's address.
func (c *Client) At(code region.Code) *Client {
	other := *c
	other.Region = code
	return &other
}

// With returns the same caller with additional headers, given as names and values in turn. An empty value removes a
// header.
func (c *Client) With(header ...string) *Client {
	other := *c
	other.header = c.header.Clone()
	for pair := range slices.Chunk(header, 2) {
		other.header.Set(pair[0], pair[1])
	}
	return &other
}

// Form is a body that is sent as application/x-www-form-urlencoded, as public clients send requests without a body.
type Form string

// Do sends a request and reads the answer. path may have a query. body is nil for none, []byte or string for a text
// that is sent unchanged, Form for a form, and any other value is marshalled; the content type is application/json
// except for Form.
func (c *Client) Do(t testing.TB, method, path string, body any) *Response {
	t.Helper()
	req := c.Request(t, method, path, body)
	resp, err := c.Network.http.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: text, request: method + " " + path}
}

// Request returns the request that Do sends, for tests that modify it.
func (c *Client) Request(t testing.TB, method, path string, body any) *http.Request {
	t.Helper()
	content, contentType := encode(t, body)
	req, err := http.NewRequestWithContext(t.Context(), method, c.Network.BaseURL(c.Region)+path, content)
	require.NoError(t, err)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for name, values := range c.header {
		if values[0] == "" {
			req.Header.Del(name)
			continue
		}
		req.Header[name] = values
	}
	return req
}

func encode(t testing.TB, body any) (io.Reader, string) {
	t.Helper()
	switch body := body.(type) {
	case nil:
		return nil, ""
	case Form:
		return strings.NewReader(string(body)), "application/x-www-form-urlencoded"
	case string:
		return strings.NewReader(body), "application/json"
	case []byte:
		return bytes.NewReader(body), "application/json"
	default:
		text, err := json.Marshal(body)
		require.NoError(t, err)
		return bytes.NewReader(text), "application/json"
	}
}

// HTTP returns the client that sends the requests.
func (n *Network) HTTP() *http.Client { return n.http }
