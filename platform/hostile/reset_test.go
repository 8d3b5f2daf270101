package hostile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/plaza-social/plaza/platform/loopback"
)

const (
	resetRounds   = 10
	resetRequests = 6 // in each round: as many wait for the database at a time, which has 8 connections for a home
)

// resetFlood sends requests over HTTP/2 and resets them while they wait for the database, of which the attack has locked a table. It
// returns how many connections the server has opened to the database in the meantime.
func resetFlood(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	path, err := user.newChannel(ctx, n, 1)
	if err != nil {
		return 0, err
	}
	opened := func(ctx context.Context) (float64, error) {
		pause(ctx, 2*time.Second) // until the database has counted them
		return n.query(ctx, "SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
	}
	return added(ctx, opened, func() error {
		for range resetRounds {
			if err := resetOnce(ctx, n, requestHeaders(n.host(), user.token, path)); err != nil {
				return err
			}
		}
		return nil
	})
}

// resetOnce sends requests on one connection, and resets them when their statements wait for a lock.
func resetOnce(ctx context.Context, n *network, request []byte) error {
	tx, err := n.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // ends the lock
	if _, err := tx.Exec(ctx, "LOCK TABLE messages IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	conn, err := loopback.Dialer(5).DialContext(ctx, "tcp", n.host())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the connection
	frames := http2.NewFramer(conn, nil)
	_, err = io.WriteString(conn, http2.ClientPreface)
	err = errors.Join(err, frames.WriteSettings())
	for i := range uint32(resetRequests) {
		err = errors.Join(err,
			frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: request, EndStream: true, EndHeaders: true}))
	}
	if err := errors.Join(err, awaitLocked(ctx, tx)); err != nil {
		return err
	}
	for i := range uint32(resetRequests) {
		err = errors.Join(err, frames.WriteRSTStream(2*i+1, http2.ErrCodeCancel))
	}
	pause(ctx, 100*time.Millisecond) // less than a canceled statement may go on
	return err
}

// awaitLocked waits until the statements of all requests wait for the lock.
func awaitLocked(ctx context.Context, tx pgx.Tx) error {
	for range 100 {
		var waiting int
		err := tx.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE relation = 'messages'::regclass AND NOT granted").Scan(&waiting)
		if err != nil || waiting >= resetRequests {
			return err
		}
		pause(ctx, 20*time.Millisecond)
	}
	return errors.New("the requests do not wait for the database")
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
