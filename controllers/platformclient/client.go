// Package platformclient is the operator's client of the platform's servers. It reads their status, asks whether they
// accept a server key, and pushes settings.
//
// Errors of this package contain no keys, tokens or response bodies, only the status and the error code of a response.
package platformclient

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Server is where and how one server is called.
type Server struct {
	// Ops and Control are the host and port of the operations port and of the control port.
	Ops, Control string
	// Name is the name that the server's certificate must have, see control.ServerName.
	Name string
	// Credentials are those of the network's operator; nil while there are none.
	Credentials *control.Credentials
}

// Servers are the requests to the platform's servers. All but Readiness are control calls, which use mutual TLS.
type Servers interface {
	// Status reads the status of one server.
	Status(ctx context.Context, server Server) (statusz.Status, error)
	// Readiness reads the results of the readiness checks of one server at its operations port.
	Readiness(ctx context.Context, ops string) (statusz.Readiness, error)
	// VerifyServerKey asks one server whether it accepts a server key, which it does not send. It returns ErrKeyRefused if the server
	// does not, or if it knows the key under another id.
	VerifyServerKey(ctx context.Context, server Server, id string, key keyring.Secret) error
	// PushModeration sets the moderation settings at one server, with an administrator's token.
	PushModeration(ctx context.Context, server Server, token keyring.Secret, settings Moderation) error
	// PushHooks sets the webhooks and the pre-hook of the operator's configuration at one server, with an administrator's token. It
	// returns those that the server refuses.
	PushHooks(ctx context.Context, server Server, token keyring.Secret, hooks Hooks) ([]Refusal, error)
	// SetLogLevel sets the level of the log of one server, or with an empty level, the one with which it started.
	SetLogLevel(ctx context.Context, server Server, level string) error
}

// errNoCredentials is returned while the network has no certificate of its operator.
var errNoCredentials = errors.New("the operator's certificate for control calls does not exist yet")

// Moderation is the moderation settings to push.
type Moderation struct {
	WhitelistEnabled bool  `json:"isWhitelistEnabled"`
	ReportEnabled    bool  `json:"isReportEnabled"`
	FlagLimit        int32 `json:"flagLimit"`
	FlagHideLimit    int32 `json:"flagHideLimit"`
	// Generation is the generation of the spec with these settings.
	Generation int64 `json:"generation"`
}

// Hash returns the hash that a server with these settings reports.
func (m Moderation) Hash() string {
	return statusz.Moderation{
		IsWhitelistEnabled: m.WhitelistEnabled, IsReportEnabled: m.ReportEnabled, FlagLimit: int(m.FlagLimit),
		FlagHideLimit: int(m.FlagHideLimit),
	}.Hash()
}

// maxGeneration is the largest generation that servers can store.
const maxGeneration = 1<<31 - 1

// ReportedGeneration returns the generation that a server with these settings reports.
func (m Moderation) ReportedGeneration() int { return int(min(m.Generation, maxGeneration)) }

// ErrKeyRefused is returned if a server does not accept a server key.
var ErrKeyRefused = errors.New("the server does not accept the key")

// ResponseError is an unexpected response of a server.
type ResponseError struct {
	// Status is the HTTP status. Code is the code of the error body, or 0 without one.
	Status int
	Code   int
	// Reason describes what is wrong with a response with status 200.
	Reason string
}

func (e *ResponseError) Error() string {
	switch {
	case e.Reason != "":
		return "unexpected response: " + e.Reason
	case e.Code != 0:
		return fmt.Sprintf("the server responded with status %d, code %d", e.Status, e.Code)
	default:
		return fmt.Sprintf("the server responded with status %d", e.Status)
	}
}

// Permanent reports whether the server rejected the request itself, so that a retry does not help.
func (e *ResponseError) Permanent() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

// UnreachableError means that no response was received.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return "the server is unreachable: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

const (
	// RequestTimeout is how long a status request or the verification of a key may take.
	RequestTimeout = 3 * time.Second
	// MaxConcurrentRequests is how many servers of a network are asked concurrently.
	MaxConcurrentRequests = 8

	// timeout limits a whole request, unless its context ends earlier.
	timeout = 10 * time.Second
	// maxBody is larger than any valid response.
	maxBody = 1 << 20
)

// HTTP implements Servers over HTTP.
type HTTP struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	now  func() time.Time
}

// New returns a client that connects to addresses directly.
func New() *HTTP { return NewVia((&net.Dialer{Timeout: 3 * time.Second}).DialContext) }

// NewVia returns a client that connects to addresses with dial.
func NewVia(dial func(ctx context.Context, network, address string) (net.Conn, error)) *HTTP {
	return &HTTP{dial: dial, now: time.Now}
}

