package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/plaza-social/plaza/platform/publicnet"
	"github.com/plaza-social/plaza/platform/span"
)

const (
	// maxResponse is the number of bytes that are read of a response.
	maxResponse = 64 << 10
	maxHeader   = 32 << 10
	// maxBody is the maximum size of a delivery.
	maxBody = 1 << 20

	userAgent = "Plaza-Webhook/1"
)

// Why an attempt failed. Receivers' texts are not kept: they could contain anything.
const (
	failedStatus     = "status"     // not 2xx; redirects are not followed
	failedTimeout    = "timeout"    //
	failedAddress    = "address"    // not public
	failedName       = "name"       // the name of the host cannot be resolved
	failedTLS        = "tls"        //
	failedConnection = "connection" //
	failedGone       = "gone"       // the object does not exist any more
	failedSize       = "size"       // the delivery would exceed maxBody
	failedSecret     = "secret"     // the secret cannot sign
	failedExpired    = "expired"    // without another attempt, because the receiver failed before
	failedRead       = "read"       // the database did not answer
)

// newClient returns a client that only connects to public addresses and to those of Networks. It follows no
// redirects, because they would go to addresses that the administrator did not choose.
func (o Options) newClient(perHost int) *http.Client {
	timeout := o.Store.Limits().WebhookAttempt
	return &http.Client{
		Transport: &http.Transport{
			DialContext: publicnet.Dialer(o.Networks, o.Resolver, timeout).DialContext, ForceAttemptHTTP2: true, MaxConnsPerHost: perHost,
			MaxIdleConnsPerHost: perHost, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: timeout, MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// result is the result of an attempt.
type result struct {
	status int
	failed string // empty for a success
}

// post sends a body and returns the result with the response's first maxResponse bytes.
func post(ctx context.Context, client *http.Client, url string, header http.Header, body []byte) (result, []byte) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return result{failed: failedName}, nil
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	span.Propagate(ctx, request.Header)
	response, err := client.Do(request)
	if err != nil {
		return result{failed: reasonOf(err)}, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	switch {
	case err != nil:
		return result{status: response.StatusCode, failed: reasonOf(err)}, nil
	case response.StatusCode < 200 || response.StatusCode > 299:
		return result{status: response.StatusCode, failed: failedStatus}, nil
	}
	return result{status: response.StatusCode}, text
}

// reasonOf returns why a request failed.
func reasonOf(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, publicnet.ErrAddress):
		return failedAddress
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return failedTimeout
	case errors.As(err, &dns):
		return failedName
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &record):
		return failedTLS
	}
	return failedConnection
}
