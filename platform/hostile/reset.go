package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/plaza-social/plaza/platform/loopback"
)

const (
	resetConnections = 4
	resetRequests    = 20 // on each connection, together within the rate limit
	// resetAfter is the time after which a request is reset: its statement, which takes longer, is in progress then.
	resetAfter = 8 * time.Millisecond
	// resetEvery is the time between two requests on a connection, in which the server can open another connection to the database.
	resetEvery = 50 * time.Millisecond
)

// resetFlood sends requests over HTTP/2 and resets each while it waits for the database. It returns how many connections the server
// has opened to the database in the meantime.
func resetFlood(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	path, err := user.newChannel(ctx, n, 20_000)
	if err != nil {
		return 0, err
	}
	opened := func(ctx context.Context) (float64, error) {
		pause(ctx, 2*time.Second) // until the database has counted them
		return n.query(ctx, "SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
	}
	return added(ctx, opened, func() error {
		return together(ctx, resetConnections, func(i int) error {
			return resetMany(ctx, n.host(), i, user.token, path)
		})
	})
}

// resetMany sends requests on one connection and resets them.
func resetMany(ctx context.Context, host string, address int, token, path string) error {
	conn, err := loopback.Dialer(address).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the connection
	frames := http2.NewFramer(conn, nil)
	_, err = io.WriteString(conn, http2.ClientPreface)
	err = errors.Join(err, frames.WriteSettings())
	request := requestHeaders(host, token, path)
	for stream := uint32(1); err == nil && stream < 2*resetRequests; stream += 2 {
		err = frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: request, EndStream: true, EndHeaders: true})
		pause(ctx, resetAfter)
		err = errors.Join(err, frames.WriteRSTStream(stream, http2.ErrCodeCancel))
		pause(ctx, resetEvery-resetAfter)
	}
	if err != nil && strings.Contains(err.Error(), "connection") {
		return nil // the server has closed it, as it may
	}
	return err
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