// client returns a client for one request; secured is nil for one without TLS.
func (h *HTTP) client(secured *tls.Config) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy:           nil, // pods are reached directly, regardless of the environment
			DialContext:     h.dial,
			TLSClientConfig: secured,
			// Each request uses a new connection: thousands of idle connections would cost more, and an old connection
			// does not show whether a new one is possible.
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 64 << 10,
			ResponseHeaderTimeout:  timeout,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var _ Servers = (*HTTP)(nil)

// Status reads the status of one server.
func (h *HTTP) Status(ctx context.Context, server Server) (statusz.Status, error) {
	var status statusz.Status
	if err := h.call(ctx, server, http.MethodGet, statusz.Path, keyring.Secret{}, nil, &status); err != nil {
		return statusz.Status{}, err
	}
	if status.Region == "" || status.NetworkID == "" {
		return statusz.Status{}, &ResponseError{Status: http.StatusOK, Reason: "it has no region or no network id"}
	}
	return status, nil
}

// Readiness reads the results of the readiness checks of one server, which responds with 503 while it is not ready.
func (h *HTTP) Readiness(ctx context.Context, ops string) (statusz.Readiness, error) {
	resp, err := h.send(ctx, nil, http.MethodGet, "http://"+ops+statusz.ReadyPath, keyring.Secret{}, nil)
	if err != nil {
		return statusz.Readiness{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusServiceUnavailable {
		resp.StatusCode = http.StatusOK
	}
	var readiness statusz.Readiness
	err = decode(resp, &readiness)
	return readiness, err
}

// VerifyServerKey asks one server whether it accepts a server key.
func (h *HTTP) VerifyServerKey(ctx context.Context, server Server, id string, key keyring.Secret) error {
	nonce := rand.Text() + rand.Text()
	var response statusz.ServerKeyAnswer
	err := h.call(ctx, server, http.MethodPost, statusz.ServerKeyPath, keyring.Secret{}, statusz.ServerKeyRequest{ID: id, Nonce: nonce},
		&response)
	if err != nil {
		return err
	}
	want := statusz.ServerKeyDigest(sha256.Sum256([]byte(key.Reveal())), id, nonce)
	if !response.Valid || response.ID != id || !hmac.Equal([]byte(response.Digest), []byte(want)) {
		return ErrKeyRefused
	}
	return nil
}

// PushModeration sets the moderation settings of the network.
func (h *HTTP) PushModeration(ctx context.Context, server Server, token keyring.Secret, m Moderation) error {
	m.Generation = int64(m.ReportedGeneration())
	var response Moderation
	if err := h.call(ctx, server, http.MethodPut, statusz.SettingsPath, token, m, &response); err != nil {
		return err
	}
	if response != m {
		return &ResponseError{Status: http.StatusOK, Reason: "it has other settings than the request"}
	}
	return nil
}

// SetLogLevel sets the level of the log of one server.
func (h *HTTP) SetLogLevel(ctx context.Context, server Server, level string) error {
	var response statusz.LogLevel
	return h.call(ctx, server, http.MethodPut, statusz.LogLevelPath, keyring.Secret{}, statusz.LogLevelRequest{Level: level}, &response)
}

// call sends a control call with body as JSON, unless it is nil, and decodes the response.
func (h *HTTP) call(ctx context.Context, server Server, method, path string, token keyring.Secret, body, response any) error {
	if server.Credentials == nil {
		return errNoCredentials
	}
	resp, err := h.send(ctx, server.Credentials.ClientConfig(server.Name, h.now), method, "https://"+server.Control+path, token, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return decode(resp, response)
}

// send sends a request; secured is nil for one without TLS.
func (h *HTTP) send(ctx context.Context, secured *tls.Config, method, url string, token keyring.Secret, body any) (*http.Response, error) {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return nil, fmt.Errorf("encoding %T: %w", body, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, &content)
	if err != nil {
		return nil, fmt.Errorf("creating the request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "plaza-operator")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token.Reveal() != "" {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	resp, err := h.client(secured).Do(req)
	if err != nil {
		return nil, &UnreachableError{Err: err}
	}
	return resp, nil
}

func decode(resp *http.Response, response any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return &UnreachableError{Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		var body struct {
			Code int `json:"code"`
		}
		_ = json.Unmarshal(text, &body) // without an error body, the code is 0
		return &ResponseError{Status: resp.StatusCode, Code: body.Code}
	}
	if len(text) > maxBody {
		return &ResponseError{Status: resp.StatusCode, Reason: "it is too large"}
	}
	if err := json.Unmarshal(text, response); err != nil {
		return &ResponseError{Status: resp.StatusCode, Reason: "it is not valid JSON"} // the decoder's error quotes the body
	}
	return nil
}
