package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// attack is what hostile clients do until their context is done.
type attack struct {
	name string
	run  func(ctx context.Context, n *network) error
}

func attacks() []attack {
	return []attack{
		{"clients that do not read", neverRead},
		{"oversized metadata", oversizedMetadata},
		{"sign-up flood", signUpFlood},
		{"image flood", imageFlood},
		{"event stream flood", streamFlood},
		{"HTTP/2 reset flood", resetFlood},
	}
}

// Sizes of the attacks. Attackers share the processors with the server, so that their own work is bounded.
const (
	attackers       = 10
	unreadClients   = 100
	requestInterval = 20 * time.Millisecond // between two requests of an attacker: 250 per 5 s, more than the rate limit
	signUpInterval  = 40 * time.Millisecond
	imageSide       = 7000 // 49 million pixels
	streams         = 1000
	resetInterval   = 50 * time.Millisecond // between two bursts of requests that an attacker resets at once
	resetBurst      = 10
)

// together runs f concurrently for each number below count, and returns their errors. The end of ctx is none.
func together(ctx context.Context, count int, f func(i int) error) error {
	var g sync.WaitGroup
	errs := make([]error, count)
	for i := range count {
		g.Go(func() {
			if err := f(i); ctx.Err() == nil {
				errs[i] = err
			}
		})
	}
	g.Wait()
	return errors.Join(errs...)
}

// newAttackers signs attackers in.
func newAttackers(ctx context.Context, n *network, count int) ([]string, error) {
	tokens := make([]string, count)
	for i := range tokens {
		var err error
		if tokens[i], err = n.signIn(ctx, fromAddress(i)); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// fromAddress returns a client at an address of its own, so that each has its own rate limit of sign-ins.
func fromAddress(i int) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}} //nolint:gosec // small
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 1}}
}

// neverRead requests large pages on many connections and reads none of them.
func neverRead(ctx context.Context, n *network) error {
	tokens, err := newAttackers(ctx, n, attackers)
	if err != nil {
		return err
	}
	community, err := newCommunity(ctx, n, tokens[0])
	if err != nil {
		return err
	}
	for range 50 {
		err := createPost(ctx, n, tokens[0], community, `{"text":"large"}`, `{"x":"`+strings.Repeat("x", 9000)+`"}`)
		if err != nil && ctx.Err() == nil {
			return err
		}
		pause(ctx, requestInterval)
	}
	return together(ctx, unreadClients, func(i int) error {
		for ctx.Err() == nil {
			if err := requestWithoutReading(ctx, n, tokens[i%len(tokens)], community); err != nil {
				return err
			}
		}
		return nil
	})
}

// requestWithoutReading sends pipelined requests and waits until the server closes the connection.
func requestWithoutReading(ctx context.Context, n *network, token, community string) error {
	address, err := url.Parse(n.api)
	if err != nil {
		return err
	}
	dialer := net.Dialer{}
	conn, err := dialer.DialContext(ctx, "tcp", address.Host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096) //nolint:forcetypeassert // a TCP dialer
	request := fmt.Sprintf("GET /api/v3/community-feeds/%s?limit=50 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", community, token)
	_, _ = io.WriteString(conn, strings.Repeat(request, 4)) // the server may close the connection
	pause(ctx, 15*time.Second)
	return nil
}

// oversizedMetadata sends posts with more metadata than allowed, and with as much as allowed.
func oversizedMetadata(ctx context.Context, n *network) error {
	tokens, err := newAttackers(ctx, n, attackers)
	if err != nil {
		return err
	}
	community, err := newCommunity(ctx, n, tokens[0])
	if err != nil {
		return err
	}
	sizes := []int{9_000, 900_000}
	return together(ctx, len(tokens), func(i int) error {
		for ctx.Err() == nil {
			metadata := `{"x":"` + strings.Repeat("x", sizes[i%len(sizes)]) + `"}`
			if err := refusedOrNil(createPost(ctx, n, tokens[i], community, `{"text":"x"}`, metadata)); err != nil {
				return err
			}
			pause(ctx, requestInterval)
		}
		return nil
	})
}

// refusedOrNil returns nil for an error of the client's own making, a status from 400 to 499.
func refusedOrNil(err error) error {
	if status, ok := errors.AsType[*statusError](err); ok && status.status < 500 {
		return nil
	}
	return err
}

// signUpFlood creates users from many addresses.
func signUpFlood(ctx context.Context, n *network) error {
	return together(ctx, attackers, func(i int) error {
		client := fromAddress(1000 + i)
		for ctx.Err() == nil {
			_, err := n.signIn(ctx, client)
			if err := refusedOrNil(err); err != nil {
				return err
			}
			pause(ctx, signUpInterval)
		}
		return nil
	})
}

// imageFlood uploads the largest images that are allowed.
func imageFlood(ctx context.Context, n *network) error {
	tokens, err := newAttackers(ctx, n, 4)
	if err != nil {
		return err
	}
	form, contentType, err := largeImage()
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 2 * time.Minute} // images wait for each other
	return together(ctx, len(tokens), func(i int) error {
		for ctx.Err() == nil {
			header := bearer(tokens[i])
			header.Set("Content-Type", contentType)
			err := refusedOrNil(n.call(ctx, client, http.MethodPost, "/api/v4/images", header, form, nil))
			if status, ok := errors.AsType[*statusError](err); err != nil && (!ok || status.status != http.StatusServiceUnavailable) {
				return err
			}
		}
		return nil
	})
}

// largeImage returns a form with an image of as many pixels as allowed.
func largeImage() (form, contentType string, err error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("files", "large.png")
	if err != nil {
		return "", "", err
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err = errors.Join(encoder.Encode(part, image.NewNRGBA(image.Rect(0, 0, imageSide, imageSide))), w.Close())
	return body.String(), w.FormDataContentType(), err
}

// streamFlood opens event streams and keeps them open, without reading half of them.
func streamFlood(ctx context.Context, n *network) error {
	tokens, err := newAttackers(ctx, n, 2*attackers)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}
	return together(ctx, streams, func(i int) error {
		for ctx.Err() == nil {
			pause(ctx, time.Duration(i)*2*time.Millisecond)
			if err := openStream(ctx, n, client, tokens[i%len(tokens)], i%2 == 0); err != nil {
				return err
			}
			pause(ctx, time.Second)
		}
		return nil
	})
}

// openStream keeps a stream open until the server ends it.
func openStream(ctx context.Context, n *network, client *http.Client, token string, read bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.api+"/realtime/community.userAdded", nil)
	if err != nil {
		return err
	}
	request.Header = bearer(token)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= 500 {
		return &statusError{response.StatusCode, ""}
	}
	if !read && response.StatusCode == http.StatusOK {
		<-ctx.Done()
		return nil
	}
	_, _ = io.Copy(io.Discard, response.Body) // ends with the stream
	return nil
}
