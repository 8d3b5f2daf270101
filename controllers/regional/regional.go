// Package regional speaks with the platform's servers: it asks each what it runs, whether it accepts a server key, and
// brings the moderation settings to a region.
//
// No error of this package holds a key, a token, or anything that a server answered but its status and error code.
package regional

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Servers is what the operator asks of the platform's servers. Addresses are host and port.
type Servers interface {
	// Status asks one server what it runs, at its operations port.
	Status(ctx context.Context, ops string) (statusz.Status, error)
	// VerifyServerKey asks one server, at its operations port, whether it accepts a server key now. The error is
	// ErrKeyRefused where it does not, and also where it takes the key for another one than id.
	VerifyServerKey(ctx context.Context, ops, id string, key keyring.Secret) error
	// PushModeration brings settings to the servers of a region, at the address of its API, in the name of an administrator.
	PushModeration(ctx context.Context, api string, token keyring.Secret, settings Moderation) error
}

// Moderation is what is pushed.
type Moderation struct {
	WhitelistEnabled bool
	ReportEnabled    bool
	FlagLimit        int32
	// Generation is the generation of the spec that the settings are of.
	Generation int64
}

// Hash is what a server that runs these settings reports.
func (m Moderation) Hash() string {
	return statusz.Moderation{
		IsWhitelistEnabled: m.WhitelistEnabled, IsReportEnabled: m.ReportEnabled, FlagLimit: int(m.FlagLimit),
	}.Hash()
}

// maxGeneration is the largest generation that servers store.
const maxGeneration = 1<<31 - 1

// ReportedGeneration is the generation that a server reports for these settings.
func (m Moderation) ReportedGeneration() int { return int(min(m.Generation, maxGeneration)) }

// ErrKeyRefused says that a server does not accept a server key.
var ErrKeyRefused = errors.New("the server does not accept the key")

// AnswerError is an answer of a server that is not the one that was asked for.
type AnswerError struct {
	// Status is the HTTP status; Code is that of the error body, 0 where there was none.
	Status int
	Code   int
	// Reason says what was wrong with an answer of status 200.
	Reason string
}

func (e *AnswerError) Error() string {
	switch {
	case e.Reason != "":
		return "the server answered something else: " + e.Reason
	case e.Code != 0:
		return fmt.Sprintf("the server answered %d, code %d", e.Status, e.Code)
	default:
		return fmt.Sprintf("the server answered %d", e.Status)
	}
}

// Refused is true where the server understood and said no: asking again changes nothing.
func (e *AnswerError) Refused() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

// UnreachableError says that no answer came.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return "the server does not answer: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

const (
	// timeout is for a whole call; a context may be shorter.
	timeout = 10 * time.Second
	// maxAnswer is more than any answer has.
	maxAnswer = 1 << 20
)

// HTTP is Servers over HTTP.
type HTTP struct{ client *http.Client }

// NewHTTP makes the client.
func NewHTTP() *HTTP {
	return &HTTP{client: &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy:       nil, // pods are reached directly, whatever the environment says
			DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
			// Each question is a connection of its own: thousands of idle ones would cost more, and an old connection tells
			// nothing of whether a new one is possible.
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 64 << 10,
			ResponseHeaderTimeout:  timeout,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var _ Servers = (*HTTP)(nil)

// Status asks one server what it runs.
func (h *HTTP) Status(ctx context.Context, ops string) (statusz.Status, error) {
	var status statusz.Status
	if err := h.call(ctx, http.MethodGet, ops, statusz.Path, keyring.Secret{}, nil, &status); err != nil {
		return statusz.Status{}, err
	}
	if status.Region == "" || status.NetworkID == "" {
		return statusz.Status{}, &AnswerError{Status: http.StatusOK, Reason: "it names no region and no network"}
	}
	return status, nil
}

// VerifyServerKey asks one server whether it accepts a server key now.
func (h *HTTP) VerifyServerKey(ctx context.Context, ops, id string, key keyring.Secret) error {
	var answer statusz.ServerKeyAnswer
	err := h.call(ctx, http.MethodPost, ops, statusz.ServerKeyPath, keyring.Secret{}, statusz.ServerKeyRequest{Key: key.Reveal()}, &answer)
	if err != nil {
		return err
	}
	if !answer.Valid || answer.ID != id {
		return ErrKeyRefused
	}
	return nil
}

// settings is the body of the platform's operation.
type settings struct {
	IsWhitelistEnabled bool  `json:"isWhitelistEnabled"`
	IsReportEnabled    bool  `json:"isReportEnabled"`
	FlagLimit          int32 `json:"flagLimit"`
	Generation         int   `json:"generation"`
}

// PushModeration brings settings to the servers of a region.
func (h *HTTP) PushModeration(ctx context.Context, api string, token keyring.Secret, m Moderation) error {
	body := settings{
		IsWhitelistEnabled: m.WhitelistEnabled, IsReportEnabled: m.ReportEnabled, FlagLimit: m.FlagLimit,
		Generation: m.ReportedGeneration(),
	}
	var answer settings
	if err := h.call(ctx, http.MethodPut, api, "/api/v3/network-settings", token, body, &answer); err != nil {
		return err
	}
	if answer != body {
		return &AnswerError{Status: http.StatusOK, Reason: "not the settings that it was given"}
	}
	return nil
}

// call sends body as JSON, where there is one, and reads the answer.
func (h *HTTP) call(ctx context.Context, method, address, path string, token keyring.Secret, body, answer any) error {
	content, err := reader(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, content)
	if err != nil {
		return fmt.Errorf("address of a server: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "plaza-operator")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token.Reveal() != "" {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return &UnreachableError{Err: err}
	}
	defer resp.Body.Close()
	return read(resp, answer)
}

func reader(body any) (io.Reader, error) {
	if body == nil {
		return http.NoBody, nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("body of %T: %w", body, err)
	}
	return strings.NewReader(string(text)), nil
}

func read(resp *http.Response, answer any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return &UnreachableError{Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		var told struct {
			Code int `json:"code"`
		}
		_ = json.Unmarshal(text, &told) // no error body, no code
		return &AnswerError{Status: resp.StatusCode, Code: told.Code}
	}
	if len(text) > maxAnswer {
		return &AnswerError{Status: resp.StatusCode, Reason: "more than an answer has"}
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return &AnswerError{Status: resp.StatusCode, Reason: "not the JSON of an answer"} // the decoder's error quotes it
	}
	return nil
}
