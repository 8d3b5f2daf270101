package push

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/plaza-social/plaza/platform/span"
)

const (
	// maxAnswer is how much of an answer is read.
	maxAnswer = 16 << 10
	// maxConnections is the number of connections to a host. One HTTP/2 connection carries many requests.
	maxConnections = 8
)

// newClient returns a client that follows no redirects. The time limit of a request is that of the dialer.
func newClient(dialer *net.Dialer) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxConnsPerHost: maxConnections, MaxIdleConns: 64,
			IdleConnTimeout: 5 * time.Minute, TLSHandshakeTimeout: dialer.Timeout, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       dialer.Timeout,
	}
}

// tracedClient is a client for libraries that tells the receivers of requests to which trace they belong.
type tracedClient struct{ *http.Client }

// Do sends a request.
func (c tracedClient) Do(request *http.Request) (*http.Response, error) {
	return send(c.Client, request)
}

func send(client *http.Client, request *http.Request) (*http.Response, error) {
	span.Propagate(request.Context(), request.Header)
	return client.Do(request) //nolint:gosec // the addresses are configured, and those of Web Push are checked by the dialer
}

// answer is what a provider answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request. A provider that does not answer may accept the message later.
func do(client *http.Client, request *http.Request) (answer, error) {
	response, err := send(client, request)
	if err != nil {
		return answer{}, unanswered(err)
	}
	defer response.Body.Close()
	return readAnswer(response)
}

func readAnswer(response *http.Response) (answer, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return answer{}, unanswered(err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: body}, nil
}

// unanswered returns the failure of a request without an answer. The error of the client contains the address of the request, which
// for some providers contains the token.
func unanswered(err error) *SendError {
	reason := "the provider does not answer"
	if errors.Is(err, context.DeadlineExceeded) {
		reason = "the provider does not answer in time"
	}
	return &SendError{Outcome: Later, Reason: reason}
}

func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// later reports whether the status says that the provider may accept the message later.
func (a answer) later() bool {
	return a.status == http.StatusTooManyRequests || a.status == http.StatusRequestTimeout || a.status >= 500
}

// failure returns the failure of the outcome, with the delay that the provider asks for.
func (a answer) failure(outcome Outcome, reason string, now time.Time) *SendError {
	if reason == "" {
		reason = "status " + strconv.Itoa(a.status)
	}
	f := &SendError{Outcome: outcome, Reason: reason}
	if outcome == Later {
		f.After = retryAfter(a.header.Get("Retry-After"), now)
	}
	return f
}

// retryAfter returns the delay of a header Retry-After, in seconds or as a date; 0 if there is none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
